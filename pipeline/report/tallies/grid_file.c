/* grid_file.c - see grid_file.h. */
#include "pipeline/report/tallies/grid_file.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/report/tallies/density.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/output/output.h"

enum { OBJECT_BYTES = 4 << 10, ROW_DATASETS = 6 };

static const char *const spacings[] = {
	[SL_SPACING_EVEN] = "even", [SL_SPACING_RATIO] = "log", [SL_SPACING_EDGES] = "edges"};

/* "(r,z)" or "deposit(r,z)", without a number. */
static void name_axes(const struct sl_choices *choices, const struct sl_grid_field *f,
	char name[SL_GRID_NAME_BYTES])
{
	size_t at = (size_t)snprintf(name, SL_GRID_NAME_BYTES, "%s", sl_score_names[f->score]);

	for (uint32_t k = 0; k < f->n_axes; k++)
		at += (size_t)snprintf(name + at, SL_GRID_NAME_BYTES - at, "%s%s", k ? "," : "(",
			sl_column_name(&choices->named, f->axis[k].column));
	snprintf(name + at, SL_GRID_NAME_BYTES - at, ")");
}

const char *sl_grid_name(
	const struct sl_choices *choices, uint32_t number, char name[SL_GRID_NAME_BYTES])
{
	char other[SL_GRID_NAME_BYTES];
	unsigned same = 1;
	size_t n;

	name_axes(choices, &choices->grid[number], name);
	for (uint32_t k = 0; k < number; k++) {
		name_axes(choices, &choices->grid[k], other);
		same += strcmp(name, other) == 0;
	}
	n = strlen(name);
	if (same > 1)
		snprintf(name + n, SL_GRID_NAME_BYTES - n, "_%u", same);
	return name;
}

/* Particles counted so far. */
static uint64_t particles(const struct sl_workspace *w)
{
	return w->histograms.grids.batches->particles;
}

/* --- NAME.tallies ----------------------------------------------------------------------------- */

size_t sl_grid_file_bytes(const struct sl_plan *plan)
{
	size_t bytes = 0;

	for (uint32_t k = 0; k < plan->choices.n_grids; k++) {
		const struct sl_grid_field *f = &plan->choices.grid[k];
		size_t cells = (size_t)sl_grid_cells(f);
		size_t rows = (size_t)sl_grid_counters(f) / (cells + SL_GRID_OUTSIDE);

		bytes += (size_t)3 * OBJECT_BYTES + cells * sizeof(double);
		for (uint32_t i = 0; i < f->n_axes; i++)
			bytes += OBJECT_BYTES + (f->axis[i].bins + 1) * sizeof(double);
		bytes += rows *
		         (OBJECT_BYTES + ROW_DATASETS * (OBJECT_BYTES + cells * sizeof(double)));
	}
	return bytes;
}

/* Writes the edges of an axis, in its unit. */
static void put_edges(
	struct sl_h5 *h, hid_t at, const struct sl_workspace *w, const struct sl_grid_axis *a)
{
	const struct sl_unit_facts *unit =
		&sl_units[sl_column_unit(&w->plan->choices.named, a->column)];
	char name[SL_GRID_NAME_BYTES];
	double *edge =
		w->histograms.grids.row; /* a row has two counters more than its axes have bins */
	hid_t data;

	for (uint32_t i = 0; i <= a->bins; i++)
		edge[i] = sl_grid_edge(a, w->plan->choices.grid_edge, i);
	snprintf(
		name, sizeof(name), "edges_%s", sl_column_name(&w->plan->choices.named, a->column));
	data = sl_h5_values(h, at, name, H5T_IEEE_F64LE, a->bins + 1, edge);
	sl_h5_put_text(h, data, "column", sl_column_name(&w->plan->choices.named, a->column));
	sl_h5_put_text(h, data, "unit", unit->text);
	sl_h5_put_f64(h, data, "unitSI", sl_dimensions[unit->dimension].si * unit->factor);
	sl_h5_put_text(h, data, "spacing", spacings[a->spacing]);
	sl_h5_close(h, data);
}

/* Writes a value of each cell, with its unit if there is one. */
static void put_cells(struct sl_h5 *h, hid_t at, const struct sl_grid_field *f, const char *name,
	const double *values, const char *unit)
{
	uint64_t size[SL_GRID_AXES_MAX];
	hid_t data;

	for (uint32_t k = 0; k < f->n_axes; k++)
		size[k] = f->axis[k].bins;
	data = sl_h5_grid(h, at, name, H5T_IEEE_F64LE, (int)f->n_axes, size, values);
	if (unit)
		sl_h5_put_text(h, data, "unit", unit);
	sl_h5_close(h, data);
}

