/*
 * histogram_file.c - NAME.tallies: the histograms of a run as one HDF5 file.
 *
 *	/z                  one group per histogram, with the name of its column (z_2: the second
 *	                    histogram of z); attributes column, unit, unitSI, particles
 *	/z/edges            bins + 1 values, in the unit
 *	/z/volume           the sizes of the bins (density.h)
 *	/z/absorbed         one group per fate; attributes under, over
 *	/z/absorbed/count, weight, mean, standard_error, density    one value per bin
 *	/(r,z)              one group per grid (grid_file.c)
 *	/sluiceMerged       the text merged of struct sl_file_facts, if runs were merged
 *
 * mean and standard_error are those of run.json, per particle of the run. The file is made in
 * memory and ends with a checksum (crc_trailer.h), as files of survivors do. The same sums give the
 * same bytes with one version of HDF5, so verify compares the file with one that it makes itself.
 */
#include "pipeline/report/tallies/histogram_file.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/report/tallies/density.h"
#include "pipeline/report/tallies/grid_file.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/run/run.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "stages/formats/hdf5/hdf5_writer.h"
#include "stages/selection/grid.h"

enum { NAME_BYTES = 64, ROW_DATASETS = 5 };

/*
 * A dataset or group with its header, attributes and place in its group stays below 2 KiB; the file
 * ends at a multiple of the driver's step of 64 KiB while it is written.
 */
static size_t image_bytes(const struct sl_plan *plan)
{
	size_t object = (size_t)2 << 10,
	       bytes = SL_CRC_TRAILER_BYTES + ((size_t)128 << 10) + sl_grid_file_bytes(plan);

	if (plan->facts.merged)
		bytes += object + strlen(plan->facts.merged);

	for (uint32_t k = 0; k < plan->choices.n_histograms; k++) {
		const struct sl_histogram_axis *f = &plan->choices.histogram[k];
		size_t rows = sl_histogram_counters(f, 1) / (f->bins + SL_HISTOGRAM_OUTSIDE);
		size_t dataset = object + (f->bins + 1) * sizeof(double);

		bytes += 2 * object + 2 * dataset + rows * (object + ROW_DATASETS * dataset);
	}
	return bytes;
}

/* Writes n values as a dataset without chunks: it is small, and compression would gain little. */
static void put_values(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values)
{
	sl_h5_close(h, sl_h5_values(h, at, name, type, n, values));
}

/* A quantity of the bins of a fate, until the next call. */
static const double *bins_of(
	const struct sl_workspace *w, uint32_t number, int fate, enum sl_counter_quantity which)
{
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_histogram_rule *t = &r->bins.tally[number];

	return sl_counter_row(
		&w->histograms.bins, sl_ends_units(r), t->first[fate] + 1u, t->bins, which);
}

/* The same per volume of the bin. */
static const double *densities_of(
	const struct sl_workspace *w, uint32_t number, int fate, enum sl_counter_quantity which)
{
	const struct sl_grid_field f = sl_histogram_as_grid(&w->plan->choices.histogram[number]);

	(void)bins_of(w, number, fate, which);
	sl_cell_densities(&w->plan->choices, &f, w->histograms.bins.row);
	return w->histograms.bins.row;
}

/*
 * Writes the counters of a fate. Those below and above the range are attributes, so that each
 * dataset has exactly one value per bin, as edges describes.
 */
static void put_row(
	struct sl_h5 *h, hid_t at, const struct sl_workspace *w, uint32_t number, int fate)
{
	const struct sl_histogram_rule *t = &w->plan->recipe.bins.tally[number];
	const uint64_t *count = w->histograms.bins.count + t->first[fate];
	const struct sl_grid_field f = sl_histogram_as_grid(&w->plan->choices.histogram[number]);
	hid_t group = sl_h5_group(h, at, sl_fate_facts[fate].name), data;
	char unit[SL_DENSITY_UNIT_BYTES];

