/*
 * planes.c - tests byte planes, the layout of HDF5's shuffle filter, and the inverse, on values
 * worked out by hand.
 */
#include "primitives/deflate/planes.h"
#include "tests/support/basic/check.h"

/* Each plane is padded with zeros; bytes after the planes are not changed. */
TEST(planes_are_padded_with_zeros)
{
	static const uint8_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8},
			     expected[13] = {1, 5, 0, 2, 6, 0, 3, 7, 0, 4, 8, 0, 0xa5};
	uint8_t out[13];

	memset(out, 0xa5, sizeof(out));
	sl_to_planes(in, 2, out, 3, 4);
	assert_memory_equal(out, expected, sizeof(out));
	sl_to_planes(in, 0, out, 3, 4);
	for (int i = 0; i < 12; i++)
		assert_int_equal(out[i], 0);
}

/* Byte k of item i of items of every size stands at k * n + i. */
TEST(join_inverts_split)
{
	enum { N = 37, MOST = 9 };
	uint8_t in[N * MOST], out[N * MOST], back[N * MOST];

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 167);
	for (size_t bytes = 1; bytes <= MOST; bytes++) {
		sl_to_planes(in, N, out, N, bytes);
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < bytes; k++)
				assert_int_equal(out[k * N + i], in[i * bytes + k]);
		sl_from_planes(out, back, N, bytes);
		assert_memory_equal(back, in, N * bytes);
	}
}
