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