	sl_h5_put_u64(h, group, "under", count[0]);
	sl_h5_put_u64(h, group, "over", count[t->bins + 1]);
	put_values(h, group, "count", H5T_STD_U64LE, t->bins, count + 1);
	put_values(h, group, "weight", H5T_IEEE_F64LE, t->bins,
		bins_of(w, number, fate, SL_COUNTER_WEIGHT));
	put_values(h, group, "mean", H5T_IEEE_F64LE, t->bins,
		bins_of(w, number, fate, SL_COUNTER_MEAN));
	put_values(h, group, "standard_error", H5T_IEEE_F64LE, t->bins,
		bins_of(w, number, fate, SL_COUNTER_ERROR));
	sl_density_unit(&w->plan->choices, &f, unit);
	data = sl_h5_values(h, group, "density", H5T_IEEE_F64LE, t->bins,
		densities_of(w, number, fate, SL_COUNTER_MEAN));
	sl_h5_put_text(h, data, "unit", unit);
	sl_h5_close(h, data);
	sl_h5_close(h, group);
}

static void put_bins(
	struct sl_h5 *h, hid_t at, const struct sl_choices *choices, const struct sl_grid_field *f)
{
	uint32_t bins = f->axis[0].bins;
	double value[SL_HISTOGRAM_MOST + 1];

	for (uint32_t i = 0; i <= bins; i++)
		value[i] = sl_grid_edge(&f->axis[0], NULL, i);
	put_values(h, at, "edges", H5T_IEEE_F64LE, bins + 1, value);
	sl_cell_volumes(choices, f, value);
	put_values(h, at, "volume", H5T_IEEE_F64LE, bins, value);
}

/* "z", or "z_2" for the second histogram of z: groups need different names. */
static void name_group(const struct sl_plan *plan, uint32_t number, char name[NAME_BYTES])
{
	enum sl_column column = plan->choices.histogram[number].column;
	unsigned same_column = 1;

	for (uint32_t k = 0; k < number; k++)
		same_column += plan->choices.histogram[k].column == column;
	snprintf(name, NAME_BYTES, same_column > 1 ? "%s_%u" : "%s",
		sl_column_name(&plan->choices.named, column), same_column);
}

/* unitSI converts values in the unit to SI, as the attribute of the same name in openPMD does. */
static void put_histogram(
	struct sl_h5 *h, hid_t file, const struct sl_workspace *w, uint32_t number)
{
	const struct sl_histogram_axis *f = &w->plan->choices.histogram[number];
	const struct sl_named_columns *named = &w->plan->choices.named;
	const struct sl_unit_facts *unit = &sl_units[sl_column_unit(named, f->column)];
	const struct sl_grid_field grid = sl_histogram_as_grid(f);
	char name[NAME_BYTES];
	hid_t group;

	name_group(w->plan, number, name);
	group = sl_h5_group(h, file, name);
	sl_h5_put_text(h, group, "column", sl_column_name(named, f->column));
	sl_h5_put_text(h, group, "unit", unit->text);
	sl_h5_put_f64(h, group, "unitSI", sl_dimensions[unit->dimension].si * unit->factor);
	sl_h5_put_u64(h, group, "particles", w->histograms.bins.batches->particles);
	put_bins(h, group, &w->plan->choices, &grid);
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		if (SL_HAS(f->fates, fate))
			put_row(h, group, w, number, fate);
	sl_h5_close(h, group);
}

static size_t make_file(struct sl_h5 *h, const void *from)
{
	const struct sl_workspace *w = (const struct sl_workspace *)from;
	hid_t file = sl_h5_create_file(h);

	for (uint32_t k = 0; k < w->plan->choices.n_histograms; k++)
		put_histogram(h, file, w, k);
	sl_grid_file_put(h, file, w);
	if (w->plan->facts.merged)
		sl_h5_text(h, file, SL_HISTOGRAMS_MERGED, w->plan->facts.merged);
	return sl_h5_finish_file(h, file);
}

