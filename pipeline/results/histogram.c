/*
 * histogram.c - checks and adds up the histogram files of the batches.
 *
 * The words of a file are used as they are in memory, so the machine must be little-endian.
 */
#include "pipeline/results/histogram.h"
#include "primitives/files/read.h"
#include "primitives/files/crc32.h"
#include "primitives/files/files.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "histogram files are little-endian words, read without conversion"
#endif

void sl_histogram_sums_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, struct sl_histogram_sums *h)
{
	const struct sl_histogram_set *bins = &r->bins;

	*h = (struct sl_histogram_sums){.sum = NULL};
	sl_grid_sums_lay_out(a, &r->grids, &h->grids);
	if (bins->n == 0)
		return;
	h->sum = (uint64_t *)sl_cut_items(a, sl_histogram_words(bins), sizeof(*h->sum));
	h->precision =
		(struct sl_precision *)sl_cut_items(a, bins->n_counters, sizeof(*h->precision));
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
	if (sl_histogram_mismatch(&r->bins, sum, l->tally.count, l->tally.weight) !=
			SL_FATE_COUNT ||
		sl_grid_mismatch(&r->grids, sl_grid_counters_of(r, sum), l->tally.count,
			l->tally.weight) != SL_FATE_COUNT)
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
	const struct sl_histogram_set *bins = &r->bins;

	for (uint32_t i = 0; i < sl_histogram_words(bins); i++)
		h->sum[i] += sum[i];
	/* the error needs each batch by itself, so it cannot be computed from the sums */
	for (uint32_t i = 0; i < bins->n_counters; i++) {
		double weight = bins->weighted ? sl_weight_of(r, sum[bins->n_counters + i])
		                               : (double)sum[i];

		sl_precision_take(&h->precision[i], weight, particles);
	}
	sl_grid_sums_add_batch(r, sum + sl_histogram_words(bins), particles, &h->grids);
}

enum sl_status sl_histogram_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h)
{
	const struct sl_histogram_set *bins = &r->bins;

	if (bins->n > 0) {
		memset(h->sum, 0, sl_histogram_words(bins) * sizeof(*h->sum));
		memset(h->precision, 0, bins->n_counters * sizeof(*h->precision));
	}
	sl_grid_sums_clear(&r->grids, &h->grids);
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

void sl_histogram_row(const struct sl_histogram_set *bins, const struct sl_histogram_sums *h,
	uint32_t tally, enum sl_fate fate, struct sl_histogram_row *row)
{
	const struct sl_histogram_rule *t = &bins->tally[tally];
	uint32_t first = t->first[fate], n = t->bins + SL_HISTOGRAM_OUTSIDE;

	row->count = h->sum + first;
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_precision *p = &h->precision[first + i];

		row->weight[i] = p->weight;
		row->mean[i] = p->weight / (double)p->particles;
		row->error[i] = sl_precision_error(p);
	}
}
