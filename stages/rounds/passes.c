/* passes.c - the work of a filter (resample.h) on the host. Compiled for each level. */
#include "stages/rounds/passes.h"

static void find_largest(const struct sl_filter_pass *p)
{
	uint64_t *const largest = p->word + SL_FILTER_MOMENTS + 2 * p->n_moments;
	uint32_t peak = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t order = sl_filter_order(p->columns.log_weight[i]);

		peak = order > peak ? order : peak;
	}
	p->word[SL_FILTER_PEAK] = peak;
	for (uint32_t k = 0; k < p->n_moments; k++) {
		uint32_t most = 0;

		for (uint32_t i = 0; i < p->n; i++) {
			uint32_t magnitude = sl_filter_magnitude(p->moment[k][i]);

			most = magnitude > most ? magnitude : most;
		}
		largest[k] = most;
	}
}

/* Particles whose weights are computed before they are rounded: without the sums, in vectors. */
enum { TILE = 256 };

static void weigh(const struct sl_filter_pass *p)
{
	const float peak = sl_filter_of_order((uint32_t)p->word[SL_FILTER_PEAK]);
	double weight[TILE], scale[2 * SL_FILTER_MOMENTS_MAX];
	uint64_t sum[SL_FILTER_SUMS] = {0};

	sl_filter_scales(p, scale);
	for (uint32_t at = 0, n; at < p->n; at += n) {
		n = p->n - at < TILE ? p->n - at : TILE;
		for (uint32_t i = 0; i < n; i++)
			weight[i] = sl_filter_weight(p, at + i, peak);
		for (uint32_t i = 0; p->n_moments == 1 && i < n; i++)
			p->weight[at + i] = sl_filter_weigh(p, 1, at + i, weight[i], scale, sum);
		for (uint32_t i = 0; p->n_moments != 1 && i < n; i++)
			p->weight[at + i] =
				sl_filter_weigh(p, p->n_moments, at + i, weight[i], scale, sum);
	}
	memcpy(p->word + SL_FILTER_SQUARES, sum, (4 + 2 * p->n_moments) * sizeof(*sum));
}

void SL_AT_LEVEL(sl_loop_filter)(enum sl_filter_work which, const struct sl_filter_pass *p)
{
	struct sl_filter_sums sums;

	if (which == SL_FILTER_LARGEST)
		find_largest(p);
	if (which == SL_FILTER_WEIGH)
		weigh(p);
	if (which <= SL_FILTER_WEIGH)
		return;
	sums = sl_filter_find_sums(p);
	for (uint32_t i = 0; i < p->n; i++)
		sl_filter_item(which, p, &sums, i);
}
