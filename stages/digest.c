/* digest.c - the digest of a whole column, of what was read back for one. */
#include "stages/digest.h"

#include <string.h>

#include "stages/batch.h"

/* Little-endian, as everything that this program writes. */
#define DIGEST(type)                                                                      \
	for (uint32_t k = 0; k < n; k++) {                                                \
		type value;                                                               \
		memcpy(&value, at + (c->constant ? 0 : k * sizeof(type)), sizeof(value)); \
		sum += sl_digest_item(weight[k], value);                                  \
	}                                                                                 \
	return sum

/* What n rows add, from that one on, which have those weights. Floats are read as their bits. */
static uint64_t digest_rows(
	const struct sl_table_column *c, size_t from, uint32_t n, const uint64_t *weight)
{
	size_t bytes = sl_column_facts[c->column].bytes;
	const char *at = (const char *)c->data + (c->constant ? 0 : from * bytes);
	uint64_t sum = 0;

	switch (bytes) {
	case sizeof(uint8_t):
		DIGEST(uint8_t);
	case sizeof(uint32_t):
		DIGEST(uint32_t);
	default:
		DIGEST(uint64_t);
	}
}

static uint32_t rows_at(uint32_t from, uint32_t n)
{
	return n - from < SL_DIGEST_ROWS ? n - from : (uint32_t)SL_DIGEST_ROWS;
}

uint64_t sl_digest_column(const struct sl_table_column *c, uint32_t n)
{
	uint64_t weight[SL_DIGEST_ROWS], sum = 0;
	uint32_t rows;

	for (uint32_t from = 0; from < n; from += rows) {
		rows = rows_at(from, n);
		sl_digest_weights(from, rows, weight);
		sum += digest_rows(c, from, rows, weight);
	}
	return sum;
}

/* Constants have not been copied. */
static void digest_copied(const struct sl_table *t, uint64_t seen[SL_COLUMN_COUNT])
{
	uint64_t weight[SL_DIGEST_ROWS];
	uint32_t rows;

	for (uint32_t k = 0; k < t->n_columns; k++)
		seen[k] = t->column[k].constant ? t->column[k].digest : 0;
	for (uint32_t from = 0; from < t->n; from += rows) {
		rows = rows_at(from, t->n);
		sl_digest_weights(from, rows, weight);
		for (uint32_t k = 0; k < t->n_columns; k++)
			if (!t->column[k].constant)
				seen[k] += digest_rows(&t->column[k], from, rows, weight);
	}
}

enum sl_status sl_digest_check(const struct sl_table *t)
{
	uint64_t seen[SL_COLUMN_COUNT];

	digest_copied(t, seen);
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (seen[k] != t->column[k].digest)
			return sl_fail(SL_DEVICE_FAILED,
				"column %s did not come whole from the device (its digest there is "
				"%016llx, here %016llx), run again with --resume; if it happens "
				"again, test the machine's memory",
				sl_column_facts[t->column[k].column].name,
				(unsigned long long)t->column[k].digest,
				(unsigned long long)seen[k]);
	return SL_OK;
}
