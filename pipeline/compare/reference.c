/* reference.c - batches are held against those of the first row. */
#include "pipeline/compare/case_plan.h"
#include "pipeline/compare/cases.h"
#include "pipeline/compare/reference.h"

#include <string.h>

#include "pipeline/plan/memory.h"
#include "pipeline/run/batch_file.h"

enum { WHAT_BYTES = 160 };

enum sl_status sl_reference_open(const struct sl_comparison *c, struct sl_reference *r)
{
	void *lines;

	memset(r, 0, sizeof(*r));
	SL_TRY(sl_case_plan(c, &c->row[0], true, &r->plan, &r->w));
	SL_TRY(sl_memory_get(SL_HOST, sl_size_mul(c->n_batches, sizeof(*r->line)), &lines));
	r->line = (struct sl_manifest_line *)lines;
	/* the plan is of one batch; find_difference() computes any */
	r->recipe = r->plan->recipe;
	r->recipe.particles = c->particles;
	r->recipe.n_batches = c->n_batches;
	return SL_OK;
}

void sl_reference_close(struct sl_reference *r)
{
	sl_workspace_close(r->w);
	sl_plan_free(r->plan);
	sl_memory_give(SL_HOST, r->line);
}

/* --- where two batches differ ----------------------------------------------------------------- */

/* Two numbers that should be one. */
static void tell_counts(const char *what, uint64_t found, uint64_t expected, char text[WHAT_BYTES])
{
	snprintf(text, WHAT_BYTES, "%s: %llu and not %llu", what, (unsigned long long)found,
		(unsigned long long)expected);
}

/* Where the tallies differ; false if nowhere. */
static bool describe_tally(
	const struct sl_tally *found, const struct sl_tally *expected, char text[WHAT_BYTES])
{
	char what[64];

	for (int f = 0; f < SL_FATE_COUNT; f++) {
		bool counts = found->count[f] != expected->count[f];

		if (!counts && found->weight[f] == expected->weight[f])
			continue;
		snprintf(what, sizeof(what), "the tally, %s of fate %s",
			counts ? "particles" : "weight", sl_fate_facts[f].name);
		tell_counts(what, counts ? found->count[f] : found->weight[f],
			counts ? expected->count[f] : expected->weight[f], text);
		return true;
	}
	if (found->steps != expected->steps)
		tell_counts("the tally, steps", found->steps, expected->steps, text);
	else if (found->collisions != expected->collisions)
		tell_counts("the tally, collisions", found->collisions, expected->collisions, text);
	else
		return false;
	return true;
}

/* The first of n rows where two columns differ; n if they are the same. */
static uint32_t first_difference(
	const struct sl_table_column *a, const struct sl_table_column *b, uint32_t n)
{
	size_t item = sl_column_facts[a->column].bytes;
	uint32_t i = 0;

	if (a->constant)
		return n;
	while (i < n && memcmp((const char *)a->data + i * item, (const char *)b->data + i * item,
				item) == 0)
		i++;
	return i;
}

/* The first row that differs in any column, and that column; false if none does. */
static bool describe_table(
	const struct sl_table *found, const struct sl_table *expected, char text[WHAT_BYTES])
{
	uint32_t first = expected->n;

	for (uint32_t i = 0; i < expected->n_columns; i++) {
		const struct sl_table_column *c = &expected->column[i];
		uint32_t at = first_difference(c, &found->column[i], first);

		if (at < first)
			snprintf(text, WHAT_BYTES, "column %s, index %u",
				sl_column_facts[c->column].name, at);
		first = at;
	}
	return first < expected->n;
}

/* The first sum of tallies by bins that differs, by the number of its counter. */
static bool describe_bins(
	const struct sl_batch *found, const struct sl_batch *expected, char text[WHAT_BYTES])
{
	uint32_t i = 0;
	char what[64];

	while (i < expected->bin_words && found->bins[i] == expected->bins[i])
		i++;
	if (i == expected->bin_words)
		return false;
	snprintf(what, sizeof(what), "the tallies by bins, sum %u", i);
	tell_counts(what, found->bins[i], expected->bins[i], text);
	return true;
}

static void describe(
	const struct sl_batch *found, const struct sl_batch *expected, char text[WHAT_BYTES])
{
	if (describe_tally(&found->tally, &expected->tally, text) ||
		describe_bins(found, expected, text))
		return;
	if (found->n_survivors != expected->n_survivors)
		tell_counts("survivors", found->n_survivors, expected->n_survivors, text);
	else if (!describe_table(&found->table, &expected->table, text))
		snprintf(text, WHAT_BYTES, "the digests, of columns that are the same");
}

/* Makes the batch again as the first row does, and tells the first place that is not the same. */
static void find_difference(
	struct sl_reference *r, struct sl_comparison_case *row, const struct sl_batch *b)
{
	struct sl_host_slot *slot = &r->w->slot[0];
	char name[SL_CASE_BYTES], what[WHAT_BYTES];

	sl_batch_begin(&r->recipe, &slot->batch, b->number);
	if (sl_stages_run(&r->recipe, &slot->exec, &slot->batch, NULL) == SL_OK)
		describe(b, &slot->batch, what);
	else
		snprintf(what, sizeof(what), "where cannot be told (%.100s)", sl_last_error());
	row->answer = SL_ANSWER_DIFFERS;
	row->status = SL_CHECK_FAILED;
	snprintf(row->message, sizeof(row->message),
		"%s: the answer is not the reference's: batch %llu, %s", sl_case_text(row, name),
		(unsigned long long)b->number, what);
}

/* --- a look ----------------------------------------------------------------------------------- */

static bool is_same(const struct sl_manifest_line *l, const struct sl_batch *b)
{
	struct sl_manifest_line found;

	sl_batch_file_line(b, &found);
	return memcmp(l, &found, sizeof(found)) == 0;
}

void sl_reference_check(
	struct sl_reference *r, struct sl_comparison_case *row, const struct sl_batch *b)
{
	struct sl_manifest_line *l = &r->line[b->number];

	if (!r->knows)
		sl_batch_file_line(b, l);
	else if (row->answer != SL_ANSWER_DIFFERS && !is_same(l, b))
		find_difference(r, row, b);
}
