/* copy_speed.h - how fast memory is copied: what no stage can pass. */
#ifndef SL_PIPELINE_COMPARE_CASES_COPY_SPEED_H
#define SL_PIPELINE_COMPARE_CASES_COPY_SPEED_H

#include "primitives/device/device.h"

/*
 * Bytes read and written per ns (GB/s) by a copy within space, SL_HOST by one thread or SL_DEVICE:
 * the median of some. free_bytes: of that space; an eighth of it is used at most. 0 when there is
 * no room at all.
 */
enum sl_status sl_copy_speed(enum sl_space space, uint64_t free_bytes, double *gb_per_second);

#endif
