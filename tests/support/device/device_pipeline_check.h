/*
 * device_pipeline_check.h - compares batches of the current device with the host's, byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H

#include <stdint.h>

/*
 * Compares the random recipes of n seeds, from first on (models/random_batches.h), with at most
 * largest particles per batch, in random modes, with random backends and packings, their batches in
 * a random order in one pipeline.
 */
void device_pipeline_check(uint64_t first, uint64_t n, uint32_t largest);

/*
 * The tile of a block grows with the number of particles. On the emulated device, which has 16
 * blocks, the largest tile has 512 particles (from 8192 particles on) if survivors are copied. If
 * survivors are computed again, it has 2048 (from 32768 particles on). Compares one batch of each
 * model, of at most this many particles.
 */
void device_pipeline_check_tiles(uint32_t largest);

/*
 * Slab: scores of collisions alone, with even axes in rounds and with others as histories. The
 * counters are in shared memory if n is more than 1024 times the number of multiprocessors less 1.
 */
void device_pipeline_check_collisions(uint32_t n);

/*
 * Each compact with each sort of the device in staged mode, and each sort as often in fused mode,
 * with the models in turn.
 */
void device_pipeline_check_backends(uint32_t n);

/*
 * Flips a bit in a copy from the device, of the counters or of a column: each batch is right, or a
 * transfer error is reported.
 */
void device_pipeline_check_flips(uint32_t n);

/*
 * Fails every call of the driver in a batch in rounds of n particles: the batch fails with
 * SL_DEVICE_FAILED, and can be computed again.
 */
void device_pipeline_check_failures(uint32_t n);

#endif
