/* tallies.c - see output.h. */
#include "pipeline/resolve/output/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/text/text.h"

enum {
	BINS_EXAMPLE = 50,
	BINS_MOST = SL_GRID_COUNTERS_MAX - SL_GRID_OUTSIDE,
	BINS_MOST_PLAIN = SL_GRID_LISTED_MAX /* without brackets: run.json has all of them */
};

/* --- an axis ---------------------------------------------------------------------------------- */

/*
 * Resolves the column of a score. Scores know the place and the time of a collision, of a path or
 * of the crossing of a plane, and make r of it. On a plane the direction is known too, and z is the
 * same for all.
 */
static bool resolve_score_column(struct sl_reader *r, const struct sl_column_item *it,
	enum sl_score score, struct sl_grid_axis *a)
{
	const sl_column_set place = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) |
	                            SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_r);
	const sl_column_set direction =
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w);
	bool plane = score == SL_SCORE_CROSSING;
	sl_column_set known = place | (plane ? direction : SL_BIT(SL_COLUMN_z));

	a->column = sl_column_named(it->column);
	if (a->column < SL_COLUMN_COUNT && SL_HAS(known, a->column))
		return true;
	return sl_config_add_problem(r, it->key,
		plane ? "'%s' is no place, time or direction on a plane; use x, y, r, time, u, v or w"
		      : "'%s' is no place or time of a collision or path; use x, y, z, r or time",
		it->column);
}

/*
 * Resolves the column: of a score, or of particles at their ends. An id is unique, so a tally of it
 * says nothing.
 */
static bool resolve_column(struct sl_reader *r, const struct sl_column_item *it,
	const struct sl_model *m, struct sl_derived *d, enum sl_score score, struct sl_grid_axis *a)
{
	if (score != SL_SCORE_ENDS)
		return resolve_score_column(r, it, score, a);
	if (strcmp(it->column, "id") != 0)
		return sl_resolve_any_column(
			d, r, it->key, it->column, m, SL_STORED(m->columns), &a->column);
	return sl_config_add_problem(r, it->key,
		"'id' cannot be tallied: each particle has its own id; use another column");
}

/*
 * The range that the model states. For integers the upper end is raised until all bins contain
 * equally many values.
 */
static bool own_range(struct sl_reader *r, const struct sl_column_item *it,
	const struct sl_choices *choices, struct sl_grid_axis *a)
{
	enum sl_unit unit = sl_column_unit(&choices->named, a->column);
	bool known = sl_column_range(choices, a->column, &a->lo, &a->hi);

	if (known && sl_column_facts[a->column].type != SL_TYPE_F32)
		a->hi = a->lo + a->bins * ceil((a->hi - a->lo + 1) / a->bins);
	if (known && !sl_grid_axis_problem(a, choices->grid_edge))
		return true;
	return sl_column_item_needs_range(r, it, unit, a->bins, *sl_units[unit].text ? 1 : a->bins);
}

/* Reads one edge; *unit: it has a unit, otherwise it is in the unit of the column. 0 fits both. */
static bool parse_edge(const char *text, enum sl_dimension dimension, double *value, int *unit,
	char why[SL_WHY_BYTES])
{
	int has_unit = !sl_real_parse(text, SL_DIM_NUMBER, value, why);

	if (has_unit && !sl_real_parse(text, dimension, value, why))
		return false;
	if (*value == 0)
		return true;
	if (*unit >= 0 && *unit != has_unit)
		return sl_refuse(why,
			"'%s' differs from the edge before it in having a unit; give "
			"all edges a unit, or none",
			text);
	*unit = has_unit;
	return true;
}

/* Reads given edges, E0..E1..E2, into the pool of *choices. Cuts text. */
static bool read_edges(struct sl_reader *r, const struct sl_column_item *it, char *text,
	struct sl_choices *choices, struct sl_grid_axis *a)
{
	char why[SL_WHY_BYTES];
	int unit = -1;

