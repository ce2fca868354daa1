/*
 * mcpl_pack_check.h - compares MCPL records packed on the current device with those packed on the
 * host.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_MCPL_PACK_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_MCPL_PACK_CHECK_H

#include "stages/formats/mcpl/mcpl.h"

/* The records of a table of the host, as its format packs them; to be freed. */
uint8_t *records_of_host(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, size_t *bytes);

/* The kernel alone: columns of any bits, records of all kinds, and numbers of rows about most. */
void mcpl_pack_check_kernel(uint32_t most);

#endif
