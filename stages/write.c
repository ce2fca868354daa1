/*
 * write.c - stage write on the host: gathers each column of the survivors in key order, and digests
 * it.
 *
 * A few columns are written together, block by block of SL_DIGEST_ROWS rows: the weights of the
 * digest are computed once for all of them. Columns whose items nothing reads are only digested; if
 * the inputs keep the records, these columns are decoded from them.
 */
#include "stages/write.h"

#include <string.h>

#include "stages/batch/recipe.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/inputs/inputs.h"
#include "stages/particle/digest.h"
#include "stages/particle/math.h"

/*
 * Columns that are gathered together. More would not fit in the second-level cache, in which their
 * items are found in any order; fewer would compute the weights more often.
 */
enum { TOGETHER = 3 };

/*
 * A block of rows or positions: the first one, their number, and the weights of their rows in
 * digests.
 */
struct rows {
	uint32_t from, n;
	uint64_t weight[SL_DIGEST_ROWS];
};

/* Columns of the table. */
struct list {
	struct sl_table_column *column[SL_COLUMN_COUNT];
	uint32_t n;
};

/* The size of a block of which so many rows are left. */
static uint32_t block_rows(uint32_t left)
{
	return left < SL_DIGEST_ROWS ? left : (uint32_t)SL_DIGEST_ROWS;
}

/*
 * The digest of the items of a column in a block of rows. A compiler vectorises each of these
 * loops.
 */
static uint64_t digest_items(const void *items, enum sl_column_type type, const struct rows *rows)
{
	const uint64_t *wide = (const uint64_t *)items;
	const uint32_t *word = (const uint32_t *)items;
	const uint8_t *byte = (const uint8_t *)items;
	uint64_t digest = 0;

	switch (type) {
	case SL_TYPE_F32:
	case SL_TYPE_U32:
	case SL_TYPE_I32:
		for (uint32_t k = 0; k < rows->n; k++)
			digest += sl_digest_item(rows->weight[k], word[k]);
		break;
	case SL_TYPE_U64:
		for (uint32_t k = 0; k < rows->n; k++)
			digest += sl_digest_item(rows->weight[k], wide[k]);
		break;
	case SL_TYPE_U8:
		for (uint32_t k = 0; k < rows->n; k++)
			digest += sl_digest_item(rows->weight[k], byte[k]);
	}
	return digest;
}

/* The column id is not stored; it follows from the position of a particle. */
static void gather_ids(const struct sl_batch *b, const uint32_t *index, uint32_t n, uint64_t *id)
{
	for (uint32_t k = 0; k < n; k++)
		id[k] = sl_batch_id(b, index[k]);
}

/* Copies n items of a type, whose numbers are in index. */
#define GATHER(type)                                     \
	do {                                             \
		const type *from = (const type *)source; \
		type *to = (type *)items;                \
                                                         \
		for (uint32_t k = 0; k < n; k++)         \
			to[k] = from[index[k]];          \
	} while (0);                                     \
	break

static void gather(const void *source, enum sl_column_type type, const uint32_t *index, uint32_t n,
	void *items)
{
	switch (type) {
	case SL_TYPE_F32:
	case SL_TYPE_U32:
	case SL_TYPE_I32:
		GATHER(uint32_t);
	case SL_TYPE_U64:
		GATHER(uint64_t);
	case SL_TYPE_U8:
		GATHER(uint8_t);
	}
}

/* A constant column is not gathered. Its digest is that of its value in every row. */
static uint64_t digest_constant(const struct sl_table_column *column, const struct rows *rows)
{
	uint64_t bits = 0, digest = 0;

	memcpy(&bits, column->data, sl_column_facts[column->column].bytes);
	for (uint32_t k = 0; k < rows->n; k++)
		digest += sl_digest_item(rows->weight[k], bits);
	return digest;
}

static void write_rows(
	const struct sl_batch *b, struct sl_table_column *out, const struct rows *rows)
{
	const struct sl_column_facts *facts = &sl_column_facts[out->column];
	const uint32_t *index = b->index + rows->from;
	void *items = (char *)out->data + (size_t)rows->from * facts->bytes;

	if (out->constant) {
		out->digest += digest_constant(out, rows);
		return;
	}
	if (out->column == SL_COLUMN_id)
		gather_ids(b, index, rows->n, (uint64_t *)items);
	else
		gather(sl_column_at(&b->columns, out->column), facts->type, index, rows->n, items);
	out->digest += digest_items(items, facts->type, rows);
}

