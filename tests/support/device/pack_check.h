/* pack_check.h - compares survivors packed on the current device with those packed on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H

#include <stdint.h>

/*
 * Every model in both modes, n particles, in chunks of 512 bytes, with and without survivors. The
 * received streams must inflate to the columns of the host, and have the right sizes and digests.
 */
void pack_check_pipelines(uint32_t n);

/* Some models with the other outputs: records, and gzip members of records and of columns. */
void pack_check_forms(uint32_t n);

/*
 * Without running a kernel: the jobs of a table of any number of rows fit into the scratch that was
 * laid out for most rows, and few rows are one job.
 */
void pack_check_jobs(uint32_t most);

#endif