	a->spacing = SL_SPACING_EDGES;
	a->first_edge = choices->n_grid_edges;
	for (char *next = text; next; text = next) {
		double *edge = &choices->grid_edge[choices->n_grid_edges];

		next = strstr(text, "..");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (choices->n_grid_edges == SL_GRID_EDGES_MAX)
			return sl_config_add_problem(r, it->key,
				"tallies have more than %d given edges; use fewer",
				SL_GRID_EDGES_MAX);
		if (!parse_edge(text,
			    sl_units[sl_column_unit(&choices->named, a->column)].dimension, edge,
			    &unit, why))
			return sl_config_add_problem(r, it->key, "edges: %s", why);
		choices->n_grid_edges++;
	}
	a->bins = choices->n_grid_edges - a->first_edge - 1;
	a->lo = choices->grid_edge[a->first_edge];
	a->hi = choices->grid_edge[a->first_edge + a->bins];
	return true;
}

/* Adds what is wrong with an axis, whose range is given by the text. */
static bool check_axis(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	const struct sl_choices *choices, const struct sl_grid_axis *a)
{
	return sl_column_item_check(r, it, range, sl_grid_axis_problem(a, choices->grid_edge));
}

/* Reads LO..HI; NULL stands for the range that the model states. */
static bool read_range(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	const struct sl_choices *choices, bool ranges, struct sl_grid_axis *a)
{
	if (!range)
		return !ranges || own_range(r, it, choices, a);
	return sl_column_item_range(
		       r, it, range, sl_column_unit(&choices->named, a->column), &a->lo, &a->hi) &&
	       check_axis(r, it, range, choices, a);
}

/* Reads BINS[:LO..HI[:log]]. */
static bool read_bins(struct sl_reader *r, const struct sl_column_item *it,
	struct sl_choices *choices, bool ranges, struct sl_grid_axis *a)
{
	char *spacing = it->rest;
	const char *range = strsep(&spacing, ":");

	if (!sl_column_item_count(r, it, "bins", BINS_MOST, BINS_EXAMPLE, &a->bins))
		return false;
	if (spacing && strcmp(spacing, "log") != 0)
		return sl_config_add_problem(r, it->key,
			"'%s' follows a range: only log, for bins of equal ratio, can; name fates in "
			"a separate element, such as [%s:%u, absorbed]",
			spacing, it->column, a->bins);
	a->spacing = spacing ? SL_SPACING_RATIO : SL_SPACING_EVEN;
	return read_range(r, it, range, choices, ranges, a);
}

/* Resolves one axis. Cuts text. */
static bool resolve_axis(struct sl_reader *r, const char *key, char *text,
	struct sl_choices *choices, struct sl_derived *d, bool ranges, enum sl_score score,
	struct sl_grid_axis *a)
{
	struct sl_column_item it = {.rest = text};
	char shown[SL_TEXT_BYTES];

	snprintf(it.key, sizeof(it.key), "%s", key);
	it.column = strsep(&it.rest, ":");
	if (!resolve_column(r, &it, choices->model, d, score, a))
		return false;
	if (it.rest && strstr(it.rest, "..") && !strchr(it.rest, ':')) {
		snprintf(shown, sizeof(shown), "%s", it.rest);
		return read_edges(r, &it, it.rest, choices, a) &&
		       check_axis(r, &it, shown, choices, a);
	}
	it.count = strsep(&it.rest, ":");
	return read_bins(r, &it, choices, ranges, a);
}

/* --- fates ------------------------------------------------------------------------------------ */

/* Refuses a named fate that no particle reaches: its tally would be empty without a reason. */
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

