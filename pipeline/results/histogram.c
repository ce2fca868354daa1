/*
 * histogram.c - checks and adds up the histogram files of the batches.
 *
 * The words of a file are used as they are in memory, so the machine must be little-endian.
 */
#include "pipeline/results/histogram.h"
#include "primitives/files/crc32.h"
#include "primitives/files/files.h"
#include "primitives/files/read.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "histogram files are little-endian words, read without conversion"
#endif

void sl_histogram_sums_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, struct sl_histogram_sums *h)
{
	struct sl_batches *batches = NULL;
	uint32_t row = 0;

	if (sl_counter_words(r) > 0)
		batches = (struct sl_batches *)sl_cut_items(a, 1, sizeof(*batches));
	for (uint32_t k = 0; k < r->bins.n; k++)
		row = r->bins.tally[k].bins > row ? r->bins.tally[k].bins : row;
	sl_counter_sums_lay_out(a, r->grids.n_counters, sl_grid_row_most(&r->grids),
		r->grids.weighted, batches, &h->grids);
	sl_counter_sums_lay_out(a, r->bins.n_counters, row + SL_HISTOGRAM_OUTSIDE, r->bins.weighted,
		batches, &h->bins);
}

/* Fails with what is wrong with the histogram file of a line. */
static enum sl_status wrong(const struct sl_manifest_line *l, const char *what)
{
	return sl_fail(SL_CHECK_FAILED,
		"%s: %s (batch %llu: the file or the manifest was changed, or the disk is "
		"failing); use --resume, which computes the batch again",
		l->bins_file, what, (unsigned long long)l->batch);
}

/* Checks the bytes of a file against the line of the manifest. */
static enum sl_status check(
	const struct sl_recipe *r, const struct sl_manifest_line *l, uint64_t *sum, size_t bytes)
{
	if (bytes != l->bins_bytes || sl_crc32(sum, bytes) != l->bins_crc)
		return wrong(l, "its size or checksum is not that of the manifest");
	if (bytes != sl_counter_words(r) * sizeof(*sum))
		return wrong(l, "its size does not match the histograms of this run");
	if (sl_histogram_mismatch(&r->bins, sum, l->tally.count, l->tally.weight,
		    l->tally.square) != SL_FATE_COUNT ||
		sl_grid_mismatch(&r->grids, sl_grid_counters_of(r, sum), l->tally.count,
			l->tally.weight, l->tally.square) != SL_FATE_COUNT)
		return wrong(l, "its histograms do not add up to the fates");
	if (sl_grid_score_problem(
		    &r->grids, sl_grid_counters_of(r, sum), l->tally.steps, l->tally.collisions))
		return wrong(l, "its scores do not add up to the steps and collisions");
	return SL_OK;
}

enum sl_status sl_histogram_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum)
{
	enum sl_status s;
	bool exists = false;
	size_t bytes;
	char *read;

	*sum = NULL;
	if (line->bins_file[0])
		SL_TRY(sl_file_exists(dir, line->bins_file, &exists));
	if (!exists)
		return wrong(line, "the histogram file is missing");
	SL_TRY(sl_file_read(dir, line->bins_file, &read, &bytes));
	*sum = (uint64_t *)(void *)read;
	s = check(r, line, *sum, bytes);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *sum);
		*sum = NULL;
	}
	return s;
}

void sl_histogram_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_histogram_sums *h)
{
	const uint32_t n = r->bins.n_counters;
	const uint64_t *weight = r->bins.weighted ? sum + n : NULL;
	const struct sl_batch_sums batch = {
		sum, weight, weight ? weight + n : NULL, r->inputs != NULL};

	sl_counter_sums_add(&h->bins, 0, n, &batch, particles);
	sl_grid_sums_add_batch(r, sum + sl_histogram_words(&r->bins), particles, &h->grids);
	h->bins.batches->n++;
	h->bins.batches->particles += particles;
}

enum sl_status sl_histogram_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h)
{
	sl_counter_sums_clear(&h->bins, r->bins.n_counters);
	sl_counter_sums_clear(&h->grids, r->grids.n_counters);
	*h->bins.batches = (struct sl_batches){0};
	return sl_histogram_sums_add(r, dir, m, h);
}

enum sl_status sl_histogram_sums_add(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h)
{
	for (size_t i = 0; i < m->n; i++) {
		uint64_t *sum;

		SL_TRY(sl_histogram_read(r, dir, &m->line[i], &sum));
		sl_histogram_sums_add_batch(r, sum, m->line[i].generated, h);
		sl_memory_give(SL_HOST, sum);
	}
	return SL_OK;
}
