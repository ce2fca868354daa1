/*
 * look_back_kernels.h - kernels for the test of decoupled look-back: each tile consists of its sum
 * only.
 */
#ifndef SL_TESTS_PRIMITIVES_KERNEL_LOOK_BACK_KERNELS_H
#define SL_TESTS_PRIMITIVES_KERNEL_LOOK_BACK_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum { TILES_MOST = 140, SCRATCH_BYTES = 8 << 10 };

/* The sum of a tile: all bits of both halves differ from tile to tile. */
SL_HD uint64_t own_sum(uint32_t tile)
{
	return (tile + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Queues a look back of one tile, when all is the nearest that knows all, those between know their
 * own, and nothing is known of those before. out[0] = the sum it got, out[1] = what the tile then
 * publishes, out[2] = as what.
 */
enum sl_status look_back_once(
	enum sl_type type, uint32_t all, uint32_t tile, void *scratch, uint64_t *out);

/* Queues tiles blocks of two warps, of which one looks back: out[tile] = the sum before it. */
enum sl_status look_back_all(enum sl_type type, uint32_t tiles, void *scratch, uint64_t *out);

/* Queues a read while the halves of a u64 are of two kinds. out[0] = as what it is known. */
enum sl_status look_back_halves(void *scratch, uint64_t *out);

SL_C_END

#endif