enum sl_status sl_histogram_sums_file(
	const struct sl_workspace *w, const char *name, void **image, size_t *bytes)
{
	struct sl_h5 h = {.size = image_bytes(w->plan) - SL_CRC_TRAILER_BYTES};
	enum sl_status s;

	SL_TRY(sl_memory_get(SL_HOST, image_bytes(w->plan), image));
	h.image = (uint8_t *)*image;
	s = sl_add_context(sl_h5_fork_make(make_file, w, &h, bytes), "%s", name);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *image);
		return s;
	}
	sl_crc_trailer_add(*image, *bytes);
	*bytes += SL_CRC_TRAILER_BYTES;
	return SL_OK;
}

/* --- run.json --------------------------------------------------------------------------------- */

/* weights are left out if all weights are 1: they would repeat counts. */
static void write_row(struct sl_json *j, const struct sl_workspace *w, uint32_t number, int fate)
{
	const struct sl_histogram_rule *t = &w->plan->recipe.bins.tally[number];
	const uint64_t *count = w->histograms.bins.count + t->first[fate];

	sl_json_object(j, sl_fate_facts[fate].name);
	sl_json_u64(j, "under", count[0]);
	sl_json_u64(j, "over", count[t->bins + 1]);
	sl_json_u64s(j, "counts", count + 1, t->bins);
	if (w->plan->recipe.bins.weighted)
		sl_json_reals(j, "weights", bins_of(w, number, fate, SL_COUNTER_WEIGHT), t->bins);
	sl_json_reals(j, "mean_over_batches", bins_of(w, number, fate, SL_COUNTER_MEAN), t->bins);
	sl_json_reals(j, "standard_error", bins_of(w, number, fate, SL_COUNTER_ERROR), t->bins);
	sl_json_reals(j, "standard_error_over_batches",
		bins_of(w, number, fate, SL_COUNTER_ERROR_OVER_BATCHES), t->bins);
	sl_json_reals(j, "density", densities_of(w, number, fate, SL_COUNTER_MEAN), t->bins);
	sl_json_reals(j, "density_error", densities_of(w, number, fate, SL_COUNTER_ERROR), t->bins);
	sl_json_close(j);
}

/* Edges are left out: bins are equally wide, and from, to and bins determine them. */
static void write_histogram(struct sl_json *j, const struct sl_workspace *w, uint32_t number)
{
	const struct sl_histogram_axis *f = &w->plan->choices.histogram[number];
	const struct sl_named_columns *named = &w->plan->choices.named;
	const struct sl_grid_field grid = sl_histogram_as_grid(f);
	char unit[SL_DENSITY_UNIT_BYTES];
	double volume[SL_HISTOGRAM_MOST];

	sl_density_unit(&w->plan->choices, &grid, unit);
	sl_cell_volumes(&w->plan->choices, &grid, volume);
	sl_json_object(j, NULL);
	sl_json_text(j, "column", sl_column_name(named, f->column));
	sl_json_text(j, "unit", sl_units[sl_column_unit(named, f->column)].text);
	sl_json_u64(j, "bins", f->bins);
	sl_json_real(j, "from", f->lo);
	sl_json_real(j, "to", f->hi);
	sl_json_text(j, "density_unit", unit);
	sl_json_reals(j, "volumes", volume, f->bins);
	sl_json_object(j, "fates");
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		if (SL_HAS(f->fates, fate))
			write_row(j, w, number, fate);
	sl_json_close(j);
	sl_json_close(j);
}

/* Before the first batch is committed the sums do not exist, and the member is left out. */
void sl_histogram_sums_json(struct sl_json *j, const struct sl_workspace *w)
{
	sl_grid_sums_json(j, w);
	if (w->plan->choices.n_histograms == 0 || w->histograms.bins.batches->n == 0)
		return;
	sl_json_array(j, "histograms");
	for (uint32_t k = 0; k < w->plan->choices.n_histograms; k++)
		write_histogram(j, w, k);
	sl_json_close(j);
}
