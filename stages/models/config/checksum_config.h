/* checksum_config.h - the option checksum of models that read files. Host only. */
#ifndef SL_STAGES_MODELS_CONFIG_CHECKSUM_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_CHECKSUM_CONFIG_H

#include <inttypes.h>
#include <stdio.h>

#include "primitives/files/files.h"

/*
 * Compares item k of the checksums with the CRC-32 of what was read of a file, such as its labels,
 * or stores it.
 */
static inline enum sl_status sl_check_crc(struct sl_counts *checksum, uint32_t k, const void *items,
	size_t bytes, const char *file, const char *what, const char *model)
{
	const uint32_t crc = sl_crc32(items, bytes);

	if (checksum->n > k && checksum->at[k] != crc)
		return sl_fail(SL_BAD_INPUT,
			"%s was changed (the CRC-32 of its %s is %" PRIu32
			", model.%s.checksum is %" PRIu64
			"); restore the file, or remove model.%s.checksum and start a new run",
			file, what, crc, model, checksum->at[k], model);
	checksum->n = checksum->n > k ? checksum->n : k + 1;
	checksum->at[k] = crc;
	return SL_OK;
}

#endif
