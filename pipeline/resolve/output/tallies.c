/* tallies.c - see output.h. */
#include "pipeline/resolve/output/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	BINS_EXAMPLE = 50,
	BINS_MOST = SL_GRID_COUNTERS_MAX - SL_GRID_OUTSIDE,
	BINS_MOST_PLAIN = SL_GRID_LISTED_MAX /* without brackets: run.json has all of them */
};

/* --- an axis ---------------------------------------------------------------------------------- */

/*
 * Resolves the column of a score. Steps of a filter have the columns of the model. Scores know the
 * place and the time of a collision, of a path or of the crossing of a plane, and make r of it. On
 * a plane the direction is known too, and z is the same for all.
 */
static bool resolve_score_column(struct sl_resolver *v, const struct sl_column_item *it,
	enum sl_score score, struct sl_grid_axis *a)
{
	const sl_column_set place = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) |
	                            SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_r);
	const sl_column_set direction =
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w);
	bool plane = score == SL_SCORE_CROSSING;
	const bool steps = score == SL_SCORE_EACH_STEP;
	const sl_column_set of_model =
		v->to->model->columns & ~(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_fate));
	sl_column_set known = steps ? of_model : place | (plane ? direction : SL_BIT(SL_COLUMN_z));

	a->column = sl_column_named(it->column);
	if (a->column < SL_COLUMN_COUNT && SL_HAS(known, a->column))
		return true;
	return sl_config_add_problem(v->r, it->key,
		steps ? "'%s' is no column of a particle during its steps; use steps or state_1"
		: plane ? "'%s' is no place, time or direction on a plane; use x, y, r, time, u, v or w"
			: "'%s' is no place or time of a collision or path; use x, y, z, r or time",
		it->column);
}

/*
 * Resolves the column: of a score, or of particles at their ends. An id is unique, so a tally of it
 * says nothing.
 */
static bool resolve_column(struct sl_resolver *v, const struct sl_column_item *it,
	enum sl_score score, struct sl_grid_axis *a)
{
	if (score != SL_SCORE_ENDS)
		return resolve_score_column(v, it, score, a);
	if (strcmp(it->column, "id") != 0)
		return sl_resolve_any_column(
			v, it->key, it->column, SL_STORED(v->to->model->columns), &a->column);
	return sl_config_add_problem(v->r, it->key,
		"'id' cannot be tallied: each particle has its own id; use another column");
}

/*
 * The range that the model states. For integers the upper end is raised until all bins contain
 * equally many values.
 */
static bool own_range(
	struct sl_resolver *v, const struct sl_column_item *it, struct sl_grid_axis *a)
{
	bool plain = !*sl_units[sl_label_unit(v->to->named.label, a->column)].text;
	bool known = sl_column_range(v->to, a->column, &a->lo, &a->hi);

	if (known && sl_column_facts[a->column].type != SL_TYPE_F32)
		a->hi = a->lo + a->bins * ceil((a->hi - a->lo + 1) / a->bins);
	if (known && !sl_grid_axis_problem(a, v->to->grid_edge))
		return true;
	return sl_column_item_needs_range(v, it, a->column, a->bins, plain ? a->bins : 1);
}

/*
 * Reads given edges, E0..E1..E2, into the pool of the choices. All have a unit, or none; 0 fits
 * both. Cuts text.
 */
static bool read_edges(
	struct sl_resolver *v, const struct sl_column_item *it, char *text, struct sl_grid_axis *a)
{
	int unit = -1;
	bool has_unit;

	a->spacing = SL_SPACING_EDGES;
	a->first_edge = v->to->n_grid_edges;
	for (char *next = text; next; text = next) {
		double *edge = &v->to->grid_edge[v->to->n_grid_edges];

		next = strstr(text, "..");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (v->to->n_grid_edges == SL_GRID_EDGES_MAX)
			return sl_config_add_problem(v->r, it->key,
				"tallies have more than %d given edges; use fewer",
				SL_GRID_EDGES_MAX);
		if (!sl_column_item_end(v, a->column, text, edge, &has_unit))
			return sl_config_add_problem(v->r, it->key, "edges: %s", sl_last_error());
		if (*edge != 0 && unit >= 0 && unit != has_unit)
			return sl_config_add_problem(v->r, it->key,
				"edges: '%s' differs from the edge before it in having a unit; give "
				"all edges a unit, or none",
				text);
		unit = *edge != 0 ? has_unit : unit;
		v->to->n_grid_edges++;
	}
	a->bins = v->to->n_grid_edges - a->first_edge - 1;
	a->lo = v->to->grid_edge[a->first_edge];
	a->hi = v->to->grid_edge[a->first_edge + a->bins];
	return true;
}

