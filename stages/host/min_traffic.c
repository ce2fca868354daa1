/* min_traffic.c - the bytes of a stage, from the columns that it reads and writes. */
#include "stages/host/min_traffic.h"

#include "stages/batch/packed_record.h"

/* Bytes per particle in the columns of a set. */
static uint64_t bytes_of(sl_column_set set)
{
	uint64_t bytes = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(set, c))
			bytes += sl_column_facts[c].bytes;
	return bytes;
}

/* The columns that are counted: of the tally and the histograms. */
static sl_column_set counted_columns(const struct sl_recipe *r, sl_column_set stored)
{
	return stored &
	       (SL_BIT(SL_COLUMN_fate) | SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_steps) |
		       SL_BIT(SL_COLUMN_collisions) | r->bins.columns | r->grids.columns);
}

/* Bytes of a key and its index. */
static uint64_t bytes_of_pair(const struct sl_recipe *r)
{
	return sl_key_bytes(r) + sizeof(uint32_t);
}

static uint64_t bytes_to_sort(const struct sl_recipe *r)
{
	sl_column_set fields = 0;

	if (r->n_fields == 0)
		return 0;
	for (uint32_t k = 0; k < r->n_fields; k++)
		fields |= SL_BIT(r->field[k].column);
	/* the key is made of its fields (in fused mode by select), then pairs are permuted */
	return (r->mode == SL_MODE_fused ? 0 : bytes_of(SL_STORED(fields)) + bytes_of_pair(r)) +
	       2 * bytes_of_pair(r);
}

/* Bytes of the record of a survivor, which select writes in addition to key and index. */
static uint64_t bytes_of_record(const struct sl_recipe *r)
{
	bool has_record = r->mode == SL_MODE_fused && !sl_models[r->model]->recomputed;

	return has_record ? sl_record_words(sl_record_columns(r)) * sizeof(uint32_t) : 0;
}

static uint64_t bytes_to_write(const struct sl_recipe *r)
{
	bool gathers = r->mode == SL_MODE_staged;
	uint64_t bytes = sizeof(uint32_t) + bytes_of_record(r);

	for (uint32_t k = 0; k < r->n_columns; k++)
		if (!SL_HAS(r->constants, r->column[k]))
			bytes += bytes_of(SL_BIT(r->column[k])) +
			         (gathers ? bytes_of(SL_STORED(SL_BIT(r->column[k]))) : 0);
	return bytes;
}

uint64_t sl_stage_min_bytes(
	const struct sl_recipe *r, enum sl_stage_number s, uint64_t n, uint64_t survivors)
{
	sl_column_set stored = sl_stored_columns(r);

	if (!sl_stage_is_run(r->mode, (int)s))
		return 0;
	switch (s) {
	case SL_STAGE_generate:
		return n * bytes_of(stored);
	case SL_STAGE_advance:
		return 2 * n * bytes_of(stored);
	case SL_STAGE_mark:
		return n * (bytes_of(counted_columns(r, stored)) + 1);
	case SL_STAGE_compact:
		return n + survivors * sizeof(uint32_t);
	case SL_STAGE_select:
		return survivors *
		       ((r->n_fields ? bytes_of_pair(r) : sizeof(uint32_t)) + bytes_of_record(r));
	case SL_STAGE_sort:
		return survivors * bytes_to_sort(r);
	case SL_STAGE_write:
		return survivors * bytes_to_write(r);
	case SL_STAGE_COUNT:
		break;
	}
	return 0;
}
