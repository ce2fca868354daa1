/*
 * planes.h - on the host, items of a chunk into planes and back.
 *
 * First the first bytes of all items, then the second bytes, and so on, as HDF5's shuffle filter
 * wants them: in floats of like size the bytes that hold the exponent come to stand together, where
 * deflate finds them. What may be a part of a chunk, by many threads, is sl_chunk_load().
 */
#ifndef SL_PRIMITIVES_DEFLATE_PLANES_H
#define SL_PRIMITIVES_DEFLATE_PLANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* bytes is a constant at most calls, so that compilers make vectors of the loops: 3 to 6 GB/s. */
static inline void sl_to_planes_of(const uint8_t *restrict in, size_t n, uint8_t *restrict out,
	size_t plane_items, size_t bytes)
{
	for (size_t plane = 0; plane < bytes; plane++) {
		for (size_t i = 0; i < n; i++)
			out[plane * plane_items + i] = in[i * bytes + plane];
		memset(out + plane * plane_items + n, 0, plane_items - n);
	}
}

static inline void sl_from_planes_of(
	const uint8_t *restrict in, uint8_t *restrict out, size_t n, size_t bytes)
{
	for (size_t i = 0; i < n; i++)
		for (size_t plane = 0; plane < bytes; plane++)
			out[i * bytes + plane] = in[plane * n + i];
}

/* n items to planes of room items each, zeros behind theirs. in and out must not overlap. */
static inline void sl_to_planes(
	const void *in, size_t n, void *out, size_t plane_items, size_t item_bytes)
{
	if (item_bytes == 1)
		sl_to_planes_of((const uint8_t *)in, n, (uint8_t *)out, plane_items, 1);
	else if (item_bytes == 4)
		sl_to_planes_of((const uint8_t *)in, n, (uint8_t *)out, plane_items, 4);
	else if (item_bytes == 8)
		sl_to_planes_of((const uint8_t *)in, n, (uint8_t *)out, plane_items, 8);
	else
		sl_to_planes_of((const uint8_t *)in, n, (uint8_t *)out, plane_items, item_bytes);
}

/* Undoes it, of planes of n items. */
static inline void sl_from_planes(const void *in, void *out, size_t n, size_t item_bytes)
{
	if (item_bytes == 1)
		sl_from_planes_of((const uint8_t *)in, (uint8_t *)out, n, 1);
	else if (item_bytes == 4)
		sl_from_planes_of((const uint8_t *)in, (uint8_t *)out, n, 4);
	else if (item_bytes == 8)
		sl_from_planes_of((const uint8_t *)in, (uint8_t *)out, n, 8);
	else
		sl_from_planes_of((const uint8_t *)in, (uint8_t *)out, n, item_bytes);
}

#endif
