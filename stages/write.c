/* write.c - each column of the survivors is gathered once, in key order, and digested. */
#include <string.h>

#include "stages/digest.h"
#include "stages/math.h"
#include "stages/recipe.h"

/* The value of a type as bits, zero-extended. */
#define GATHER(type, bits_of)                                     \
	for (uint32_t j = from; j < to; j++) {                    \
		type value = ((const type *)source)[b->index[j]]; \
		((type *)out->data)[j] = value;                   \
		digest += sl_digest_item(j, bits_of(value));      \
	}                                                         \
	break

static void gather_ids(struct sl_batch *b, struct sl_table_column *out, uint32_t from, uint32_t to)
{
	uint64_t *id = (uint64_t *)out->data;

	for (uint32_t j = from; j < to; j++) {
		id[j] = b->first_id + b->index[j];
		out->digest += sl_digest_item(j, id[j]);
	}
}

static void gather(struct sl_batch *b, struct sl_table_column *out, uint32_t from, uint32_t to)
{
	const void *source = sl_column_at(&b->columns, out->column);
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
	}
	out->digest += digest;
}

/* A constant column is not gathered: its digest is that of the value in every row. */
static void digest_constant(struct sl_table_column *out, uint32_t from, uint32_t to)
{
	uint64_t bits = 0;

	memcpy(&bits, out->data, sl_column_facts[out->column].bytes);
	for (uint32_t j = from; j < to; j++)
		out->digest += sl_digest_item(j, bits);
}

SL_LOOP(write)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *out = &b->table.column[k];

		if (SL_HAS(r->constants, out->column))
			digest_constant(out, from, to);
		else if (out->column == SL_COLUMN_id)
			gather_ids(b, out, from, to);
		else
			gather(b, out, from, to);
	}
}
