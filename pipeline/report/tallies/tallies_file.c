/*
 * tallies_file.c - see tallies.h.
 *
 * The file is made in memory and ends with a checksum (sl_crc_trailer_add()), as files of survivors
 * do. The same sums give the same bytes with one version of HDF5, so verify compares the file with
 * one that it makes itself.
 */
#include "pipeline/report/tallies/tallies.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/output/output.h"
#include "stages/formats/common/common.h"
#include "stages/formats/hdf5/hdf5.h"

enum { OBJECT_BYTES = 4 << 10, ROW_DATASETS = 6, NAME_LENGTH = 127 };

static const char *const spacings[] = {
	[SL_SPACING_EVEN] = "even", [SL_SPACING_RATIO] = "log", [SL_SPACING_EDGES] = "edges"};

/* Writes "z", "(r,z)" or "deposit(r,z)", without a number, and returns it. */
static const char *name_axes(
	const struct sl_choices *choices, const struct sl_grid_field *f, char name[SL_PART_BYTES])
{
	snprintf(name, SL_PART_BYTES, "%s", sl_score_names[f->score]);
	for (uint32_t k = 0; k < f->n_axes; k++)
		sl_append(name, SL_PART_BYTES, "%s%s",
			!f->bracketed ? ""
			: k           ? ","
				      : "(",
			sl_label_name(choices->named.label, f->axis[k].column));
	sl_append(name, SL_PART_BYTES, f->bracketed ? ")" : "");
	return name;
}

const char *sl_tally_name(const struct sl_choices *choices, uint32_t number)
{
	char name[SL_PART_BYTES], other[SL_PART_BYTES];
	unsigned same = 1;

	name_axes(choices, &choices->grid[number], name);
	for (uint32_t k = 0; k < number; k++)
		same += strcmp(name, name_axes(choices, &choices->grid[k], other)) == 0;
	return sl_said("%.*s", NAME_LENGTH, same > 1 ? sl_said("%s_%u", name, same) : name);
}

/* A quantity of the cells of a row, until the next call. */
static const double *cells_of(
	const struct sl_workspace *w, uint32_t number, int fate, enum sl_tally_quantity which)
{
	return sl_tally_cells(&w->plan->recipe, &w->tallies, number, fate, which);
}

/* The same per volume. */
static const double *densities_of(
	const struct sl_workspace *w, uint32_t number, int fate, enum sl_tally_quantity which)
{
	(void)cells_of(w, number, fate, which);
	sl_cell_densities(&w->plan->choices, &w->plan->choices.grid[number], w->tallies.row);
	return w->tallies.row;
}

/* The sum of a score in counter i of its row. */
static double weight_at(const struct sl_workspace *w, uint32_t number, int fate, uint32_t i)
{
	return *sl_tally_row(&w->plan->recipe, &w->tallies, number, fate, i, 1, SL_TALLY_WEIGHT);
}

/* --- NAME.tallies ----------------------------------------------------------------------------- */

/*
 * A dataset or group with its header, attributes and place in its group stays below 4 KiB; the file
 * ends at a multiple of the driver's step of 64 KiB while it is written.
 */