/* Reads LO..HI; NULL stands for the range that the model states. */
static bool read_range(struct sl_resolver *v, const struct sl_column_item *it, const char *range,
	struct sl_grid_axis *a)
{
	if (!range)
		return !v->ranges || own_range(v, it, a);
	return sl_column_item_range(v, it, range, a->column, &a->lo, &a->hi) &&
	       sl_column_item_check(v, it, range, sl_grid_axis_problem(a, v->to->grid_edge));
}

/* Reads BINS[:LO..HI[:log]]. */
static bool read_bins(
	struct sl_resolver *v, const struct sl_column_item *it, struct sl_grid_axis *a)
{
	char *spacing = it->rest;
	const char *range = strsep(&spacing, ":");

	if (!sl_column_item_count(v, it, "bins", BINS_MOST, BINS_EXAMPLE, &a->bins))
		return false;
	if (spacing && strcmp(spacing, "log") != 0)
		return sl_config_add_problem(v->r, it->key,
			"'%s' follows a range: only log, for bins of equal ratio, can; name fates in "
			"a separate element, such as [%s:%u, absorbed]",
			spacing, it->column, a->bins);
	a->spacing = spacing ? SL_SPACING_RATIO : SL_SPACING_EVEN;
	return read_range(v, it, range, a);
}

/* Resolves one axis. Cuts text. */
static bool resolve_axis(struct sl_resolver *v, const char *key, char *text, enum sl_score score,
	struct sl_grid_axis *a)
{
	struct sl_column_item it = {.rest = text};
	char shown[SL_TEXT_BYTES];

	snprintf(it.key, sizeof(it.key), "%s", key);
	it.column = strsep(&it.rest, ":");
	if (!resolve_column(v, &it, score, a))
		return false;
	if (it.rest && strstr(it.rest, "..") && !strchr(it.rest, ':')) {
		snprintf(shown, sizeof(shown), "%s", it.rest);
		return read_edges(v, &it, it.rest, a) &&
		       sl_column_item_check(
			       v, &it, shown, sl_grid_axis_problem(a, v->to->grid_edge));
	}
	it.count = strsep(&it.rest, ":");
	return read_bins(v, &it, a);
}

/* --- fates ------------------------------------------------------------------------------------ */

/*
 * Resolves fates joined by +, each named once. Cuts names; NULL stands for all fates. A named fate
 * that no particle reaches is refused: its tally would be empty without a reason.
 */
static bool resolve_fates(struct sl_resolver *v, const char *key, char *names, sl_fate_set *set)
{
	const struct sl_model *m = v->to->model;
	sl_fate_set empty =
		v->ranges && names && m->weight_fates ? m->weight_fates(v->to->rules.bytes) : 0;
	const char *word;
	enum sl_fate fate;

	*set = names ? 0 : sl_final_fates(v->to);
	while ((word = strsep(&names, "+")))
		if (!sl_resolve_fate_once(v, key, word, set, &fate))
			return false;
	for (int i = 0; i < SL_FATE_COUNT; i++)
		if (SL_HAS(*set & empty, i))
			return sl_config_add_problem(v->r, key,
				"no particle ends as '%s' with these settings, only weight does, so "
				"its histogram would be empty; remove this fate",
				sl_fate_facts[i].name);
	return true;
}

/* --- an item ---------------------------------------------------------------------------------- */

/*
 * Resolves an item without brackets. The part after the number of bins is a range if it contains
 * "..", else fates.
 */
