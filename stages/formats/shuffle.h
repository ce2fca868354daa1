/*
 * shuffle.h - HDF5's byte shuffle of one chunk, and its inverse.
 *
 * The first bytes of all items, then the second bytes, and so on: in floats of like size the bytes
 * of exponents come to stand together, where deflate finds them. (Masui et al., A compression
 * scheme for radio data, 2015, names it as HDF5's best-known filter; the order is H5Zshuffle's.)
 */
#ifndef SL_SHUFFLE_H
#define SL_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The loops are written for a constant number of planes, so that compilers make vectors of them. */
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

/* Shuffles n items of 1, 4 or 8 bytes from in to out, which must not overlap. */
static inline void sl_shuffle(const void *in, void *out, size_t n, size_t item_bytes)
{
	if (item_bytes == 4)
		sl_shuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 4);
	else if (item_bytes == 8)
		sl_shuffle_planes((const uint8_t *)in, (uint8_t *)out, n, 8);
	else
		memcpy(out, in, n);
}

/* Undoes sl_shuffle of n items, of which only the first n_out are wanted. */
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
