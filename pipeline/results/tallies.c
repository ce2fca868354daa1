/*
 * tallies.c - checks and adds up the counters of the batches.
 *
 * The words of a file are used as they are in memory, so the machine must be little-endian.
 */
#include "pipeline/results/results.h"

#include <math.h>
#include <string.h>

#include "primitives/files/files.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files of counters are little-endian words, read without conversion"
#endif

/* The counters of all tallies of a run, without sums of weights. */
static uint32_t counters_of(const struct sl_recipe *r)
{
	return r->grids.part[0].counters + r->grids.part[1].counters;
}

/* The sums of all steps of a filter. */
static size_t filter_sums_of(const struct sl_recipe *r)
{
	return (size_t)r->resampling.steps * sl_filter_quantities(r);
}

void sl_tally_sums_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_tally_sums *h)
{
	uint32_t n = counters_of(r), row = 0;

	*h = (struct sl_tally_sums){0};
	if (sl_counter_words(r) == 0)
		return;
	for (uint32_t k = 0; k < r->grids.n; k++)
		row = r->grids.grid[k].cells > row ? r->grids.grid[k].cells : row;
	h->batches = (struct sl_batches *)sl_cut_items(a, 1, sizeof(*h->batches));
	h->count = (uint64_t *)sl_cut_items(a, n, sizeof(*h->count));
	if (r->grids.weighted)
		h->square = (sl_sum *)sl_cut_items(a, n, sizeof(*h->square));
	h->precision = (struct sl_precision *)sl_cut_items(a, n, sizeof(*h->precision));
	row = r->resampling.steps > row ? r->resampling.steps : row;
	h->row = (double *)sl_cut_items(a, row + SL_GRID_OUTSIDE, sizeof(*h->row));
	if (r->resampling.steps > 0)
		h->filter = (struct sl_filter_sum *)sl_cut_items(
			a, filter_sums_of(r), sizeof(*h->filter));
}

/* --- files ------------------------------------------------------------------------------------ */

/* Fails with what is wrong with the file of a line. */
static enum sl_status wrong(const struct sl_manifest_line *l, const char *what)
{
	return sl_fail(SL_CHECK_FAILED,
		"%s: %s (batch %lu: the file or the manifest was changed, or the disk is "
		"failing); use --resume, which computes the batch again",
		l->bins.name, what, l->batch);
}

/* Checks the bytes of a file against the line of the manifest. */
static enum sl_status check(
	const struct sl_recipe *r, const struct sl_manifest_line *l, uint64_t *sum, size_t bytes)
{
	if (bytes != l->bins.bytes || sl_crc32(sum, bytes) != l->bins.crc)
		return wrong(l, "its size or checksum is not that of the manifest");
	if (bytes != sl_counter_words(r) * sizeof(*sum))
		return wrong(l, "its size does not match the histograms of this run");
	if (sl_grid_mismatch(&r->grids, sum, l->tally.count, l->tally.weight, l->tally.square) !=
		SL_FATE_COUNT)
		return wrong(l, "its histograms do not add up to the fates");
	if (sl_grid_score_problem(&r->grids, sum, l->tally.steps, l->tally.collisions))
		return wrong(l, "its scores do not add up to the steps and collisions");
	return SL_OK;
}

enum sl_status sl_tallies_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum)
{
	enum sl_status s;
	bool exists = false;
	size_t bytes;
	char *read;

	*sum = NULL;
	if (line->bins.name[0])
		SL_TRY(sl_file_exists(dir, line->bins.name, &exists));
	if (!exists)
		return wrong(line, "the histogram file is missing");
	SL_TRY(sl_file_read(dir, line->bins.name, &read, &bytes));
	*sum = (uint64_t *)(void *)read;
	s = check(r, line, *sum, bytes);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *sum);
		*sum = NULL;
	}
	return s;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Adds a tally of a batch. Weights of lists can be negative, also in sums modulo 2^64. */
