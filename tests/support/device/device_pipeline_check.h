/*
 * device_pipeline_check.h - compares batches of the current device with the host's, byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* All models with n particles: each compact with each sort of the device, and fused with each sort. */
void device_pipeline_check_backends(uint32_t n);

/* All models, both modes: sizes from 1 to largest, no survivors and all, no key and keys of 64 bits. */
void device_pipeline_check_shapes(uint32_t largest);

/*
 * All models in fused mode, with at most most particles. _tiles tests every step-th of a list of sizes
 * near multiples of a tile. _fused tests all these sizes, and every number of columns.
 */
void device_pipeline_check_tiles(uint32_t most, size_t step);
void device_pipeline_check_fused(uint32_t most);

/* All models, both modes: a key of every column, and keys with the maximum number of fields. */
void device_pipeline_check_keys(uint32_t n);

/*
 * Every model of several steps, n particles, in rounds by every schedule. _of_all tests each compact
 * backend of the device with the sort backend of the same name.
 */
void device_pipeline_check_rounds(uint32_t n);
void device_pipeline_check_rounds_of_all(uint32_t n);

/* All models, both modes: histograms of every column, also weighted, and the maximum number of them. */
void device_pipeline_check_bins(uint32_t n);

/*
 * All models, both modes: derived columns, one of them of the id, and grids of counts and of weights.
 * Slab: scores of collisions and of flights.
 */
void device_pipeline_check_counting(uint32_t n);

/*
 * Slab: scores of collisions alone, with even axes in rounds and with others as histories. The counters are in shared
 * memory if n is more than 1024 times the number of multiprocessors less 1.
 */
void device_pipeline_check_collisions(uint32_t n);

/* All models, both modes: a condition on each column, for particles of any fate. */
void device_pipeline_check_conditions(uint32_t n);

/*
 * Reuses one pipeline for repeated batches and for batches in any order, in both modes with n particles.
 * If n is larger than 8192, fused mode is also tested with 8192, which every device replays as a graph.
 */
void device_pipeline_check_reuse(uint32_t n);

/*
 * Flips single bits in each copy from the device: of the counters and of the columns. The device
 * pipeline or the digest of the column must report each as a transfer error.
 */
void device_pipeline_check_flips(uint32_t n);

#endif
