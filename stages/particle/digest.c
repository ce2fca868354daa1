/* digest.c - digests of whole columns and of byte arrays, and their comparison after a transfer. */
#include "stages/particle/digest.h"

#include <string.h>

#include "primitives/files/files.h"
#include "stages/particle/table.h"

enum { BLOCK_BYTES = SL_DIGEST_ROWS * sizeof(uint64_t), CACHE_LINE_BYTES = 64 };

/* Adds n items of a type, little-endian as all data that this program writes, and returns. */
#define DIGEST(type)                                                  \
	for (uint32_t k = 0; k < n; k++) {                            \
		type value;                                           \
		memcpy(&value, at + k * sizeof(type), sizeof(value)); \
		sum += sl_digest_item(weight[k], value);              \
	}                                                             \
	return sum

/*
 * The digest of n rows from row from on, which have the given weights. Floats count as their bits.
 */
static uint64_t digest_rows(
	const struct sl_table_column *c, size_t from, uint32_t n, const uint64_t *weight)
{
	size_t bytes = sl_column_facts[c->column].bytes;
	const char *at = (const char *)c->data + from * bytes;
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

/* The value of a constant column, zero-extended. */
static uint64_t constant_bits(const struct sl_table_column *c)
{
	uint64_t bits = 0;

	memcpy(&bits, c->data, sl_column_facts[c->column].bytes);
	return bits;
}

/* All columns in one pass over the rows, so that weights are computed once. */
void sl_digest_add_rows(const struct sl_table *t, uint64_t first, uint64_t digest[])
{
	uint64_t weight[SL_DIGEST_ROWS], lower = 0,
					 upper = 0; /* sums over the rows, for constants */
	uint32_t rows;

	for (uint32_t from = 0; from < t->n; from += rows) {
		rows = rows_at(from, t->n);
		sl_digest_weights(first + from, rows, weight);
		for (uint32_t i = 0; i < rows; i++) {
			lower += sl_digest_item(weight[i], 1);
			upper += sl_digest_item(weight[i], UINT64_C(1) << 32);
		}
		for (uint32_t k = 0; k < t->n_columns; k++)
			if (!t->column[k].constant)
				digest[k] += digest_rows(&t->column[k], from, rows, weight);
	}
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].constant) {
			uint64_t bits = constant_bits(&t->column[k]);

			digest[k] += lower * (uint32_t)bits + upper * (bits >> 32);
		}
}

void sl_digest_columns(const struct sl_table *t, uint64_t digest[])
{
	memset(digest, 0, t->n_columns * sizeof(*digest));
	sl_digest_add_rows(t, 0, digest);
}

void sl_digest_table(struct sl_table *t)
{
	uint64_t digest[SL_COLUMN_COUNT];

	sl_digest_columns(t, digest);
	for (uint32_t k = 0; k < t->n_columns; k++)
		t->column[k].digest = digest[k];
}

/*
 * The digest of one block of n bytes, as 64-bit words; the last word is padded with zeros. The
 * block after it is prefetched: the processor's own prefetch stops at each page, so without it the
 * sum waits for memory half of the time.
 */
static uint64_t digest_words(const char *at, size_t n, const uint64_t *weight)
{
	size_t words = n / sizeof(uint64_t);
	uint64_t word, sum = 0;

	for (size_t k = 0; k < words; k++) {
		if (k % (CACHE_LINE_BYTES / sizeof(word)) == 0)
			__builtin_prefetch(at + BLOCK_BYTES + k * sizeof(word));
		memcpy(&word, at + k * sizeof(word), sizeof(word));
		sum += sl_digest_item(weight[k], word);
	}
	if (n % sizeof(word) == 0)
		return sum;
	word = 0;
	memcpy(&word, at + words * sizeof(word), n % sizeof(word));
	return sum + sl_digest_item(weight[words], word);
}

/* The digest of n bytes that start at block `first` of an array. */
static uint64_t digest_blocks(const char *at, size_t n, size_t first, const uint64_t *weight)
{
	uint64_t sum = 0;

	for (size_t from = 0; from < n; from += BLOCK_BYTES) {
		size_t left = n - from;

		sum += sl_digest_weight(first + from / BLOCK_BYTES) *
		       digest_words(at + from, left < BLOCK_BYTES ? left : BLOCK_BYTES, weight);
	}
	return sum;
}

uint64_t sl_digest_bytes(const void *bytes, size_t n)
{
	uint64_t weight[SL_DIGEST_ROWS];

	sl_digest_weights(0, SL_DIGEST_ROWS, weight);
	return digest_blocks((const char *)bytes, n, 0, weight);
}

/* Whether a column has been copied. A constant has not, and a packed column has no data. */
static bool is_copied(const struct sl_table_column *c)
{
	return !c->constant && c->data;
}

/*
 * The digests of the copied columns, row block by row block so that weights are computed once.
 * Other columns get the digest that they are expected to have.
 */
static void digest_copied(const struct sl_table *t, uint64_t seen[SL_COLUMN_COUNT])
{
	uint64_t weight[SL_DIGEST_ROWS];
	bool any = false;
	uint32_t rows;

	for (uint32_t k = 0; k < t->n_columns; k++) {
		seen[k] = is_copied(&t->column[k]) ? 0 : t->column[k].digest;
		any |= is_copied(&t->column[k]);
	}
	/*
	 * Without a copied column no weights are needed; those of a large batch take milliseconds.
	 */
	for (uint32_t from = 0; any && from < t->n; from += rows) {
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

/* Digest and CRC read the same few blocks in turn, so that these come from memory once. */
enum sl_status sl_device_packed_check(struct sl_device_packed *p)
{
	const size_t together = 16 * BLOCK_BYTES;
	uint64_t weight[SL_DIGEST_ROWS], seen = 0;

	sl_digest_weights(0, SL_DIGEST_ROWS, weight);
	p->crc = 0;
	for (size_t from = 0; from < p->used; from += together) {
		const char *at = (const char *)p->bytes + from;
		size_t left = p->used - from, n = left < together ? left : together;

		seen += digest_blocks(at, n, from / BLOCK_BYTES, weight);
		p->crc = sl_crc32_update(p->crc, at, n);
	}
	p->has_crc = true;
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
