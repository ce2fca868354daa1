/* look_ahead_kernels.h - backends that run scan/look_ahead.cuh with small tiles and few blocks. */
#ifndef SL_TESTS_PRIMITIVES_LOOK_AHEAD_KERNELS_H
#define SL_TESTS_PRIMITIVES_LOOK_AHEAD_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum { LOOK_AHEAD_SMALL = 3 };

/* For in and out equally far from a multiple of 16 bytes. */
extern const struct sl_backend look_ahead_small[LOOK_AHEAD_SMALL];

/* Bytes of a tile of each. */
extern const uint32_t look_ahead_tile_bytes[LOOK_AHEAD_SMALL];

/* The same with blocks that look over distant tiles when 32 blocks are in flight. */
extern const struct sl_backend look_ahead_deep;
extern const uint32_t look_ahead_deep_bytes;

/*
 * Queues a decoupled look-back over all distances up to 198 tiles, more than the blocks of the
 * emulated device that are in flight, and a read of a torn word. Adds the wrong results.
 */
enum sl_status look_back_try(struct sl_arena scratch, uint32_t *wrong);

SL_C_END

#endif
