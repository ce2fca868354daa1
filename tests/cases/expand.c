/*
 * expand.c - the test case of expand: runs of any length, most of them without slots or one with
 * nearly all; fewer, as many or more runs than slots; ends, starts and counts; and columns.
 */
#include "case.h"

#include <stdio.h>
#include <string.h>

/* Block numbers. Column k is read from block FROM + 2 * k and written to block TO + 2 * k. */
enum { RUNS, OUT, FROM, TO };

static const char *const form_names[] = {"ends", "starts", "counts"};

static uint32_t n_runs_of(const struct sl_setting *set)
{
	return set->n == 0 || set->n_runs > 0 ? set->n_runs : set->n;
}

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s, %s of %u runs, %s, scan %s",
		sl_type_text(set->type), form_names[set->form], n_runs_of(set),
		sl_alive_name(set->alive), set->scan ? set->scan->name : "default");

	if (set->columns.n > 0)
		snprintf(text + used, size - used, ", %u columns of %u bytes%s", set->columns.n,
			set->columns.bytes, set->no_indices ? ", no indices" : "");
	sl_describe_offsets(set, text, size);
}

/* --- the input -------------------------------------------------------------------------------- */

/* Item size of column k. If the setting asks for all sizes: 4, 8, 16, 32, 1, 2 in turn. */
static uint32_t bytes_of(const struct sl_setting *set, uint32_t k)
{
	return set->columns.bytes > 0 ? set->columns.bytes : UINT32_C(1) << (k + 2) % 6;
}

/* The input is the runs in words of 64 bits, then the columns of random bits in whole words. */
static size_t words_before(const struct sl_setting *set, uint32_t column)
{
	const size_t n = n_runs_of(set);
	size_t words = n;

	for (uint32_t k = 0; k < column; k++)
		words += (n * bytes_of(set, k) + 7) / 8;
	return words;
}

static uint64_t *column_of(const struct sl_trial *t, uint32_t k)
{
	return (uint64_t *)t->input + words_before(&t->set, k);
}

/*
 * Run i of those that are alive has 1 to 2 * mean - 1 slots, so that all together have about n;
 * a single one has all. Stores counts, starts or ends.
 */
static void make_runs(const struct sl_setting *set, uint8_t *alive, void *runs)
{
	const uint32_t n = n_runs_of(set);
	uint64_t sum = 0, kept = 0, mean;

	sl_alive_fill(set->alive, n, alive);
	for (uint32_t i = 0; i < n; i++)
		kept += alive[i] != 0;
	mean = kept > 0 && set->n > kept ? set->n / kept : 1;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = alive[i] ? kept > 1 ? 1 + sl_mixed(i) % (2 * mean - 1) : mean : 0;
		uint64_t v = set->form == SL_RUN_COUNTS   ? count
		             : set->form == SL_RUN_STARTS ? sum
		                                          : sum + count;

		sum += count;
		if (set->type == SL_U32)
			((uint32_t *)runs)[i] = (uint32_t)v;
		else
			((uint64_t *)runs)[i] = v;
	}
}

static enum sl_status make_input(struct sl_trial *t)
{
	const uint32_t n = n_runs_of(&t->set);
	const size_t words = words_before(&t->set, t->set.columns.n);
	void *alive;

	SL_TRY(sl_memory_get(SL_HOST, words * sizeof(uint64_t), &t->input));
	SL_TRY(sl_memory_get(SL_HOST, n, &alive));
	make_runs(&t->set, (uint8_t *)alive, t->input);
	sl_memory_give(SL_HOST, alive);
	for (size_t i = n; i < words; i++)
		((uint64_t *)t->input)[i] = sl_mixed(i);
	return SL_OK;
}

/* --- a run ------------------------------------------------------------------------------------ */

static enum sl_status make(struct sl_trial *t)
{
	const struct sl_setting *set = &t->set;
	const struct sl_shape shape = {.n = n_runs_of(set),
		.n_out = set->n,
		.counts = set->form == SL_RUN_COUNTS,
		.type = set->type,
		.tuning = set->tuning,
		.scan = {.backend = set->scan},
		.n_columns = set->columns.n};

	SL_TRY(make_input(t));
	SL_TRY(sl_trial_block(t, shape.n, sl_type_bytes(set->type), set->off[0], t->input));
	SL_TRY(sl_trial_block(
		t, set->no_indices ? 0 : set->n, sizeof(uint32_t), set->off[1], NULL));
	for (uint32_t k = 0; k < set->columns.n; k++) {
		SL_TRY(sl_trial_block(
			t, shape.n, bytes_of(set, k), set->off[k % 2], column_of(t, k)));
		SL_TRY(sl_trial_block(t, set->n, bytes_of(set, k), set->off[k / 2 % 2], NULL));
	}
	return sl_trial_scratch(t, &shape);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
	struct sl_expand_job job = {.runs = t->block[RUNS].at,
		.out = t->set.no_indices ? NULL : (uint32_t *)t->block[OUT].at,
		.n = n_runs_of(&t->set),
		.n_out = t->set.n,
		.type = t->set.type,
		.form = t->set.form,
		.n_columns = t->set.columns.n,
		.column = column,
		.scan = {.backend = t->set.scan}};
	enum sl_status s;

	for (uint32_t k = 0; k < job.n_columns; k++)
		column[k] = (struct sl_compact_column){
			t->block[FROM + 2 * k].at, t->block[TO + 2 * k].at, bytes_of(&t->set, k)};
	s = sl_expand(t->backend, &x, &job);
	memset(column, 0xff, sizeof(column)); /* sl_expand() must not use it after it returns */
	return s;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The end of run i; the last one has no end. */
static uint64_t end_of(const struct sl_trial *t, uint32_t i, uint64_t sum)
{
	if (i + 1 == n_runs_of(&t->set))
		return UINT64_MAX;
	if (t->set.form == SL_RUN_COUNTS)
		return sum + sl_item(t->input, t->set.type, i);
	return sl_item(t->input, t->set.type, t->set.form == SL_RUN_STARTS ? i + 1 : i);
}

static enum sl_status right(const struct sl_trial *t)
{
	const uint32_t *out = (const uint32_t *)t->result[OUT];
	uint64_t end = 0;
	uint32_t next = 0;

	for (uint32_t j = 0; j < t->set.n; j++) {
		while (end <= j)
			end = end_of(t, next++, end);
		if (!t->set.no_indices && out[j] != next - 1)
			return sl_fail(SL_CHECK_FAILED, "slot %u is in run %u, not %u", j, out[j],
				next - 1);
		for (uint32_t k = 0; k < t->set.columns.n; k++) {
			size_t bytes = bytes_of(&t->set, k);

			if (memcmp((const char *)t->result[TO + 2 * k] + j * bytes,
				    (const char *)column_of(t, k) + (next - 1) * bytes, bytes))
				return sl_fail(SL_CHECK_FAILED,
					"column %u of %zu bytes: slot %u has not the item of run %u",
					k, bytes, j, next - 1);
		}
	}
	return SL_OK;
}

/* The runs and the slots; of columns, each item written, and read once per run. */
static uint64_t bytes_moved(const struct sl_trial *t)
{
	const uint64_t runs = n_runs_of(&t->set), n = t->set.n;
	uint64_t bytes = runs * sl_type_bytes(t->set.type);

	bytes += t->set.no_indices ? 0 : n * sizeof(uint32_t);
	for (uint32_t k = 0; k < t->set.columns.n; k++)
		bytes += n * bytes_of(&t->set, k);
	return bytes;
}

const struct sl_case sl_case_expand = {SL_EXPAND, describe, make, run, right, NULL, bytes_moved};