static size_t image_bytes(const struct sl_plan *plan)
{
	size_t bytes = SL_CRC_TRAILER_BYTES + ((size_t)128 << 10);

	if (plan->facts.merged)
		bytes += OBJECT_BYTES + strlen(plan->facts.merged);
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

/* unitSI converts values in the unit to SI, as the attribute of the same name in openPMD does. */
static void put_unit(struct sl_h5 *h, hid_t at, const struct sl_plan *plan, enum sl_column column)
{
	const struct sl_named_columns *named = &plan->choices.named;
	const struct sl_unit_facts *unit = &sl_units[sl_label_unit(named->label, column)];

	sl_h5_put_text(h, at, "column", sl_label_name(named->label, column));
	sl_h5_put_text(h, at, "unit", unit->text);
	sl_h5_put_f64(h, at, "unitSI", sl_dimensions[unit->dimension].si * unit->factor);
}

/* Writes the edges of an axis, in its unit. */
static void put_edges(struct sl_h5 *h, hid_t at, const struct sl_workspace *w,
	const struct sl_grid_axis *a, bool bracketed)
{
	const char *name = "edges";
	double *edge = w->tallies.row; /* a row has two counters more than its axes have bins */
	hid_t data;

	for (uint32_t i = 0; i <= a->bins; i++)
		edge[i] = sl_grid_edge(a, w->plan->choices.grid_edge, i);
	if (bracketed)
		name = sl_said("edges_%s", sl_label_name(w->plan->choices.named.label, a->column));
	data = sl_h5_values(h, at, name, H5T_IEEE_F64LE, a->bins + 1, edge);
	if (bracketed) {
		put_unit(h, data, w->plan, a->column);
		sl_h5_put_text(h, data, "spacing", spacings[a->spacing]);
	}
	sl_h5_close(h, data);
}

/* Writes a value of each cell, with its unit if there is one. */
static void put_cells(struct sl_h5 *h, hid_t at, const struct sl_grid_field *f, const char *name,
	hid_t type, const void *values, const char *unit)
{
	uint64_t size[SL_GRID_AXES_MAX];
	hid_t data;

	for (uint32_t k = 0; k < f->n_axes; k++)
		size[k] = f->axis[k].bins;
	data = sl_h5_grid(h, at, name, type, (int)f->n_axes, size, values);
	if (unit)
		sl_h5_put_text(h, data, "unit", unit);
	sl_h5_close(h, data);
}

/*
 * Writes the counters of a fate. Those outside of the range are attributes, so that each dataset
 * has exactly one value per cell, as the edges describe.
 */
static void put_row(
	struct sl_h5 *h, hid_t at, const struct sl_workspace *w, uint32_t number, int fate)
{
	static const char *const names[] = {[SL_TALLY_WEIGHT] = "weight",
		[SL_TALLY_SQUARE] = "weight_squared",
		[SL_TALLY_MEAN] = "mean",
		[SL_TALLY_ERROR] = "standard_error"};
	const struct sl_grid_field *f = &w->plan->choices.grid[number];
	const uint64_t *count = sl_tally_counts(&w->plan->recipe, &w->tallies, number, fate);
	const uint32_t cells = w->plan->recipe.grids.grid[number].cells;
	hid_t group = sl_h5_group(h, at, sl_grid_row_name(f, fate));

	sl_h5_put_u64(h, group, "under", count[0]);
	sl_h5_put_u64(h, group, "over", count[cells + 1]);
	if (f->score != SL_SCORE_ENDS) {
		sl_h5_put_f64(h, group, "weight_under", weight_at(w, number, fate, 0));
		sl_h5_put_f64(h, group, "weight_over", weight_at(w, number, fate, cells + 1));
	}
	put_cells(h, group, f, "count", H5T_STD_U64LE, count + 1, NULL);
	for (int q = SL_TALLY_WEIGHT; q <= SL_TALLY_ERROR; q++)
		if (q != SL_TALLY_SQUARE || (f->score == SL_SCORE_ENDS && f->bracketed))
			put_cells(h, group, f, names[q], H5T_IEEE_F64LE,
				cells_of(w, number, fate, (enum sl_tally_quantity)q), NULL);
	put_cells(h, group, f, "density", H5T_IEEE_F64LE,
		densities_of(w, number, fate, SL_TALLY_MEAN),
		sl_density_unit(&w->plan->choices, f));
	sl_h5_close(h, group);
}

static void put_tally(struct sl_h5 *h, hid_t file, const struct sl_workspace *w, uint32_t number)
{
	const struct sl_choices *choices = &w->plan->choices;
	const struct sl_grid_field *f = &choices->grid[number];
	hid_t group = sl_h5_group(h, file, sl_tally_name(choices, number));

	if (f->bracketed)
		sl_h5_put_u64(h, group, "axes", f->n_axes);
	else
		put_unit(h, group, w->plan, f->axis[0].column);
	sl_h5_put_u64(h, group, "particles", w->tallies.batches->particles);
	if (f->score == SL_SCORE_CROSSING)
		sl_h5_put_f64(h, group, "plane_z_cm", f->plane);
	for (uint32_t k = 0; k < f->n_axes; k++)
		put_edges(h, group, w, &f->axis[k], f->bracketed);
	sl_cell_volumes(choices, f, w->tallies.row);
	put_cells(h, group, f, "volume", H5T_IEEE_F64LE, w->tallies.row, NULL);
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		if (SL_HAS(f->fates, fate))
			put_row(h, group, w, number, fate);
	sl_h5_close(h, group);
}

static size_t make_file(struct sl_h5 *h, const void *from)
{
	const struct sl_workspace *w = (const struct sl_workspace *)from;
	hid_t file = sl_h5_create_file(h);

	for (uint32_t k = 0; k < w->plan->choices.n_grids; k++)
		put_tally(h, file, w, k);
	if (w->plan->facts.merged)
		sl_h5_text(h, file, SL_TALLIES_MERGED, w->plan->facts.merged);
	return sl_h5_finish_file(h, file);
}

enum sl_status sl_tallies_file(
	const struct sl_workspace *w, const char *name, void **image, size_t *bytes)
{
	struct sl_h5 h = {.size = image_bytes(w->plan) - SL_CRC_TRAILER_BYTES};
	enum sl_status s;

	SL_TRY(sl_memory_get(SL_HOST, image_bytes(w->plan), image));
	h.image = (uint8_t *)*image;
	s = sl_add_context(sl_h5_fork_make(make_file, w, &h, bytes), "%s", name);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *image);
		*image = NULL;
		return s;
	}
	sl_crc_trailer_add(*image, *bytes);
	*bytes += SL_CRC_TRAILER_BYTES;
	return SL_OK;
}

