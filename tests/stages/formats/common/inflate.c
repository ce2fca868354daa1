/*
 * inflate.c - a damaged stream gives the same bytes and the same answer whatever was decompressed
 * before in the same state: ISA-L by itself reads parts of its state that it has not set. Reserved
 * flags of gzip are refused.
 */
#include "stages/formats/common/inflate.h"

#include <string.h>

#include "tests/support/basic/check.h"

enum { STREAM_BYTES = 68, STREAMS = 3000, OUT_BYTES = 1 << 16, PART_BYTES = 687 };

struct result {
	enum sl_status status;
	size_t bytes;
	uint8_t out[OUT_BYTES];
};

/* Decompresses until the end, an error or a full buffer. */
static void decompress(struct sl_inflate *s, struct result *r)
{
	size_t got = PART_BYTES;

	r->status = SL_OK;
	r->bytes = 0;
	while (r->status == SL_OK && got == PART_BYTES && r->bytes + PART_BYTES <= OUT_BYTES) {
		r->status = sl_inflate_next(s, r->out + r->bytes, PART_BYTES, &got);
		r->bytes += got;
	}
}

/* A block of fixed codes with random bytes after its first one. Most are damaged. */
static void make_stream(uint64_t seed, uint8_t *to)
{
	for (size_t i = 0; i < STREAM_BYTES; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		to[i] = i == 0 ? 0x62 : (uint8_t)(seed >> 56);
	}
}

TEST(earlier_streams_change_nothing)
{
	static struct result fresh, after;
	uint8_t stream[STREAM_BYTES];
	struct sl_inflate s, used;

	make_stream(0, stream);
	assert_ok(sl_inflate_begin(&used, SL_RAW, stream, sizeof(stream)));
	decompress(&used, &after);
	for (uint64_t seed = 1; seed <= STREAMS; seed++) {
		make_stream(seed, stream);
		assert_ok(sl_inflate_begin(&s, SL_RAW, stream, sizeof(stream)));
		decompress(&s, &fresh);
		sl_inflate_end(&s);
		sl_inflate_again(&used, stream, sizeof(stream));
		decompress(&used, &after);
		assert_int_equal(after.status, fresh.status);
		assert_int_equal(after.bytes, fresh.bytes);
		assert_memory_equal(after.out, fresh.out, fresh.bytes);
	}
	sl_inflate_end(&used);
}

/* A member with a reserved flag, alone and after another member (RFC 1952, 2.3.1.2). */
TEST(reserved_flags_of_gzip_are_refused)
{
	static const uint8_t empty[] = {
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	uint8_t file[2 * sizeof(empty)], out[1];
	struct sl_inflate s;
	size_t got;

	for (unsigned flag = 0; flag < 256; flag += 32)
		for (size_t member = 0; member < 2; member++) {
			memcpy(file, empty, sizeof(empty));
			memcpy(file + sizeof(empty), empty, sizeof(empty));
			file[member * sizeof(empty) + 3] = (uint8_t)flag;
			assert_ok(sl_inflate_begin(&s, SL_GZIP, file, sizeof(file)));
			s.members = true;
			if (flag > 0)
				assert_fails(sl_inflate_next(&s, out, sizeof(out), &got),
					SL_BAD_INPUT, "wrong header");
			else
				assert_ok(sl_inflate_next(&s, out, sizeof(out), &got));
			assert_int_equal(got, 0);
			sl_inflate_end(&s);
		}
}
