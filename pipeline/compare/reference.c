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

/* Each function describes the first difference (sl_message_part()); NULL if there is none. */

static const char *describe_counts(const char *what, uint64_t found, uint64_t expected)
{
	return found == expected ? NULL : sl_said("%s: %lu instead of %lu", what, found, expected);
}

static const char *describe_tally(const struct sl_tally *found, const struct sl_tally *expected)
{
	const uint64_t *const is[] = {found->count, found->weight, found->square};
	const uint64_t *const should[] = {expected->count, expected->weight, expected->square};
	static const char *const names[] = {"particles", "weight", "squared weights"};
	const char *text;

	for (int k = 0; k < 3 * SL_FATE_COUNT; k++) {
		int f = k / 3, sum = k % 3;

		if (is[sum][f] != should[sum][f])
			return describe_counts(sl_said("the tally, %s of fate %s", names[sum],
						       sl_fate_facts[f].name),
				is[sum][f], should[sum][f]);
	}
	text = describe_counts("the tally, steps", found->steps, expected->steps);
	return text ? text
	            : describe_counts(
			      "the tally, collisions", found->collisions, expected->collisions);
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

/* The column that differs at the first index. */
static const char *describe_table(const struct sl_table *found, const struct sl_table *expected)
{
	uint32_t first = expected->n;
	const char *text = NULL;

	for (uint32_t i = 0; i < expected->n_columns; i++) {
		const struct sl_table_column *c = &expected->column[i];
		uint32_t at = first_difference(c, &found->column[i], first);

		if (at < first)
			text = sl_said("column %s, index %u", sl_table_name(expected, i), at);
		first = at;
	}
	return text;
}

static const char *describe_bins(const struct sl_batch *found, const struct sl_batch *expected)
{
	uint32_t i = 0;

	while (i < expected->bin_words && found->bins[i] == expected->bins[i])
		i++;
	return i == expected->bin_words ? NULL
	                                : describe_counts(sl_said("the histograms, counter %u", i),
						  found->bins[i], expected->bins[i]);
}

static const char *describe(const struct sl_batch *found, const struct sl_batch *expected)
{
	const char *text = describe_tally(&found->tally, &expected->tally);

	if (!text)
		text = describe_bins(found, expected);
	if (!text)
		text = describe_counts("survivors", found->n_survivors, expected->n_survivors);
	if (!text)
		text = describe_table(&found->table, &expected->table);
	return text ? text : "the digests differ, but the columns are equal";
}

/* Computes the batch again as the reference does, and records the first difference in the case. */
static void find_difference(struct sl_reference *r, const struct sl_batch *b)
{
	struct sl_comparison_case *entry = r->entry;
	struct sl_host_slot *slot = &r->w->slot[0];
	const char *what;

	sl_batch_begin(&r->recipe, &slot->batch, b->number);
	if (sl_stages_run(&r->recipe, &slot->exec, &slot->batch, NULL) == SL_OK)
		what = describe(b, &slot->batch);
	else
		what = sl_said("the reference batch could not be computed again (%.100s)",
			sl_last_error());
	entry->answer = SL_ANSWER_DIFFERS;
	entry->status = SL_CHECK_FAILED;
	snprintf(entry->message, sizeof(entry->message),
		"%s: the result differs from the reference: batch %lu, %s", sl_case_text(entry),
		b->number, what);
}

/* --- comparing one batch ---------------------------------------------------------------------- */

static bool is_same(const struct sl_manifest_line *l, const struct sl_batch *b)
{
	struct sl_manifest_line found;

	sl_batch_file_line(b, &found);
	return memcmp(l, &found, sizeof(found)) == 0;
}

void sl_reference_check(struct sl_reference *r, const struct sl_batch *b)
{
	struct sl_manifest_line *l = &r->line[b->number];

	if (!r->recorded)
		sl_batch_file_line(b, l);
	else if (r->entry->answer != SL_ANSWER_DIFFERS && !is_same(l, b))
		find_difference(r, b);
}
