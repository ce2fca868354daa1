/*
 * reference.c - compares batches with those of the first case.
 *
 * Only a manifest line per batch is kept, not the columns. If a line differs, the reference batch
 * is computed again and the first difference is searched in the order: fate counts, histograms,
 * number of survivors, columns.
 */
#include "pipeline/compare/compare.h"

#include <string.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/plan/plan.h"

enum { WHAT_BYTES = 160 };

enum sl_status sl_reference_open(const struct sl_comparison *c, struct sl_reference *r)
{
	memset(r, 0, sizeof(*r));
	SL_TRY(sl_case_plan(c, &c->cases[0], true, &r->plan, &r->w));
	SL_TRY(sl_host_get(c->n_batches, sizeof(*r->line), &r->line));
	/*
	 * The plan is for one batch. find_difference() may need any batch, so the recipe has all.
	 */
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

/* --- the first difference of two batches ------------------------------------------------------ */

static void describe_counts(
	const char *what, uint64_t found, uint64_t expected, char text[WHAT_BYTES])
{
	snprintf(text, WHAT_BYTES, "%s: %lu instead of %lu", what, found, expected);
}

/* Describes the first difference of the tallies; false if they are equal. */
static bool describe_tally(
	const struct sl_tally *found, const struct sl_tally *expected, char text[WHAT_BYTES])
{
	char what[64];

	const uint64_t *const is[] = {found->count, found->weight, found->square};
	const uint64_t *const should[] = {expected->count, expected->weight, expected->square};
	static const char *const names[] = {"particles", "weight", "squared weights"};

	for (int k = 0; k < 3 * SL_FATE_COUNT; k++) {
		int f = k / 3, sum = k % 3;

		if (is[sum][f] == should[sum][f])
			continue;
		snprintf(what, sizeof(what), "the tally, %s of fate %s", names[sum],
			sl_fate_facts[f].name);
		describe_counts(what, is[sum][f], should[sum][f], text);
		return true;
	}
	if (found->steps != expected->steps)
		describe_counts("the tally, steps", found->steps, expected->steps, text);
	else if (found->collisions != expected->collisions)
		describe_counts(
			"the tally, collisions", found->collisions, expected->collisions, text);
	else
		return false;
	return true;
}

/* The first of n items where two columns differ; n if all are equal. */
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

/* Describes the first index where a column differs, and that column; false if all are equal. */
static bool describe_table(
	const struct sl_table *found, const struct sl_table *expected, char text[WHAT_BYTES])
{
	uint32_t first = expected->n;

	for (uint32_t i = 0; i < expected->n_columns; i++) {
		const struct sl_table_column *c = &expected->column[i];
		uint32_t at = first_difference(c, &found->column[i], first);

		if (at < first)
			snprintf(text, WHAT_BYTES, "column %s, index %u",
				sl_table_name(expected, i), at);
		first = at;
	}
	return first < expected->n;
}

/* Describes the first histogram counter that differs, by its number; false if all are equal. */
static bool describe_bins(
	const struct sl_batch *found, const struct sl_batch *expected, char text[WHAT_BYTES])
{
	uint32_t i = 0;
	char what[64];

	while (i < expected->bin_words && found->bins[i] == expected->bins[i])
		i++;
	if (i == expected->bin_words)
		return false;
	snprintf(what, sizeof(what), "the histograms, counter %u", i);
	describe_counts(what, found->bins[i], expected->bins[i], text);
	return true;
}

static void describe(
	const struct sl_batch *found, const struct sl_batch *expected, char text[WHAT_BYTES])
{
	if (describe_tally(&found->tally, &expected->tally, text) ||
		describe_bins(found, expected, text))
		return;
	if (found->n_survivors != expected->n_survivors)
		describe_counts("survivors", found->n_survivors, expected->n_survivors, text);
	else if (!describe_table(&found->table, &expected->table, text))
		snprintf(text, WHAT_BYTES, "the digests differ, but the columns are equal");
}

/* Computes the batch again as the reference does, and records the first difference in the case. */
static void find_difference(
	struct sl_reference *r, struct sl_comparison_case *entry, const struct sl_batch *b)
{
	struct sl_host_slot *slot = &r->w->slot[0];
	char name[SL_CASE_BYTES], what[WHAT_BYTES];

	sl_batch_begin(&r->recipe, &slot->batch, b->number);
	if (sl_stages_run(&r->recipe, &slot->exec, &slot->batch, NULL) == SL_OK)
		describe(b, &slot->batch, what);
	else
		snprintf(what, sizeof(what),
			"the reference batch could not be computed again (%.100s)",
			sl_last_error());
	entry->answer = SL_ANSWER_DIFFERS;
	entry->status = SL_CHECK_FAILED;
	snprintf(entry->message, sizeof(entry->message),
		"%s: the result differs from the reference: batch %lu, %s",
		sl_case_text(entry, name), b->number, what);
}

/* --- comparing one batch ---------------------------------------------------------------------- */

static bool is_same(const struct sl_manifest_line *l, const struct sl_batch *b)
{
	struct sl_manifest_line found;

	sl_batch_file_line(b, &found);
	return memcmp(l, &found, sizeof(found)) == 0;
}

void sl_reference_check(
	struct sl_reference *r, struct sl_comparison_case *entry, const struct sl_batch *b)
{
	struct sl_manifest_line *l = &r->line[b->number];

	if (!r->recorded)
		sl_batch_file_line(b, l);
	else if (entry->answer != SL_ANSWER_DIFFERS && !is_same(l, b))
		find_difference(r, entry, b);
}
