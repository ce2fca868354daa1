/*
 * inflate.c - libFuzzer target: decompresses arbitrary bytes with sl_inflate_next(), in parts of
 * arbitrary sizes.
 *
 * ISA-L is written in assembly, which AddressSanitizer does not check. So the input and each part of
 * the output end where an inaccessible page begins: an access beyond the end is a crash. Each stream
 * that zlib accepts must be accepted with the same bytes. Any stream must give the same bytes when the
 * state of another one is used again.
 *
 * The first two bytes select the wrapper, whether there may be several gzip members, and the size of
 * the parts.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "stages/formats/common/inflate.h"

enum { HEAD = 2, ROOM = 1 << 16, OUT_MOST = 1 << 17 };

static uint8_t ours[OUT_MOST], expected[OUT_MOST], again[OUT_MOST];

/* The end of ROOM bytes, which an inaccessible page follows. */
static uint8_t *room_end(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = (uint8_t *)mmap(
		NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fuzz_expect(p != MAP_FAILED && mprotect(p + ROOM, page, PROT_NONE) == 0);
	return p + ROOM;
}

/* Decompresses with zlib; returns the size, or -1 if zlib refuses the stream or it exceeds OUT_MOST. */
static long inflate_by_zlib(const uint8_t *in, size_t size, enum sl_wrapper wrapper, bool members)
{
	const int window = wrapper == SL_RAW ? -15 : wrapper == SL_ZLIB ? 15 : 15 + 16;
	z_stream z = {.next_in = (z_const Bytef *)in, .avail_in = (uInt)size};
	size_t used;
	int answer;

	fuzz_expect(inflateInit2(&z, window) == Z_OK);
	z.next_out = expected;
	z.avail_out = OUT_MOST;
	answer = inflate(&z, Z_FINISH);
	while (answer == Z_STREAM_END && members && z.avail_in > 0) {
		inflateReset(&z);
		answer = inflate(&z, Z_FINISH);
	}
	used = OUT_MOST - z.avail_out;
	inflateEnd(&z);
	return answer == Z_STREAM_END && z.avail_in == 0 ? (long)used : -1;
}

/*
 * Decompresses to a buffer of OUT_MOST bytes, part by part, and sets *used to the bytes that came out;
 * returns their number, or -1 if the stream is refused or too large.
 */
static long inflate_in_parts(
	struct sl_inflate *s, uint8_t *out_end, size_t part, uint8_t *to, size_t *used)
{
	size_t got = part;
	enum sl_status status = SL_OK;

	*used = 0;
	while (status == SL_OK && got == part && *used + part <= OUT_MOST) {
		status = sl_inflate_next(s, out_end - part, part, &got);
		fuzz_expect(got <= part);
		memcpy(to + *used, out_end - part, got);
		*used += got;
	}
	fuzz_check(status);
	fuzz_expect(status != SL_USAGE &&
		    (status == SL_OK || sl_inflate_next(s, out_end - 1, 1, &got) == status));
	return status == SL_OK && got < part ? (long)*used : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *in_end, *out_end;
	const size_t bytes = size < HEAD ? 0 : size - HEAD,
		     part = size < HEAD ? 1 : 1 + data[1] * 7u;
	const enum sl_wrapper wrapper = size < HEAD ? SL_RAW : (enum sl_wrapper)(data[0] % 3);
	const bool members = size >= HEAD && wrapper == SL_GZIP && data[0] / 4 % 2;
	struct sl_inflate s;
	size_t used, used_again;
	long want, have;

	if (bytes > ROOM)
		return 0;
	if (!in_end) {
		in_end = room_end();
		out_end = room_end();
	}
	if (bytes > 0)
		memcpy(in_end - bytes, data + HEAD, bytes);
	fuzz_expect(sl_inflate_begin(&s, wrapper, in_end - bytes, bytes) == SL_OK);
	s.members = members;
	have = inflate_in_parts(&s, out_end, part, ours, &used);
	sl_inflate_again(&s, in_end - bytes, bytes);
	fuzz_expect(inflate_in_parts(&s, out_end, part, again, &used_again) == have &&
		    used_again == used && memcmp(ours, again, used) == 0);
	sl_inflate_end(&s);
	want = inflate_by_zlib(in_end - bytes, bytes, wrapper, members);
	fuzz_expect(want < 0 || want + (long)part > OUT_MOST ||
		    (have == want && memcmp(ours, expected, (size_t)want) == 0));
	return 0;
}
