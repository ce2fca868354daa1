/* pack_check.h - compares survivors packed on the current device with those packed on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_PACK_CHECK_H

#include "stages/device/device_pipeline.h"
#include "stages/formats/mcpl/mcpl.h"

/*
 * Ways to pack: zlib streams of columns in byte planes; records; gzip members of records, and of
 * columns.
 */
enum { PACKINGS = 4 };

/*
 * Makes a recipe of the device pack in way k, in chunks of 512 bytes, which can_pack() must allow.
 */
void set_packing(struct sl_recipe *d, int k);
bool can_pack(const struct sl_recipe *r, int k);

/*
 * The received streams must inflate to the columns or records of the host, and have the right sizes
 * and checksums.
 */
void check_packed(
	const struct sl_recipe *d, const struct sl_batch *host, const struct sl_batch *received);

/*
 * Without running a kernel: the jobs of a table of any number of rows fit into the scratch that was
 * laid out for most rows, and few rows are one job.
 */
void pack_check_jobs(uint32_t most);

/* Packs a table of the host as MCPL records. The caller frees them. */
uint8_t *records_of_host(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, size_t *bytes);

#endif
