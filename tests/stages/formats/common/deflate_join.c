/*
 * deflate_join.c - streams of all encoders are joined to one, which zlib and this program's own inflate expand
 * to all data.
 */
#include "stages/formats/common/deflate_join.h"

#include <string.h>
#include <zlib.h>

#include "stages/formats/common/inflate.h"
#include "tests/support/basic/check.h"

enum { PIECE = 70000, PIECES = 12, ROOM = 2 * PIECE * PIECES };

static uint8_t data[PIECE * PIECES], stream[ROOM], back[PIECE * PIECES + 1];
static _Alignas(SL_ALIGN) uint8_t memory[1 << 24];

/* Pieces of all kinds: noise, which is stored, text with few letters, one value, and a few bytes. */
static size_t fill(void)
{
	static const size_t sizes[PIECES] = {
		PIECE, 1, 2, 3, PIECE, 7, PIECE, 100, 4000, 33, 5, PIECE};
	uint32_t random = 1;
	size_t used = 0;

	for (int p = 0; p < PIECES; p++)
		for (size_t i = 0; i < sizes[p]; i++) {
			random = random * 1664525 + 1013904223;
			data[used++] = (uint8_t)(p % 3 == 0   ? random >> 24
						 : p % 3 == 1 ? 'a' + (random >> 29)
							      : 7);
		}
	return used;
}

/* Compresses n bytes to `to`, joined. Returns the size. */
static size_t join(const struct sl_backend *b, const uint8_t *from, size_t n, uint8_t *to)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = {memory, 0, sizeof(memory)}};
	size_t got = 0;
	const struct sl_deflate_job job = {.in = from,
		.in_bytes = n,
		.out = to,
		.out_size = sl_deflate_most(n, 0, 1),
		.out_bytes = &got,
		.level = 1,
		.wrapper = SL_RAW};

	assert_ok(sl_deflate(b, &x, &job));
	assert_true(got > 0);
	assert_ok(sl_deflate_join(
		(struct sl_arena){memory, 0, sl_deflate_join_scratch(n)}, to, &got, n));
	return got;
}

/* Expands the stream by zlib. */
static void expect_zlib(size_t bytes, size_t n)
{
	z_stream z = {.next_in = stream, .avail_in = (uInt)bytes};

	z.next_out = back;
	z.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, n);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	assert_memory_equal(back, data, n);
}

TEST(streams_of_all_encoders_are_joined)
{
	static const char *const names[] = {
		"zlib", "libdeflate", "isal", "cpu", "cpu_fast", "store"};
	static const size_t steps[] = {1, 13, 1000, 65536, 100000};
	size_t n = fill();

	for (int b = 0; b < 6; b++)
		for (int s = 0; s < 5; s++) {
			size_t all = steps[s] < 100 ? 5000 : n, used = 0;
			const struct sl_backend *backend;

			assert_ok(sl_find(SL_DEFLATE, names[b], &backend));
			for (size_t from = 0, m; from < all; from += m) {
				m = all - from < steps[s] ? all - from : steps[s];
				used += join(backend, data + from, m, stream + used);
				assert_true(used < sizeof(stream) - SL_DEFLATE_JOIN_BYTES);
			}
			memcpy(stream + used, sl_deflate_end, sizeof(sl_deflate_end));
			used += sizeof(sl_deflate_end);
			expect_zlib(used, all);
			memset(back, 0, sizeof(back));
			assert_ok(sl_inflate_whole(SL_RAW, stream, used, back, all));
			assert_memory_equal(back, data, all);
		}
}

TEST(other_bytes_are_refused)
{
	uint8_t wrong[64] = {0xff, 0xff, 0xff};
	size_t bytes = 3;

	assert_int_equal(sl_deflate_join((struct sl_arena){memory, 0, sl_deflate_join_scratch(100)},
				 wrong, &bytes, 100),
		SL_INTERNAL);
	/* a stream that expands to another size */
	bytes = join(&sl_deflate_zlib, data, 50, stream);
	assert_int_equal(sl_deflate_join((struct sl_arena){memory, 0, sl_deflate_join_scratch(49)},
				 stream, &bytes, 49),
		SL_INTERNAL);
}
