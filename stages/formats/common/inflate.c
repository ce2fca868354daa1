/* inflate.c - see inflate.h. */
#include "stages/formats/common/inflate.h"

#include <limits.h>

static voidpf get(voidpf ctx, uInt n, uInt bytes)
{
	void *p;

	(void)ctx;
	return sl_memory_get(SL_HOST, sl_size_mul(n, bytes), &p) == SL_OK ? p : Z_NULL;
}

static void give(voidpf ctx, voidpf p)
{
	(void)ctx;
	sl_memory_give(SL_HOST, p);
}

enum sl_status sl_inflate_begin(
	struct sl_inflate *s, enum sl_wrapper wrapper, const void *in, size_t in_bytes)
{
	int window = wrapper == SL_GZIP   ? MAX_WBITS + 16
	             : wrapper == SL_ZLIB ? MAX_WBITS
	                                  : -MAX_WBITS;

	*s = (struct sl_inflate){.in = (const unsigned char *)in, .left = in_bytes};
	s->z.zalloc = get;
	s->z.zfree = give;
	if (inflateInit2(&s->z, window) != Z_OK)
		return sl_fail(SL_HOST_MEMORY,
			"out of memory: zlib needs 40 KiB to decompress; free some memory");
	return SL_OK;
}

void sl_inflate_end(struct sl_inflate *s)
{
	inflateEnd(&s->z);
}

void sl_inflate_again(struct sl_inflate *s, const void *in, size_t in_bytes)
{
	inflateReset(&s->z);
	s->in = (const unsigned char *)in;
	s->left = in_bytes;
	s->ended = false;
}

/* zlib counts bytes in unsigned int, so larger blocks are passed in portions. */
static uInt portion(size_t bytes)
{
	return bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
}

/* One call of zlib, which consumes input or produces output. */
static enum sl_status step(struct sl_inflate *s)
{
	uInt given = portion(s->left);
	int answer;

	s->z.next_in = s->in;
	s->z.avail_in = given;
	answer = inflate(&s->z, Z_NO_FLUSH);
	s->in += given - s->z.avail_in;
	s->left -= given - s->z.avail_in;
	s->ended = answer == Z_STREAM_END;
	if (s->ended && s->members && s->left > 0) {
		s->ended = false;
		answer = inflateReset(&s->z);
	}
	if (answer == Z_OK || (s->ended && s->left == 0))
		return SL_OK;
	if (s->ended)
		return sl_fail(SL_BAD_INPUT,
			"%zu bytes follow the end of the compressed data: the file is damaged, or "
			"another program appended to it; make it again",
			s->left);
	return sl_fail(answer == Z_MEM_ERROR ? SL_HOST_MEMORY : SL_BAD_INPUT,
		"the compressed data cannot be inflated (%s): the file is damaged or cut short; "
		"make it again",
		s->z.msg ? s->z.msg : zError(answer));
}

enum sl_status sl_inflate_next(struct sl_inflate *s, void *out, size_t size, size_t *got)
{
	enum sl_status status = SL_OK;

	for (*got = 0; *got < size && !s->ended && status == SL_OK;) {
		uInt space = portion(size - *got);

		s->z.next_out = (Bytef *)out + *got;
		s->z.avail_out = space;
		status = step(s);
		*got += space - s->z.avail_out;
	}
	return status;
}

/* Decompresses the whole stream; one more call must find its end. */
static enum sl_status inflate_all(struct sl_inflate *s, void *out, size_t out_bytes)
{
	unsigned char beyond;
	size_t got, more;

	SL_TRY(sl_inflate_next(s, out, out_bytes, &got));
	SL_TRY(sl_inflate_next(s, &beyond, 1, &more));
	if (got + more != out_bytes)
		return sl_fail(SL_BAD_INPUT,
			"the compressed data expands to %s than the %zu bytes expected: the file is "
			"damaged; make it again",
			more ? "more" : "less", out_bytes);
	return SL_OK;
}

enum sl_status sl_inflate_whole(
	enum sl_wrapper wrapper, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	struct sl_inflate s;
	enum sl_status status;

	SL_TRY(sl_inflate_begin(&s, wrapper, in, in_bytes));
	status = inflate_all(&s, out, out_bytes);
	sl_inflate_end(&s);
	return status;
}