static void add_tally(const struct sl_recipe *r, const struct sl_grid_rule *g, const uint64_t *sum,
	uint64_t particles, const struct sl_tally_sums *h)
{
	const bool score = g->score != SL_SCORE_ENDS;
	const uint64_t *count = sum + g->words + g->base, *second = count + g->stride;
	const bool sums = g->score != SL_SCORE_EACH_STEP && (score || r->grids.weighted);
	const uint64_t *quantity = sums ? second : count;

	for (uint32_t i = 0; i < g->counters; i++) {
		const uint32_t at = g->skip + g->base + i;

		h->count[at] += count[i];
		sl_precision_add(&h->precision[at], *h->batches, particles,
			r->inputs ? (sl_sum)(int64_t)quantity[i] : (sl_sum)quantity[i]);
		if (r->grids.weighted && !score)
			h->square[at] += second[g->stride + i];
	}
}

void sl_tally_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_tally_sums *h)
{
	for (uint32_t k = 0; k < r->grids.n; k++)
		add_tally(r, &r->grids.grid[k], sum, particles, h);
	if (h->filter)
		sl_filter_add_batch(r, sum, particles, h);
	h->batches->n++;
	h->batches->particles += particles;
}

enum sl_status sl_tally_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h)
{
	const uint32_t n = counters_of(r);

	memset(h->count, 0, n * sizeof(*h->count));
	memset(h->precision, 0, n * sizeof(*h->precision));
	if (h->square)
		memset(h->square, 0, n * sizeof(*h->square));
	if (h->filter)
		memset(h->filter, 0, filter_sums_of(r) * sizeof(*h->filter));
	*h->batches = (struct sl_batches){0};
	return sl_tally_sums_add(r, dir, m, h);
}

enum sl_status sl_tally_sums_add(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h)
{
	for (size_t i = 0; i < m->n; i++) {
		uint64_t *sum;

		SL_TRY(sl_tallies_read(r, dir, &m->line[i], &sum));
		sl_tally_sums_add_batch(r, sum, m->line[i].generated, h);
		sl_memory_give(SL_HOST, sum);
	}
	return SL_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

/* What 1 in a sum, and in a sum of squares, stands for. square is 0 for scores. */
struct units {
	double sum, square;
};

static struct units units_of(const struct sl_recipe *r, const struct sl_grid_rule *g)
{
	if (g->score != SL_SCORE_ENDS)
		return (struct units){ldexp(1, g->score_shift - 32), 0};
	if (!sl_sums_weights(r))
		return (struct units){1, 1};
	return (struct units){sl_weight_of(r, 1), sl_square_unit(r)};
}

const uint64_t *sl_tally_counts(
	const struct sl_recipe *r, const struct sl_tally_sums *h, uint32_t number, int fate)
{
	const struct sl_grid_rule *g = &r->grids.grid[number];

	return h->count + g->skip + g->first[fate];
}

const double *sl_tally_row(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, uint32_t first, uint32_t n, enum sl_tally_quantity which)
{
	const struct sl_grid_rule *g = &r->grids.grid[number];
	const struct units unit = units_of(r, g);
	const uint64_t particles = h->batches->particles;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = g->skip + g->first[fate] + first + i;
		const struct sl_precision *p = &h->precision[at];
		double sum = (double)p->sum * unit.sum, mean = sum / (double)particles;
		double square = h->square ? (double)h->square[at] * unit.square : (double)p->sum;

		if (which == SL_TALLY_WEIGHT)
			h->row[i] = sum;
		else if (which == SL_TALLY_SQUARE)
			h->row[i] = square;
		else if (which == SL_TALLY_MEAN)
			h->row[i] = mean;
		else if (which == SL_TALLY_ERROR && unit.square > 0)
			h->row[i] = sl_error_of_mean(mean, square / (double)particles, particles);
		else
			h->row[i] = sl_precision_error(p, *h->batches) * unit.sum;
	}
	return h->row;
}

const double *sl_tally_cells(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, enum sl_tally_quantity which)
{
	return sl_tally_row(r, h, number, fate, 1, r->grids.grid[number].cells, which);
}