/* A quantity of the cells of a row per volume, until the next call. */
static const double *densities_of(
	const struct sl_workspace *w, uint32_t number, int fate, enum sl_counter_quantity which)
{
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_counter_sums *sums = &w->histograms.grids;
	const struct sl_grid_rule *rule = &r->grids.grid[number];

	(void)sl_grid_row(r, sums, number, rule->first[fate] + 1, rule->cells, which);
	sl_cell_densities(&w->plan->choices, &w->plan->choices.grid[number], sums->row);
	return sums->row;
}

/* Writes the counters of a fate; those outside of the range are attributes. */
static void put_row(
	struct sl_h5 *h, hid_t at, const struct sl_workspace *w, uint32_t number, int fate)
{
	char unit[SL_DENSITY_UNIT_BYTES];
	static const char *const names[] = {[SL_COUNTER_WEIGHT] = "weight",
		[SL_COUNTER_SQUARE] = "weight_squared",
		[SL_COUNTER_MEAN] = "mean",
		[SL_COUNTER_ERROR] = "standard_error"};
	const struct sl_grid_field *f = &w->plan->choices.grid[number];
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_counter_sums *sums = &w->histograms.grids;
	const struct sl_grid_rule *rule = &r->grids.grid[number];
	uint32_t first = rule->first[fate], cells = rule->cells;
	uint64_t size[SL_GRID_AXES_MAX];
	hid_t group = sl_h5_group(h, at, sl_grid_row_name(f, fate));

	for (uint32_t k = 0; k < f->n_axes; k++)
		size[k] = f->axis[k].bins;
	sl_h5_put_u64(h, group, "under", sums->count[first]);
	sl_h5_put_u64(h, group, "over", sums->count[first + cells + 1]);
	if (f->score != SL_SCORE_ENDS) {
		sl_h5_put_f64(h, group, "weight_under",
			*sl_grid_row(r, sums, number, first, 1, SL_COUNTER_WEIGHT));
		sl_h5_put_f64(h, group, "weight_over",
			*sl_grid_row(r, sums, number, first + cells + 1, 1, SL_COUNTER_WEIGHT));
	}
	sl_h5_close(h, sl_h5_grid(h, group, "count", H5T_STD_U64LE, (int)f->n_axes, size,
			       sums->count + first + 1));
	for (int q = SL_COUNTER_WEIGHT; q <= SL_COUNTER_ERROR; q++)
		if (q != SL_COUNTER_SQUARE || f->score == SL_SCORE_ENDS)
			put_cells(h, group, f, names[q],
				sl_grid_row(r, sums, number, first + 1, cells,
					(enum sl_counter_quantity)q),
				NULL);
	sl_density_unit(&w->plan->choices, f, unit);
	put_cells(h, group, f, "density", densities_of(w, number, fate, SL_COUNTER_MEAN), unit);
	sl_h5_close(h, group);
}

void sl_grid_file_put(struct sl_h5 *h, hid_t file, const struct sl_workspace *w)
{
	const struct sl_choices *choices = &w->plan->choices;

	for (uint32_t number = 0; number < choices->n_grids; number++) {
		const struct sl_grid_field *f = &choices->grid[number];
		char name[SL_GRID_NAME_BYTES];
		hid_t group = sl_h5_group(h, file, sl_grid_name(choices, number, name));

		sl_h5_put_u64(h, group, "axes", f->n_axes);
		sl_h5_put_u64(h, group, "particles", particles(w));
		if (f->score == SL_SCORE_CROSSING)
			sl_h5_put_f64(h, group, "plane_z_cm", f->plane);
		for (uint32_t k = 0; k < f->n_axes; k++)
			put_edges(h, group, w, &f->axis[k]);
		sl_cell_volumes(choices, f, w->histograms.grids.row);
		put_cells(h, group, f, "volume", w->histograms.grids.row, NULL);
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			if (SL_HAS(f->fates, fate))
				put_row(h, group, w, number, fate);
		sl_h5_close(h, group);
	}
}

/* --- run.json --------------------------------------------------------------------------------- */

