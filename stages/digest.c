/* digest.c - the digest of a whole column, of what was read back for one. */
#include "stages/digest.h"

#include <string.h>

#include "stages/batch.h"

uint64_t sl_digest_column(const struct sl_table_column *c, uint32_t n)
{
	size_t item = sl_column_facts[c->column].bytes;
	const char *at = (const char *)c->data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = 0;

		/* little-endian, as everything that this program writes */
		memcpy(&bits, c->constant ? at : at + i * item, item);
		sum += sl_digest_item(i, bits);
	}
	return sum;
}

enum sl_status sl_digest_check(const struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		uint64_t seen = c->constant ? c->digest : sl_digest_column(c, t->n);

		if (seen != c->digest)
			return sl_fail(SL_DEVICE_FAILED,
				"column %s did not come whole from the device (its digest there is "
				"%016llx, here %016llx), run again with --resume; if it happens "
				"again, test the machine's memory",
				sl_column_facts[c->column].name, (unsigned long long)c->digest,
				(unsigned long long)seen);
	}
	return SL_OK;
}
