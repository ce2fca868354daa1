/*
 * histograms.c - parses the items of tallies into histogram axes with their fates.
 *
 *	w:50                             a column in 50 bins, over the range that the model states
 *	z:40:0 cm..0.02 cm               over this range; a plain number is in the unit of the column
 *	z:40:0 cm..0.02 cm:absorbed      of these fates only, joined by +; all fates if omitted
 *	w:50:transmitted+reflected
 */
#include "pipeline/resolve/output/histograms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/choices/names.h"
#include "pipeline/resolve/choices/range.h"
#include "pipeline/text/messages.h"

enum { ITEM_BYTES = 24, BINS_EXAMPLE = 50 };

/* The parts of an item. */
struct item {
	char key[ITEM_BYTES]; /* "tallies[2]", for messages */
	char text[SL_WORD_BYTES];
	const char *column, *bins, *range, *fates; /* point into text; NULL if omitted */
};

/* Ends text at its first colon and returns the rest; NULL without a colon. */
static char *cut(char *text)
{
	char *colon = text ? strchr(text, ':') : NULL;

	if (!colon)
		return NULL;
	*colon = '\0';
	return colon + 1;
}

/* Splits item k at its colons. The parts point into *it, which must not be moved. */
static void split(const struct sl_texts *list, uint32_t k, struct item *it)
{
	char *rest;

	memset(it, 0, sizeof(*it));
	snprintf(it->key, sizeof(it->key), "tallies[%u]", k);
	memcpy(it->text, list->at[k], sizeof(it->text));
	it->column = it->text;
	rest = cut(it->text);
	it->bins = rest;
	rest = cut(rest);
	if (rest && strstr(rest, "..")) {
		it->range = rest;
		rest = cut(rest);
	}
	it->fates = rest;
}

/* --- the parts -------------------------------------------------------------------------------- */

static bool resolve_column(struct sl_reader *r, const struct item *it, const struct sl_model *m,
	struct sl_histogram_axis *f)
{
	uint32_t allowed = SL_STORED(m->columns);

	if (strcmp(it->column, "id") != 0)
		return sl_resolve_column(r, it->key, it->column, m, allowed, &f->column);
	sl_config_add_problem(r, it->key,
		"'id' cannot be tallied: each particle has its own; use another column");
	return false;
}

static bool resolve_bins(struct sl_reader *r, const struct item *it, struct sl_histogram_axis *f)
{
	char why[SL_WHY_BYTES];
	uint64_t bins;

	if (!it->bins) {
		sl_config_add_problem(r, it->key, "'%s' lacks the number of bins; write %s:%d",
			it->column, it->column, BINS_EXAMPLE);
		return false;
	}
	if (!sl_count_parse(it->bins, &bins, why) || bins < 1 || bins > SL_HISTOGRAM_MOST) {
		sl_config_add_problem(r, it->key,
			"'%s' is not a number of bins from 1 to %d; write %s:%d", it->bins,
			SL_HISTOGRAM_MOST, it->column, BINS_EXAMPLE);
		return false;
	}
	f->bins = (uint32_t)bins;
	return true;
}

static bool stated_range(struct sl_reader *r, const struct item *it, struct sl_histogram_axis *f)
{
	char why[SL_WHY_BYTES];
	const char *problem;

	if (!sl_range_parse(it->range, f->column, &f->lo, &f->hi, why)) {
		sl_config_add_problem(r, it->key, "range: %s", why);
		return false;
	}
	problem = sl_histogram_problem(f);
	if (problem)
		sl_config_add_problem(
			r, it->key, "the range '%s' %s; use another range", it->range, problem);
	return !problem;
}

/*
 * The range that the model states. For integers the upper end is raised until all bins contain equally
 * many values.
 */
static bool own_range(struct sl_reader *r, const struct item *it, const struct sl_choices *choices,
	struct sl_histogram_axis *f)
{
	const char *unit = sl_units[sl_column_facts[f->column].unit].text;
	bool known = choices->model->range(choices->rules.bytes, f->column, &f->lo, &f->hi);

	if (known && sl_column_facts[f->column].type != SL_TYPE_F32)
		f->hi = f->lo + f->bins * ceil((f->hi - f->lo + 1) / f->bins);
	if (known && !sl_histogram_problem(f))
		return true;
	sl_config_add_problem(r, it->key,
		"'%s' needs a range, because this model states none for it; write "
		"%s:%u:0%s%s..%u%s%s",
		it->column, it->column, f->bins, *unit ? " " : "", unit, *unit ? 1 : f->bins,
		*unit ? " " : "", unit);
	return false;
}

/* Resolves the fates joined by +; each must be named once. */
static bool resolve_fates(struct sl_reader *r, const struct item *it,
	const struct sl_choices *choices, struct sl_histogram_axis *f)
{
	char words[SL_WORD_BYTES], *word = words;

	f->fates = it->fates ? 0 : sl_final_fates(choices);
	snprintf(words, sizeof(words), "%s", it->fates ? it->fates : "");
	while (it->fates && word) {
		char *plus = strchr(word, '+');
		enum sl_fate fate;

		if (plus)
			*plus++ = '\0';
		if (!sl_resolve_fate(r, it->key, word, choices, &fate))
			return false;
		if (SL_HAS(f->fates, fate)) {
			sl_config_add_problem(r, it->key, "'%s' is repeated; remove it", word);
			return false;
		}
		f->fates |= SL_FATE_BIT(fate);
		word = plus;
	}
	return true;
}

/* --- the items -------------------------------------------------------------------------------- */

static bool resolve_field(struct sl_reader *r, const struct item *it,
	const struct sl_choices *choices, bool ranges, struct sl_histogram_axis *f)
{
	if (!resolve_column(r, it, choices->model, f) || !resolve_bins(r, it, f) ||
		!resolve_fates(r, it, choices, f))
		return false;
	if (it->range)
		return stated_range(r, it, f);
	return !ranges || own_range(r, it, choices, f);
}

static void refuse_too_many(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, bool weighted)
{
	uint32_t counters = sl_histogram_counters(choices->tally, choices->n_histograms);
	uint32_t most = SL_HISTOGRAM_SHARED / sl_histogram_shared(1, weighted);

	if (c->tallies.n > SL_HISTOGRAMS_MAX)
		sl_config_add_problem(r, "tallies",
			"has %u items, at most %d are allowed; remove some", c->tallies.n,
			SL_HISTOGRAMS_MAX);
	else if (counters > most)
		sl_config_add_problem(r, "tallies",
			"needs %u counters (bins + 2 per fate), but at most %u fit in the shared "
			"memory of a GPU%s; use fewer bins or fates",
			counters, most, weighted ? " together with the sums of weights" : "");
}

void sl_resolve_histograms(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges)
{
	for (uint32_t k = 0; k < c->tallies.n; k++) {
		struct sl_histogram_axis f = {.bins = 0};
		struct item it;

		split(&c->tallies, k, &it);
		if (resolve_field(r, &it, choices, ranges, &f) &&
			choices->n_histograms < SL_HISTOGRAMS_MAX)
			choices->tally[choices->n_histograms++] = f;
	}
	if (ranges) {
		struct sl_particle values;
		uint32_t constants = choices->model->constants(choices->rules.bytes, &values);

		refuse_too_many(c, r, choices, !SL_HAS(constants, SL_COLUMN_weight));
	}
}