/* Gathers and digests columns. */
static void write_columns(const struct sl_batch *b, const struct list *list)
{
	struct rows rows;

	for (uint32_t first = 0; first < list->n; first += TOGETHER)
		for (rows.from = 0; rows.from < b->n_survivors; rows.from += rows.n) {
			rows.n = block_rows(b->n_survivors - rows.from);
			sl_digest_weights(rows.from, rows.n, rows.weight);
			for (uint32_t k = first; k < list->n && k < first + TOGETHER; k++)
				write_rows(b, list->column[k], &rows);
		}
}

/* --- columns that are only digested ----------------------------------------------------------- */

/*
 * The row of the particle at each position: the inverse of b->index. The keys are not needed after
 * the sort, so the rows take their memory. NULL: rows are positions, because survivors stay in id
 * order.
 */
static uint32_t *find_rows(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint32_t *row = (uint32_t *)b->key;

	if (r->n_fields == 0)
		return NULL;
	for (uint32_t j = 0; j < b->n_survivors; j++)
		row[b->index[j]] = j;
	return row;
}

/* The digest of the ids of the particles at the positions of a block. */
static uint64_t digest_ids(const struct sl_batch *b, const struct rows *at)
{
	uint64_t digest = 0;

	for (uint32_t k = 0; k < at->n; k++)
		digest += sl_digest_item(at->weight[k], sl_batch_id(b, at->from + k));
	return digest;
}

/* The columns that are decoded from source records, at the positions of a block. */
struct decoded {
	sl_column_set set;
	struct sl_mcpl_target columns;
	uint32_t item[SL_COLUMN_COUNT][SL_DIGEST_ROWS];
};

static void begin_decoded(const struct sl_recipe *r, struct decoded *d)
{
	d->set = sl_decoded_columns(r);
	d->columns = (struct sl_mcpl_target){0};
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		d->columns.column[k] = SL_HAS(d->set, k) ? d->item[k] : NULL;
}

/*
 * Decodes the records at the positions of a block, which ascend in memory. It takes less time than
 * a column that is stored for all survivors and read again.
 */
static void decode(const struct sl_recipe *r, const struct sl_batch *b, const struct rows *at,
	const struct decoded *d)
{
	const size_t words = r->source_bytes / sizeof(*r->records);

	if (d->set)
		sl_mcpl_to_columns_from(&r->inputs->layout, r->records + b->first_id * words,
			b->place + at->from, at->n, &d->columns);
}

/* The digest of a column whose items stay at their positions. */
static uint64_t digest_at(const struct sl_batch *b, const struct sl_table_column *column,
	const struct rows *at, const struct decoded *d)
{
	const struct sl_column_facts *facts = &sl_column_facts[column->column];
	const char *items;

	if (column->constant)
		return digest_constant(column, at);
	if (column->column == SL_COLUMN_id)
		return digest_ids(b, at);
	if (SL_HAS(d->set, column->column))
		return digest_items(d->item[column->column], facts->type, at);
	items = (const char *)sl_column_at(&b->columns, column->column);
	return digest_items(items + (size_t)at->from * facts->bytes, facts->type, at);
}

/*
 * Digests columns whose items nothing reads. Each item stays at its position and has the weight of
 * its row: the sum is that of the gathered items, and no item is read in random order.
 */
static void digest_columns(const struct sl_recipe *r, struct sl_batch *b, const struct list *list)
{
	const uint32_t *row = list->n > 0 ? find_rows(r, b) : NULL;
	struct decoded decoded;
	struct rows at;

	begin_decoded(r, &decoded);
	for (at.from = 0; list->n > 0 && at.from < b->n_survivors; at.from += at.n) {
		at.n = block_rows(b->n_survivors - at.from);
		for (uint32_t k = 0; k < at.n; k++)
			at.weight[k] = sl_digest_weight(row ? row[at.from + k] : at.from + k);
		decode(r, b, &at, &decoded);
		for (uint32_t k = 0; k < list->n; k++)
			list->column[k]->digest += digest_at(b, list->column[k], &at, &decoded);
	}
}

/*
 * Constant columns are digested together with others, so that weights are not computed for them
 * alone.
 */
void SL_AT_LEVEL(sl_loop_write)(const struct sl_recipe *r, struct sl_batch *b)
{
	struct list written = {.n = 0}, digested = {.n = 0};
	struct sl_table *t = &b->table;
	bool all_written = true;

	for (uint32_t k = 0; k < t->n_columns; k++)
		all_written &= t->column[k].data != NULL;
	for (uint32_t k = 0; k < t->n_columns; k++) {
		bool writes = t->column[k].data && (all_written || !t->column[k].constant);
		struct list *to = writes ? &written : &digested;

		to->column[to->n++] = &t->column[k];
	}
	write_columns(b, &written);
	digest_columns(r, b, &digested);
}
