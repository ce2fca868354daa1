/*
 * mcpl_pack_check.h - compares MCPL records packed on the current device with those packed on the
 * host.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_MCPL_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_MCPL_PACK_CHECK_H

#include "stages/formats/mcpl/mcpl.h"

/* Packs a table of the host as records. The caller frees them. */
uint8_t *records_of_host(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, size_t *bytes);

/* Tests the kernel alone: columns of random bits, all kinds of records, up to most rows. */
void mcpl_pack_check_kernel(uint32_t most);

#endif
