/* pack_check.h - compares survivors packed on the current device with those packed on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H

#include <stdint.h>

/* Tests the kernels alone: bounding boxes of all kinds of numbers, digests of lengths near most bytes. */
void pack_check_kernels(uint32_t most);

/*
 * Every model in both modes, n particles, in chunks of a few hundred bytes. The received streams must
 * contain the columns of the host, with right sizes and digests; also without survivors.
 */
void pack_check_pipelines(uint32_t n);

/* Some models with the other transfer forms: records, and gzip members of records and columns. */
void pack_check_forms(uint32_t n);

#endif
