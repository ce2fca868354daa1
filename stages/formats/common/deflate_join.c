/* deflate_join.c - see common.h. */
#include "stages/formats/common/common.h"

#include <zlib.h>

/*
 * Far more than zlib takes for its state and its window of 32 KiB (zlib.h: about 7 KiB and the
 * window).
 */
enum { ZLIB_BYTES = 1 << 17, WINDOW_BITS = 15 };

/* A block with fixed codes that has only the end of the block: bits 1, 01, 0000000. */
const uint8_t sl_deflate_end[2] = {3, 0};

/* zlib's allocator: cuts from the arena. */
static voidpf allocate(voidpf arena, uInt items, uInt bytes)
{
	struct sl_arena *a = (struct sl_arena *)arena;
	void *p = sl_cut_items(a, items, bytes);

	return sl_fits(a) ? p : NULL;
}

static void ignore_free(voidpf arena, voidpf p)
{
	(void)arena, (void)p;
}

size_t sl_deflate_join_scratch(size_t expanded)
{
	return sl_size_add(sl_round_up(sl_size_add(expanded, 1), SL_ALIGN), ZLIB_BYTES);
}

/* Where the header of the last block and the end of the stream are. */
struct last_block {
	size_t byte, end;
	uint8_t mark;    /* the bit of the byte that marks the block */
	unsigned unused; /* bits of the last byte after the end */
};

/*
 * Decodes all blocks. After each of them zlib returns the number of bits of the current byte that
 * it has not used, with which the next block begins.
 */
static bool find_last(z_stream *z, const uint8_t *stream, struct last_block *l)
{
	*l = (struct last_block){.mark = 1};
	for (;;) {
		if (inflate(z, Z_BLOCK) != Z_OK || !(z->data_type & 128))
			return false;
		l->unused = (unsigned)z->data_type & 7;
		l->end = (size_t)(z->next_in - stream);
		if (z->data_type & 64)
			return true;
		l->byte = l->unused ? l->end - 1 : l->end;
		l->mark = (uint8_t)(l->unused ? 0x100 >> l->unused : 1);
	}
}

/* Removes the mark, and fills the last byte with a stored block of 0 bytes. */
static size_t change(uint8_t *stream, const struct last_block *l)
{
	static const uint8_t no_bytes[4] = {0, 0, 0xff, 0xff};
	uint8_t *to = stream + l->end;

	stream[l->byte] &= (uint8_t)~l->mark;
	if (l->unused == 0)
		return l->end;
	to[-1] &= (uint8_t)((0x100 >> l->unused) - 1);
	if (l->unused < 3) /* the header of the block has three bits, all of them 0 */
		*to++ = 0;
	memcpy(to, no_bytes, sizeof(no_bytes));
	return l->end + (size_t)(to - (stream + l->end)) + sizeof(no_bytes);
}

enum sl_status sl_deflate_join(
	struct sl_arena scratch, uint8_t *stream, size_t *bytes, size_t expanded)
{
	uint8_t *out = (uint8_t *)sl_cut(&scratch, expanded + 1);
	z_stream z = {.zalloc = allocate,
		.zfree = ignore_free,
		.opaque = &scratch,
		.next_in = stream,
		.avail_in = (uInt)*bytes,
		.next_out = out,
		.avail_out = (uInt)expanded + 1};
	struct last_block last;
	bool found = inflateInit2(&z, -WINDOW_BITS) == Z_OK;

	if (found) {
		found = find_last(&z, stream, &last) && z.total_out == expanded;
		inflateEnd(&z);
	}
	if (!found)
		return sl_fail(SL_INTERNAL,
			"internal error: a compressed stream of %zu bytes cannot be decoded; please "
			"report it",
			*bytes);
	*bytes = change(stream, &last);
	return SL_OK;
}
