/*
 * histograms.c - parses the items of tallies into histogram axes with their fates.
 *
 *	w:50                             a column in 50 bins, over the range that the model states
 *	z:40:0 cm..0.02 cm               over this range; a plain number is in the unit of the column
 *	z:40:0 cm..0.02 cm:absorbed      of these fates only, joined by +; all fates if omitted
 *	w:50:transmitted+reflected
 */
#include "pipeline/resolve/output/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/text/messages.h"

enum { BINS_EXAMPLE = 50 };

/* --- the parts -------------------------------------------------------------------------------- */

/* Resolves the column. An id is unique, so a histogram of it says nothing. */
static bool resolve_column(struct sl_reader *r, const struct sl_column_item *it,
	const struct sl_model *m, struct sl_derived *d, struct sl_histogram_axis *f)
{
	sl_column_set allowed = SL_STORED(m->columns);

	if (strcmp(it->column, "id") != 0)
		return sl_resolve_any_column(d, r, it->key, it->column, m, allowed, &f->column);
	return sl_config_add_problem(r, it->key,
		"'id' cannot be tallied: each particle has its own id; use another column");
}

/*
 * The range that the model states. For integers the upper end is raised until all bins contain
 * equally many values.
 */
static bool own_range(struct sl_reader *r, const struct sl_column_item *it,
	const struct sl_choices *choices, struct sl_histogram_axis *f)
{
	enum sl_unit unit = sl_column_unit(&choices->named, f->column);
	bool known = sl_column_range(choices, f->column, &f->lo, &f->hi);

	if (known && sl_column_facts[f->column].type != SL_TYPE_F32)
		f->hi = f->lo + f->bins * ceil((f->hi - f->lo + 1) / f->bins);
	if (known && !sl_histogram_problem(f))
		return true;
	return sl_column_item_needs_range(r, it, unit, f->bins, *sl_units[unit].text ? 1 : f->bins);
}

/* Refuses a named fate that no particle reaches: its histogram would be empty without a reason. */
static bool check_fates(
	struct sl_reader *r, const char *key, const struct sl_choices *choices, sl_fate_set fates)
{
	const struct sl_model *model = choices->model;
	sl_fate_set empty = model->weight_fates ? model->weight_fates(choices->rules.bytes) : 0;

	for (int i = 0; i < SL_FATE_COUNT; i++)
		if (SL_HAS(fates & empty, i))
			return sl_config_add_problem(r, key,
				"no particle ends as '%s' with these settings, only weight does, so "
				"its histogram would be empty; remove this fate",
				sl_fate_facts[i].name);
	return true;
}

bool sl_resolve_tally_fates(struct sl_reader *r, const char *key, char *names,
	const struct sl_choices *choices, bool ranges, sl_fate_set *set)
{
	bool named = names != NULL; /* the loop cuts the text */
	const char *word;
	enum sl_fate fate;

	*set = named ? 0 : sl_final_fates(choices);
	while ((word = strsep(&names, "+")))
		if (!sl_resolve_fate_once(r, key, word, choices, set, &fate))
			return false;
	return !ranges || !named || check_fates(r, key, choices, *set);
}

/* --- the items -------------------------------------------------------------------------------- */

/*
 * Resolves one item of tallies. The part after the count is a range if it contains "..", else
 * fates.
 */
static bool resolve_field(struct sl_reader *r, const struct sl_column_item *it,
	const struct sl_choices *choices, struct sl_derived *d, bool ranges,
	struct sl_histogram_axis *f)
{
	char *fates = it->rest;
	const char *range = fates && strstr(fates, "..") ? strsep(&fates, ":") : NULL;

	if (!resolve_column(r, it, choices->model, d, f) ||
		!sl_column_item_count(r, it, "bins", SL_HISTOGRAM_MOST, BINS_EXAMPLE, &f->bins) ||
		!sl_resolve_tally_fates(r, it->key, fates, choices, ranges, &f->fates))
		return false;
	if (range)
		return sl_column_item_range(r, it, range,
			       sl_column_unit(&choices->named, f->column), &f->lo, &f->hi) &&
		       sl_column_item_check(r, it, range, sl_histogram_problem(f));
	return !ranges || own_range(r, it, choices, f);
}

/* Checks the number of histograms and their counters: a GPU accumulates them in shared memory. */
static void refuse_too_many(
	struct sl_reader *r, const struct sl_choices *choices, uint32_t items, bool weighted)
{
	uint32_t counters = sl_histogram_counters(choices->histogram, choices->n_histograms);
	uint32_t most = sl_histogram_counters_most(weighted);

	if (items > SL_HISTOGRAMS_MAX)
		sl_config_add_problem(r, "tallies",
			"has %u items, at most %d are allowed; remove some", items,
			SL_HISTOGRAMS_MAX);
	else if (counters > most)
		sl_config_add_problem(r, "tallies",
			"needs %u counters (bins + 2 per fate), but at most %u fit in the shared "
			"memory of a GPU%s; use fewer bins or fates",
			counters, most, weighted ? " together with the sums of weights" : "");
}

/* Splits an item; false after adding a problem for one that is too long. */
static bool split(struct sl_reader *r, const char *item, uint32_t k, struct sl_column_item *it)
{
	char shown[SL_SHOWN_BYTES];

	sl_column_item_split("tallies", item, k, it);
	if (strlen(item) < SL_WORD_BYTES)
		return true;
	return sl_config_add_problem(r, it->key,
		"%s is too long: %zu bytes, at most %d are allowed; shorten it",
		sl_show(shown, item), strlen(item), SL_WORD_BYTES - 1);
}

bool sl_is_grid_item(const char *item)
{
	return item[0] == '[';
}

void sl_resolve_histograms(const struct sl_config *c, struct sl_reader *r,
	struct sl_choices *choices, struct sl_derived *d, bool ranges)
{
	uint32_t items = 0;

	for (uint32_t k = 0; k < c->tallies.n; k++) {
		struct sl_histogram_axis f = {.bins = 0};
		struct sl_column_item it;

		if (sl_is_grid_item(c->tallies.at[k]))
			continue;
		items++;
		if (split(r, c->tallies.at[k], k, &it) &&
			resolve_field(r, &it, choices, d, ranges, &f) &&
			choices->n_histograms < SL_HISTOGRAMS_MAX)
			choices->histogram[choices->n_histograms++] = f;
	}
	if (ranges) {
		struct sl_particle values;
		sl_column_set constants = choices->model->constants(choices->rules.bytes, &values);

		refuse_too_many(r, choices, items, !SL_HAS(constants, SL_COLUMN_weight));
	}
}
