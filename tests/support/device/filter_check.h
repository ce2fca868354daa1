/* filter_check.h - compares the kernels of a particle filter with loops on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_FILTER_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_FILTER_CHECK_H

#include <stdint.h>

/* A step of filters of up to most particles, in each way to resample, with random weights. */
void filter_check_kernels(uint32_t most);

/* Compares two draws of multinomial resampling, for qsort(3). */
int filter_draw_order(const void *a, const void *b);

#endif