static bool resolve_plain(struct sl_resolver *v, struct sl_column_item *it, struct sl_grid_field *f)
{
	char *fates = it->rest;
	const char *range = fates && strstr(fates, "..") ? strsep(&fates, ":") : NULL;

	f->n_axes = 1;
	return resolve_column(v, it, SL_SCORE_ENDS, &f->axis[0]) &&
	       sl_column_item_count(
		       v, it, "bins", BINS_MOST_PLAIN, BINS_EXAMPLE, &f->axis[0].bins) &&
	       resolve_fates(v, it->key, fates, &f->fates) && read_range(v, it, range, &f->axis[0]);
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
static bool add_axis(struct sl_resolver *v, const char *key, char *element, struct sl_grid_field *f)
{
	struct sl_grid_axis *a = &f->axis[f->n_axes];

	if (f->n_axes == SL_GRID_AXES_MAX)
		return sl_config_add_problem(
			v->r, key, "has more than %d axes; use several grids", SL_GRID_AXES_MAX);
	if (!resolve_axis(v, key, element, f->score, a))
		return false;
	for (uint32_t k = 0; k < f->n_axes; k++)
		if (f->axis[k].column == a->column)
			return sl_config_add_problem(v->r, key, "'%s' is repeated; remove it",
				sl_label_name(v->to->named.label, a->column));
	f->n_axes++;
	return true;
}

/* The element that stands for the voxels of the model. */
static const char voxel[] = "voxel";

/* Adds the axes x, y and z of a grid whose cells are the voxels of the model. */
static bool add_voxels(struct sl_resolver *v, const char *key, struct sl_grid_field *f)
{
	uint32_t n[3] = {1, 1, 1};
	double edge[3] = {1, 1, 1};

	if (!v->to->model->voxels)
		return sl_config_add_problem(v->r, key,
			"'%s' stands for the voxels of a volume, which model %s does not have; name axes, "
			"such as x:50",
			voxel, v->to->model->name);
	if (f->n_axes > 0)
		return sl_config_add_problem(v->r, key,
			"'%s' stands for the axes x, y and z; write it before a time axis, and no other",
			voxel);
	if (v->ranges)
		v->to->model->voxels(v->to->rules.bytes, n, edge);
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
static bool resolve_grid(
	struct sl_resolver *v, const char *key, char *item, struct sl_grid_field *f)
{
	size_t n = strlen(item);
	char *rest = item + 1, *element, *fates = NULL, *score = NULL;

	if (item[n - 1] != ']')
		return sl_config_add_problem(v->r, key, "has no ] at its end; add it");
	item[n - 1] = '\0';
	while ((element = next_element(&rest))) {
		if (fates)
			return sl_config_add_problem(v->r, key,
				"'%s' follows the fates, which must be last; move it", element);
		if (!score && f->n_axes == 0 && sl_score_named(element)) {
			score = element;
			f->score = sl_score_named(element);
			if (f->score == SL_SCORE_CROSSING &&
				!sl_score_read_plane(v, key, element, f))
				return false;
		} else if (strcmp(element, voxel) == 0) {
			if (!add_voxels(v, key, f))
				return false;
		} else if (f->n_axes == 0 && !score && sl_score_is_wrong(v, element))
			return sl_config_add_problem(v->r, key,
				"'%s' is not a score; use %s, or begin with an axis, COLUMN:BINS",
				element,
				v->to->model->resampling
					? "each_step"
					: "deposit, fluence_collision, fluence_track or crossing:DEPTH");
		else if (!strchr(element, ':') && f->n_axes > 0)
			fates = element;
		else if (!add_axis(v, key, element, f))
			return false;
	}
	if (score && fates)
		return sl_config_add_problem(v->r, key,
			"'%s' counts all particles, so that '%s' has no effect; remove it, or write %s:BINS if it is an axis",
			score, fates, fates);
	if (score)
		return sl_score_check(v, key, f);
	return resolve_fates(v, key, fates, &f->fates);
}

/* Resolves item k. */
static bool resolve_item(
	struct sl_resolver *v, const char *text, uint32_t k, struct sl_grid_field *f)
{
	char item[SL_TEXT_BYTES];
	struct sl_column_item it;

	sl_column_item_split("tallies", text, k, &it);
	snprintf(item, sizeof(item), "%s", text);
	if (f->bracketed)
		return resolve_grid(v, it.key, item, f);
	if (strlen(text) < SL_WORD_BYTES)
		return resolve_plain(v, &it, f);
	return sl_config_add_problem(v->r, it.key,
		"%s is too long: %zu bytes, at most %d are allowed; shorten it", sl_shown(text),
		strlen(text), SL_WORD_BYTES - 1);
}

/* Checks the number of tallies and of their counters. */
static void refuse_too_many(struct sl_resolver *v, uint32_t items)
{
	const uint64_t most = UINT64_MAX / SL_GRIDS_MAX;
	uint64_t counters = 0;

	for (uint32_t k = 0; k < v->to->n_grids; k++) {
		uint64_t n = sl_grid_counters(&v->to->grid[k]);

		counters += n < most ? n : most;
	}
	if (items > SL_GRIDS_MAX)
		sl_config_add_problem(v->r, "tallies",
			"has %u items, at most %d are allowed; remove some", items, SL_GRIDS_MAX);
	else if (counters > SL_GRID_COUNTERS_MAX)
		sl_config_add_problem(v->r, "tallies",
			"needs %.10g counters (cells + 2 per fate), but at most %d are allowed; use "
			"fewer bins or fates",
			(double)counters, SL_GRID_COUNTERS_MAX);
}

void sl_resolve_tallies(struct sl_resolver *v)
{
	for (int bracketed = 0; bracketed < 2; bracketed++)
		for (uint32_t k = 0; k < v->c->tallies.n; k++) {
			struct sl_grid_field f = {.bracketed = bracketed};

			if ((v->c->tallies.at[k][0] == '[') == bracketed &&
				resolve_item(v, v->c->tallies.at[k], k, &f) &&
				v->to->n_grids < SL_GRIDS_MAX)
				v->to->grid[v->to->n_grids++] = f;
		}
	if (v->ranges)
		refuse_too_many(v, (uint32_t)v->c->tallies.n);
}