/* --- run.json --------------------------------------------------------------------------------- */

/* Bins of equal width or ratio have no edges: from, to and bins determine them. */
static void write_axis(struct sl_json *j, const struct sl_choices *choices,
	const struct sl_grid_axis *a, bool bracketed)
{
	const struct sl_column_label *label = choices->named.label;

	sl_json_add(j, "column %s unit %s spacing? %s bins %u from %g to %g",
		sl_label_name(label, a->column), sl_units[sl_label_unit(label, a->column)].text,
		bracketed ? spacings[a->spacing] : NULL, a->bins, a->lo, a->hi);
	if (a->spacing == SL_SPACING_EDGES)
		sl_json_reals(j, "edges", &choices->grid_edge[a->first_edge], a->bins + 1);
}

/* Without weights, the sums of weight and of its square would repeat counts. */
static void write_row(struct sl_json *j, const struct sl_workspace *w, uint32_t number, int fate)
{
	const struct sl_grid_field *f = &w->plan->choices.grid[number];
	const bool is_score = f->score != SL_SCORE_ENDS, weighted = w->plan->recipe.grids.weighted;
	const struct {
		const char *key;
		enum sl_tally_quantity which;
		bool density, is_written;
	} quantities[] = {{"weights", SL_TALLY_WEIGHT, false, weighted || is_score},
		{"weights_squared", SL_TALLY_SQUARE, false, weighted && !is_score && f->bracketed},
		{"mean_over_batches", SL_TALLY_MEAN, false, true},
		{"standard_error", SL_TALLY_ERROR, false, !is_score},
		{"standard_error_over_batches", SL_TALLY_ERROR_OVER_BATCHES, false, true},
		{"density", SL_TALLY_MEAN, true, true},
		{"density_error", SL_TALLY_ERROR, true, true}};
	const uint64_t *count = sl_tally_counts(&w->plan->recipe, &w->tallies, number, fate);
	const uint32_t n = w->plan->recipe.grids.grid[number].cells;

	sl_json_add(
		j, "%s { under %lu over %lu", sl_grid_row_name(f, fate), count[0], count[n + 1]);
	if (is_score)
		sl_json_add(j, "weight_under %g weight_over %g", weight_at(w, number, fate, 0),
			weight_at(w, number, fate, n + 1));
	if (n <= SL_GRID_LISTED_MAX)
		sl_json_u64s(j, "counts", count + 1, n);
	for (size_t q = 0; q < sizeof(quantities) / sizeof(*quantities); q++)
		if (n <= SL_GRID_LISTED_MAX && quantities[q].is_written)
			sl_json_reals(j, quantities[q].key,
				(quantities[q].density ? densities_of : cells_of)(
					w, number, fate, quantities[q].which),
				n);
	sl_json_close(j);
}

static void write_tally(struct sl_json *j, const struct sl_workspace *w, uint32_t number)
{
	const struct sl_choices *choices = &w->plan->choices;
	const struct sl_grid_field *f = &choices->grid[number];

	sl_json_object(j, NULL);
	if (f->bracketed) {
		sl_json_add(j, "name %s density_unit %s plane_z_cm? %g axes [",
			sl_tally_name(choices, number), sl_density_unit(choices, f),
			f->score == SL_SCORE_CROSSING ? f->plane : 0);
		for (uint32_t k = 0; k < f->n_axes; k++) {
			sl_json_object(j, NULL);
			write_axis(j, choices, &f->axis[k], true);
			sl_json_close(j);
		}
		sl_json_close(j);
	} else {
		write_axis(j, choices, &f->axis[0], false);
		sl_json_text(j, "density_unit", sl_density_unit(choices, f));
	}
	if (sl_grid_cells(f) <= SL_GRID_LISTED_MAX) {
		sl_cell_volumes(choices, f, w->tallies.row);
		sl_json_reals(j, "volumes", w->tallies.row, (size_t)sl_grid_cells(f));
	}
	sl_json_object(j, "fates");
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		if (SL_HAS(f->fates, fate))
			write_row(j, w, number, fate);
	sl_json_add(j, "} }");
}

/* Before the first batch is committed the sums do not exist, and the members are left out. */
void sl_tallies_json(struct sl_json *j, const struct sl_workspace *w)
{
	const struct sl_choices *choices = &w->plan->choices;

	for (int bracketed = 1; bracketed >= 0; bracketed--) {
		bool any = false;

		for (uint32_t k = 0; k < choices->n_grids && w->tallies.batches->n > 0; k++) {
			if (choices->grid[k].bracketed != bracketed)
				continue;
			if (!any)
				sl_json_array(j, bracketed ? "grids" : "histograms");
			any = true;
			write_tally(j, w, k);
		}
		if (any)
			sl_json_close(j);
	}
}
