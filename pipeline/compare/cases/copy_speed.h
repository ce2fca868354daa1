/* copy_speed.h - measures the speed of a memory copy: the upper bound for memory-bound stages. */
#ifndef SL_PIPELINE_COMPARE_CASES_COPY_SPEED_H
#define SL_PIPELINE_COMPARE_CASES_COPY_SPEED_H

#include "primitives/device/device.h"

/*
 * Sets *gb_per_second to the bytes read plus written per ns by a copy within space (SL_HOST with
 * one thread, or SL_DEVICE): the median of 11 copies. free_bytes is the free memory of that space;
 * at most an eighth of it is allocated, and freed again. The result is 0 if free_bytes is too small.
 */
enum sl_status sl_copy_speed(enum sl_space space, uint64_t free_bytes, double *gb_per_second);

#endif
