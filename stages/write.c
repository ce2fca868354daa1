/*
 * write.c - stage write on the host: gathers each column of the survivors in key order, and digests
 * it.
 *
 * All columns of a block of SL_DIGEST_ROWS rows are written before the next block, so that the weights
 * of the digest are computed once per block.
 */
#include "stages/write.h"

#include <string.h>

#include "stages/particle/digest.h"
#include "stages/particle/math.h"
#include "stages/batch/recipe.h"

/* A block of rows: the first row, their number, and their weights in digests. */
struct rows {
	uint32_t from, n;
	uint64_t weight[SL_DIGEST_ROWS];
};

/* Gathers the rows of a column of a type; bits_of() zero-extends the bits of a value. */
#define GATHER(type, bits_of)                                              \
	for (uint32_t k = 0; k < rows->n; k++) {                           \
		type value = ((const type *)source)[index[k]];             \
		((type *)out->data)[rows->from + k] = value;               \
		digest += sl_digest_item(rows->weight[k], bits_of(value)); \
	}                                                                  \
	break

/* The column id is not stored; it follows from the position of a particle. */
static void gather_ids(struct sl_batch *b, struct sl_table_column *out, const struct rows *rows)
{
	uint64_t *id = (uint64_t *)out->data + rows->from;

	for (uint32_t k = 0; k < rows->n; k++) {
		id[k] = b->first_id + b->index[rows->from + k];
		out->digest += sl_digest_item(rows->weight[k], id[k]);
	}
}

static void gather(struct sl_batch *b, struct sl_table_column *out, const struct rows *rows)
{
	const void *source = sl_column_at(&b->columns, out->column);
	const uint32_t *index = b->index + rows->from;
	uint64_t digest = 0;

	switch (sl_column_facts[out->column].type) {
	case SL_TYPE_F32:
		GATHER(float, sl_bits);
	case SL_TYPE_U32:
		GATHER(uint32_t, (uint64_t));
	case SL_TYPE_U64:
		GATHER(uint64_t, (uint64_t));
	case SL_TYPE_U8:
		GATHER(uint8_t, (uint64_t));
	case SL_TYPE_I32:
		GATHER(int32_t, (uint32_t));
	}
	out->digest += digest;
}

/* A constant column is not gathered. Its digest is that of its value in every row. */
static void digest_constant(struct sl_table_column *out, const struct rows *rows)
{
	uint64_t bits = 0;

	memcpy(&bits, out->data, sl_column_facts[out->column].bytes);
	for (uint32_t k = 0; k < rows->n; k++)
		out->digest += sl_digest_item(rows->weight[k], bits);
}

static void write_rows(const struct sl_recipe *r, struct sl_batch *b, const struct rows *rows)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *out = &b->table.column[k];

		if (SL_HAS(r->constants, out->column))
			digest_constant(out, rows);
		else if (out->column == SL_COLUMN_id)
			gather_ids(b, out, rows);
		else
			gather(b, out, rows);
	}
}

void SL_AT_LEVEL(sl_loop_write)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	struct rows rows;

	for (rows.from = from; rows.from < to; rows.from += rows.n) {
		rows.n =
			to - rows.from < SL_DIGEST_ROWS ? to - rows.from : (uint32_t)SL_DIGEST_ROWS;
		sl_digest_weights(rows.from, rows.n, rows.weight);
		write_rows(r, b, &rows);
	}
}
