/*
 * write.c - stage write on the host: gathers each column of the survivors in key order, and digests
 * it.
 *
 * A few columns are written together, block by block of SL_DIGEST_ROWS rows: the weights of the
 * digest are computed once for all of them.
 */
#include "stages/write.h"

#include <string.h>

#include "stages/particle/digest.h"
#include "stages/particle/math.h"
#include "stages/batch/recipe.h"

/*
 * Columns that are gathered together. More would not fit in the second-level cache, in which their
 * items are found in any order; fewer would compute the weights more often.
 */
enum { TOGETHER = 3 };

/* A block of rows: the first row, their number, and their weights in digests. */
struct rows {
	uint32_t from, n;
	uint64_t weight[SL_DIGEST_ROWS];
};

/*
 * Gathers the rows of a column of a type and digests them; bits_of() zero-extends the bits of a value.
 * Two loops, because a compiler vectorises the second one only.
 */
#define GATHER(type, bits_of)                                                      \
	do {                                                                       \
		const type *from = (const type *)source;                           \
		type *to = (type *)out->data + rows->from;                         \
                                                                                   \
		for (uint32_t k = 0; k < rows->n; k++)                             \
			to[k] = from[index[k]];                                    \
		for (uint32_t k = 0; k < rows->n; k++)                             \
			digest += sl_digest_item(rows->weight[k], bits_of(to[k])); \
	} while (0);                                                               \
	break

/* The column id is not stored; it follows from the position of a particle. */
static void gather_ids(struct sl_batch *b, struct sl_table_column *out, const struct rows *rows)
{
	uint64_t *id = (uint64_t *)out->data + rows->from, digest = 0;

	for (uint32_t k = 0; k < rows->n; k++)
		id[k] = sl_batch_id(b, b->index[rows->from + k]);
	for (uint32_t k = 0; k < rows->n; k++)
		digest += sl_digest_item(rows->weight[k], id[k]);
	out->digest += digest;
}

static void gather(struct sl_batch *b, struct sl_table_column *out, const struct rows *rows)
{
	const void *source = sl_column_at(&b->columns, out->column);
	const uint32_t *index = b->index + rows->from;
	uint64_t digest = 0;

	switch (sl_column_facts[out->column].type) {
	case SL_TYPE_F32:
	case SL_TYPE_U32:
	case SL_TYPE_I32:
		GATHER(uint32_t, (uint64_t));
	case SL_TYPE_U64:
		GATHER(uint64_t, (uint64_t));
	case SL_TYPE_U8:
		GATHER(uint8_t, (uint64_t));
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

static void write_rows(const struct sl_recipe *r, struct sl_batch *b, struct sl_table_column *out,
	const struct rows *rows)
{
	if (SL_HAS(r->constants, out->column))
		digest_constant(out, rows);
	else if (out->column == SL_COLUMN_id)
		gather_ids(b, out, rows);
	else
		gather(b, out, rows);
}

void SL_AT_LEVEL(sl_loop_write)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	struct sl_table_column *column = b->table.column;
	const uint32_t n = b->table.n_columns;
	struct rows rows;

	for (uint32_t first = 0; first < n; first += TOGETHER)
		for (rows.from = from; rows.from < to; rows.from += rows.n) {
			rows.n = to - rows.from < SL_DIGEST_ROWS ? to - rows.from
			                                         : (uint32_t)SL_DIGEST_ROWS;
			sl_digest_weights(rows.from, rows.n, rows.weight);
			for (uint32_t k = first; k < n && k < first + TOGETHER; k++)
				write_rows(r, b, &column[k], &rows);
		}
}
