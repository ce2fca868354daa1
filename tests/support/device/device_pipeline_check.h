/*
 * device_pipeline_check.h - compares batches of the current device with the host's, byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_DEVICE_PIPELINE_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* Both models, every compact and every sort of the device, and fused every sort, n particles. */
void device_pipeline_check_backends(uint32_t n);

/* Both models and ways at sizes from 1 up to that, no survivors and all, no key, wide keys. */
void device_pipeline_check_shapes(uint32_t largest);

/*
 * Both models, fused, up to that many particles: every size about the border of a tile, or some;
 * those, and every size of a record.
 */
void device_pipeline_check_tiles(uint32_t most, size_t step);
void device_pipeline_check_fused(uint32_t most);

/* Both models and ways: a key of every column, and of as many fields as there can be. */
void device_pipeline_check_keys(uint32_t n);

/*
 * Every model of several steps, in rounds by every schedule, n particles: by that compact and sort,
 * or by all of the device in turn.
 */
void device_pipeline_check_rounds(uint32_t n);
void device_pipeline_check_rounds_of_all(uint32_t n);

/* Both models and ways: tallies by bins of every column, by weight too, as many as there can be. */
void device_pipeline_check_bins(uint32_t n);

/* All models and ways: particles of any fate that must meet a condition of each column. */
void device_pipeline_check_conditions(uint32_t n);

/*
 * A lane whose memory held something else before: twice in a row, batches in any order; fused, n
 * particles, and as few as are replayed as a graph.
 */
void device_pipeline_check_reuse(uint32_t n);

/*
 * A bit of what comes from the device is the other one: each copy, the census's and the columns',
 * at bits of every word. No batch of it is taken for whole.
 */
void device_pipeline_check_flips(uint32_t n);

#endif
