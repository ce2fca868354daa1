/* digest.c - digests of whole columns and of byte arrays, and their comparison after a transfer. */
#include "stages/particle/digest.h"

#include <string.h>

#include "stages/particle/table.h"

/* Adds n items of a type, little-endian as all data that this program writes, and returns. */
#define DIGEST(type)                                                                      \
	for (uint32_t k = 0; k < n; k++) {                                                \
		type value;                                                               \
		memcpy(&value, at + (c->constant ? 0 : k * sizeof(type)), sizeof(value)); \
		sum += sl_digest_item(weight[k], value);                                  \
	}                                                                                 \
	return sum

/* The digest of n rows from row from on, which have the given weights. Floats count as their bits. */
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

/* The number of rows in the block of rows that starts at from. */
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

/* The digest of one block of n bytes, as 64-bit words; the last word is padded with zeros. */
static uint64_t digest_words(const char *at, size_t n, const uint64_t *weight)
{
	size_t words = n / sizeof(uint64_t);
	uint64_t word, sum = 0;

	for (size_t k = 0; k < words; k++) {
		memcpy(&word, at + k * sizeof(word), sizeof(word));
		sum += sl_digest_item(weight[k], word);
	}
	if (n % sizeof(word) == 0)
		return sum;
	word = 0;
	memcpy(&word, at + words * sizeof(word), n % sizeof(word));
	return sum + sl_digest_item(weight[words], word);
}

uint64_t sl_digest_bytes(const void *bytes, size_t n)
{
	const size_t block = SL_DIGEST_ROWS * sizeof(uint64_t);
	uint64_t weight[SL_DIGEST_ROWS], sum = 0;
	const char *at = (const char *)bytes;

	sl_digest_weights(0, SL_DIGEST_ROWS, weight);
	for (size_t k = 0; k * block < n; k++) {
		size_t left = n - k * block;

		sum += sl_digest_weight(k) *
		       digest_words(at + k * block, left < block ? left : block, weight);
	}
	return sum;
}

/* Whether a column has been copied. A constant has not, and a packed column has no data. */
static bool is_copied(const struct sl_table_column *c)
{
	return !c->constant && c->data;
}

/* The digests of the copied columns, row block by row block so that weights are computed once. Other
 * columns get the digest that they are expected to have. */
static void digest_copied(const struct sl_table *t, uint64_t seen[SL_COLUMN_COUNT])
{
	uint64_t weight[SL_DIGEST_ROWS];
	uint32_t rows;

	for (uint32_t k = 0; k < t->n_columns; k++)
		seen[k] = is_copied(&t->column[k]) ? 0 : t->column[k].digest;
	for (uint32_t from = 0; from < t->n; from += rows) {
		rows = rows_at(from, t->n);
		sl_digest_weights(from, rows, weight);
		for (uint32_t k = 0; k < t->n_columns; k++)
			if (is_copied(&t->column[k]))
				seen[k] += digest_rows(&t->column[k], from, rows, weight);
	}
}

/* The error for data whose digest on the device differs from that on the host. */
static enum sl_status transfer_error(
	const char *what, const char *name, uint64_t on_device, uint64_t on_host)
{
	return sl_fail(SL_DEVICE_FAILED,
		"transfer error: %s%s has digest %016llx on the device and %016llx on the host; "
		"rerun with --resume, and test the memory if it happens again",
		what, name, (unsigned long long)on_device, (unsigned long long)on_host);
}

enum sl_status sl_device_packed_check(const struct sl_device_packed *p)
{
	uint64_t seen = sl_digest_bytes(p->bytes, p->used);

	return seen == p->digest ? SL_OK : transfer_error("packed data", "", p->digest, seen);
}

enum sl_status sl_digest_check(const struct sl_table *t)
{
	uint64_t seen[SL_COLUMN_COUNT];

	digest_copied(t, seen);
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (seen[k] != t->column[k].digest)
			return transfer_error("column ", sl_column_facts[t->column[k].column].name,
				t->column[k].digest, seen[k]);
	return SL_OK;
}
