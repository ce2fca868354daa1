/*
 * parts_kernels.h - parts of kernels for parts.c: decoupled look-back, with tiles that consist of their sum only.
 */
#ifndef SL_TESTS_PRIMITIVES_KERNEL_PARTS_KERNELS_H
#define SL_TESTS_PRIMITIVES_KERNEL_PARTS_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum { TILES_MOST = 140, SCRATCH_BYTES = 8 << 10 };

/* The sum of a tile: all bits of both halves differ from tile to tile. */
SL_HD uint64_t own_sum(uint32_t tile)
{
	return (tile + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Queues the look-back of one tile. Tile all is the nearest one with an inclusive sum, the tiles after
 * it have their own sum, and the tiles before it have none. out[0] = the sum found, out[1] = the value
 * that the tile then publishes, out[2] = its state.
 */
enum sl_status look_back_once(
	enum sl_type type, uint32_t all, uint32_t tile, void *scratch, uint64_t *out);

/* Queues a read of a u64 whose halves have different states. out[0] = the state that is read. */
enum sl_status look_back_halves(void *scratch, uint64_t *out);

SL_C_END

#endif