/* Resolves fates joined by +, each named once. Cuts names; NULL stands for all fates. */
static bool resolve_fates(struct sl_reader *r, const char *key, char *names,
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

/* --- an item ---------------------------------------------------------------------------------- */

/*
 * Resolves an item without brackets. The part after the number of bins is a range if it contains
 * "..", else fates.
 */
static bool resolve_plain(struct sl_reader *r, struct sl_column_item *it,
	const struct sl_choices *choices, struct sl_derived *d, bool ranges,
	struct sl_grid_field *f)
{
	char *fates = it->rest;
	const char *range = fates && strstr(fates, "..") ? strsep(&fates, ":") : NULL;

	f->n_axes = 1;
	return resolve_column(r, it, choices->model, d, SL_SCORE_ENDS, &f->axis[0]) &&
	       sl_column_item_count(
		       r, it, "bins", BINS_MOST_PLAIN, BINS_EXAMPLE, &f->axis[0].bins) &&
	       resolve_fates(r, it->key, fates, choices, ranges, &f->fates) &&
	       read_range(r, it, range, choices, ranges, &f->axis[0]);
}

/* Cuts the next element of a list off *rest, without the blanks around it. */
static char *next_element(char **rest)
{
	char *element = strsep(rest, ",");
	size_t n;

	if (!element)
		return NULL;
	element += strspn(element, " ");
	n = strlen(element);
	while (n > 0 && element[n - 1] == ' ')
		element[--n] = '\0';
	return element;
}

/* Adds an axis to a grid. Each column can be on one axis only. */
static bool add_axis(struct sl_reader *r, const char *key, char *element,
	struct sl_choices *choices, struct sl_derived *d, bool ranges, struct sl_grid_field *f)
{
	struct sl_grid_axis *a = &f->axis[f->n_axes];

	if (f->n_axes == SL_GRID_AXES_MAX)
		return sl_config_add_problem(
			r, key, "has more than %d axes; use several grids", SL_GRID_AXES_MAX);
	if (!resolve_axis(r, key, element, choices, d, ranges, f->score, a))
		return false;
	for (uint32_t k = 0; k < f->n_axes; k++)
		if (f->axis[k].column == a->column)
			return sl_config_add_problem(r, key, "'%s' is repeated; remove it",
				sl_column_name(&choices->named, a->column));
	f->n_axes++;
	return true;
}

/* The element that stands for the voxels of the model. */
static const char voxel[] = "voxel";

/* Adds the axes x, y and z of a grid whose cells are the voxels of the model. */
static bool add_voxels(struct sl_reader *r, const char *key, const struct sl_choices *choices,
	bool ranges, struct sl_grid_field *f)
{
	uint32_t n[3] = {1, 1, 1};
	double edge[3] = {1, 1, 1};

	if (!choices->model->voxels)
		return sl_config_add_problem(r, key,
			"'%s' stands for the voxels of a volume, which model %s does not have; name axes, "
			"such as x:50",
			voxel, choices->model->name);
	if (f->n_axes > 0)
		return sl_config_add_problem(r, key,
			"'%s' stands for the axes x, y and z; write it before a time axis, and no other",
			voxel);
	if (ranges)
		choices->model->voxels(choices->rules.bytes, n, edge);
	f->axis[0].column = SL_COLUMN_x;
	f->axis[1].column = SL_COLUMN_y;
	f->axis[2].column = SL_COLUMN_z;
	for (; f->n_axes < 3; f->n_axes++) {
		f->axis[f->n_axes].bins = n[f->n_axes];
		f->axis[f->n_axes].hi = n[f->n_axes] * edge[f->n_axes];
	}
	return true;
}

/* Resolves an item, "[axis, axis, fates]". The first element can name a score, the last one the
 * fates. */
static bool resolve_grid(struct sl_reader *r, const char *key, char *item,
	struct sl_choices *choices, struct sl_derived *d, bool ranges, struct sl_grid_field *f)
{
	size_t n = strlen(item);
	char *rest = item + 1, *element, *fates = NULL, *score = NULL;

	if (item[n - 1] != ']')
		return sl_config_add_problem(r, key, "has no ] at its end; add it");
	item[n - 1] = '\0';
	while ((element = next_element(&rest))) {
		if (fates)
			return sl_config_add_problem(r, key,
				"'%s' follows the fates, which must be last; move it", element);
		if (!score && f->n_axes == 0 && sl_score_named(element)) {
			score = element;
			f->score = sl_score_named(element);
			if (f->score == SL_SCORE_CROSSING &&
				!sl_score_read_plane(r, key, element, choices, ranges, f))
				return false;
		} else if (strcmp(element, voxel) == 0) {
			if (!add_voxels(r, key, choices, ranges, f))
				return false;
		} else if (f->n_axes == 0 && !score && sl_score_is_wrong(d, element))
			return sl_config_add_problem(r, key,
				"'%s' is not a score; use %s, %s, %s or %s:DEPTH, or begin with an "
				"axis, COLUMN:BINS",
				element, sl_score_names[SL_SCORE_DEPOSIT],
				sl_score_names[SL_SCORE_FLUENCE], sl_score_names[SL_SCORE_TRACK],
				sl_score_names[SL_SCORE_CROSSING]);
		else if (!strchr(element, ':') && f->n_axes > 0)
			fates = element;
		else if (!add_axis(r, key, element, choices, d, ranges, f))
			return false;
	}
	if (score && fates)
		return sl_config_add_problem(r, key,
			"'%s' counts all particles, so that '%s' has no effect; remove it", score,
			fates);
	if (score)
		return sl_score_check(r, key, choices, ranges, f);
	return resolve_fates(r, key, fates, choices, ranges, &f->fates);
}

/* Resolves item k. */
static bool resolve_item(struct sl_reader *r, const char *text, uint32_t k,
	struct sl_choices *choices, struct sl_derived *d, bool ranges, struct sl_grid_field *f)
{
	char item[SL_TEXT_BYTES], shown[SL_SHOWN_BYTES];
	struct sl_column_item it;

	sl_column_item_split("tallies", text, k, &it);
	snprintf(item, sizeof(item), "%s", text);
	if (f->bracketed)
		return resolve_grid(r, it.key, item, choices, d, ranges, f);
	if (strlen(text) < SL_WORD_BYTES)
		return resolve_plain(r, &it, choices, d, ranges, f);
	return sl_config_add_problem(r, it.key,
		"%s is too long: %zu bytes, at most %d are allowed; shorten it",
		sl_show(shown, text), strlen(text), SL_WORD_BYTES - 1);
}

/* Checks the number of tallies and of their counters. */
static void refuse_too_many(struct sl_reader *r, const struct sl_choices *choices, uint32_t items)
{
	const uint64_t most = UINT64_MAX / SL_GRIDS_MAX;
	uint64_t counters = 0;

	for (uint32_t k = 0; k < choices->n_grids; k++) {
		uint64_t n = sl_grid_counters(&choices->grid[k]);

		counters += n < most ? n : most;
	}
	if (items > SL_GRIDS_MAX)
		sl_config_add_problem(r, "tallies",
			"has %u items, at most %d are allowed; remove some", items, SL_GRIDS_MAX);
	else if (counters > SL_GRID_COUNTERS_MAX)
		sl_config_add_problem(r, "tallies",
			"needs %.10g counters (cells + 2 per fate), but at most %d are allowed; use "
			"fewer bins or fates",
			(double)counters, SL_GRID_COUNTERS_MAX);
}

void sl_resolve_tallies(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	struct sl_derived *d, bool ranges)
{
	for (int bracketed = 0; bracketed < 2; bracketed++)
		for (uint32_t k = 0; k < c->tallies.n; k++) {
			struct sl_grid_field f = {.bracketed = bracketed};

			if ((c->tallies.at[k][0] == '[') == bracketed &&
				resolve_item(r, c->tallies.at[k], k, choices, d, ranges, &f) &&
				choices->n_grids < SL_GRIDS_MAX)
				choices->grid[choices->n_grids++] = f;
		}
	if (ranges)
		refuse_too_many(r, choices, (uint32_t)c->tallies.n);
}
