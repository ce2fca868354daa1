/*
 * device_pipeline_check.h - compares batches of the current device with the host's, byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* Both models with n particles: every compact with every sort of the device, and fused with every sort. */
void device_pipeline_check_backends(uint32_t n);

/* Both models and modes: sizes from 1 to largest, no survivors and all, no key and wide keys. */
void device_pipeline_check_shapes(uint32_t largest);

/*
 * Both models, fused, up to most particles. _tiles: every step-th size near a tile; _fused: these, and
 * every size of a record.
 */
void device_pipeline_check_tiles(uint32_t most, size_t step);
void device_pipeline_check_fused(uint32_t most);

/* Both models and modes: a key of every column, and keys with the maximum number of fields. */
void device_pipeline_check_keys(uint32_t n);

/*
 * Every model of several steps, n particles, in rounds by every schedule. _of_all: with all compact
 * and sort backends of the device in turn.
 */
void device_pipeline_check_rounds(uint32_t n);
void device_pipeline_check_rounds_of_all(uint32_t n);

/* Both models and modes: histograms of every column, also weighted, and the maximum number of them. */
void device_pipeline_check_bins(uint32_t n);

/* All models and modes: a condition on each column, for particles of any fate. */
void device_pipeline_check_conditions(uint32_t n);

/*
 * Reuse of a pipeline: repeated batches, batches in any order, and in the fused mode with n particles
 * and with so few that they are replayed as a graph.
 */
void device_pipeline_check_reuse(uint32_t n);

/*
 * Flips a bit in each copy from the device, of the counts and of the columns, in every word. The
 * batch must be refused.
 */
void device_pipeline_check_flips(uint32_t n);

#endif