static void write_axis(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_grid_axis *a)
{
	sl_json_object(j, NULL);
	sl_json_text(j, "column", sl_column_name(&w->plan->choices.named, a->column));
	sl_json_text(j, "unit", sl_units[sl_column_unit(&w->plan->choices.named, a->column)].text);
	sl_json_text(j, "spacing", spacings[a->spacing]);
	sl_json_u64(j, "bins", a->bins);
	sl_json_real(j, "from", a->lo);
	sl_json_real(j, "to", a->hi);
	if (a->spacing == SL_SPACING_EDGES)
		sl_json_reals(j, "edges", &w->plan->choices.grid_edge[a->first_edge], a->bins + 1);
	sl_json_close(j);
}

/* Writes a quantity of the cells of a row. */
static void write_reals(struct sl_json *j, const struct sl_workspace *w, uint32_t number, int fate,
	const char *key, enum sl_counter_quantity which)
{
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_grid_rule *rule = &r->grids.grid[number];

	sl_json_reals(j, key,
		sl_grid_row(
			r, &w->histograms.grids, number, rule->first[fate] + 1, rule->cells, which),
		rule->cells);
}

/* Without weights, the sums of weight and of its square would repeat counts. */
static void write_row(struct sl_json *j, const struct sl_workspace *w, uint32_t number, int fate)
{
	const struct sl_grid_field *f = &w->plan->choices.grid[number];
	const struct sl_grid_rule *rule = &w->plan->recipe.grids.grid[number];
	const bool is_score = f->score != SL_SCORE_ENDS;
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_counter_sums *sums = &w->histograms.grids;
	uint32_t first = rule->first[fate] + 1, n = rule->cells;

	sl_json_object(j, sl_grid_row_name(f, fate));
	sl_json_u64(j, "under", sums->count[first - 1]);
	sl_json_u64(j, "over", sums->count[first + n]);
	if (is_score) {
		sl_json_real(j, "weight_under",
			*sl_grid_row(r, sums, number, first - 1, 1, SL_COUNTER_WEIGHT));
		sl_json_real(j, "weight_over",
			*sl_grid_row(r, sums, number, first + n, 1, SL_COUNTER_WEIGHT));
	}
	if (n <= SL_GRID_LISTED_MAX) {
		sl_json_u64s(j, "counts", sums->count + first, n);
		if (r->grids.weighted || is_score)
			write_reals(j, w, number, fate, "weights", SL_COUNTER_WEIGHT);
		if (r->grids.weighted && !is_score)
			write_reals(j, w, number, fate, "weights_squared", SL_COUNTER_SQUARE);
		write_reals(j, w, number, fate, "mean_over_batches", SL_COUNTER_MEAN);
		if (!is_score)
			write_reals(j, w, number, fate, "standard_error", SL_COUNTER_ERROR);
		write_reals(j, w, number, fate, "standard_error_over_batches",
			SL_COUNTER_ERROR_OVER_BATCHES);
		sl_json_reals(j, "density", densities_of(w, number, fate, SL_COUNTER_MEAN), n);
		sl_json_reals(
			j, "density_error", densities_of(w, number, fate, SL_COUNTER_ERROR), n);
	}
	sl_json_close(j);
}

static void write_grid(struct sl_json *j, const struct sl_workspace *w, uint32_t number)
{
	const struct sl_grid_field *f = &w->plan->choices.grid[number];
	char name[SL_GRID_NAME_BYTES], unit[SL_DENSITY_UNIT_BYTES];
	double *volume = w->histograms.grids.row;

	sl_json_object(j, NULL);
	sl_json_text(j, "name", sl_grid_name(&w->plan->choices, number, name));
	sl_density_unit(&w->plan->choices, f, unit);
	sl_json_text(j, "density_unit", unit);
	if (f->score == SL_SCORE_CROSSING)
		sl_json_real(j, "plane_z_cm", f->plane);
	sl_json_array(j, "axes");
	for (uint32_t k = 0; k < f->n_axes; k++)
		write_axis(j, w, &f->axis[k]);
	sl_json_close(j);
	if (sl_grid_cells(f) <= SL_GRID_LISTED_MAX) {
		sl_cell_volumes(&w->plan->choices, f, volume);
		sl_json_reals(j, "volumes", volume, (size_t)sl_grid_cells(f));
	}
	sl_json_object(j, "fates");
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		if (SL_HAS(f->fates, fate))
			write_row(j, w, number, fate);
	sl_json_close(j);
	sl_json_close(j);
}

void sl_grid_sums_json(struct sl_json *j, const struct sl_workspace *w)
{
	if (w->plan->choices.n_grids == 0 || w->histograms.grids.batches->n == 0)
		return;
	sl_json_array(j, "grids");
	for (uint32_t k = 0; k < w->plan->choices.n_grids; k++)
		write_grid(j, w, k);
	sl_json_close(j);
}
