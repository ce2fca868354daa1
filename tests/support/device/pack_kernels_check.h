/* pack_kernels_check.h - compares the kernels that pack survivors with loops on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_PACK_KERNELS_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_PACK_KERNELS_CHECK_H

#include <stdint.h>

/* Bounding boxes of columns with special numbers, of up to most rows. */
void pack_check_kernels(uint32_t most);

/* MCPL records of columns of random bits: all kinds of records, up to most rows. */
void mcpl_pack_check_kernel(uint32_t most);

#endif
