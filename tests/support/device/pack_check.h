/* pack_check.h - compares survivors packed on the current device with those packed on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H

#include <stdint.h>

/* Its kernels alone: the box of numbers of every kind, digests of every length about most bytes. */
void pack_check_kernels(uint32_t most);

/*
 * Every model and both ways, n particles, in chunks of a few hundred bytes: the streams that come
 * home are the host's columns, and what is said of them is so. No survivors, too.
 */
void pack_check_pipelines(uint32_t n);

/* Of some models, what else comes home: records, members of gzip of them, and of whole columns. */
void pack_check_forms(uint32_t n);

#endif
