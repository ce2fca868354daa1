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
	for (uint64_t at = 0, n; at < p->n; at += n) {
		n = p->n - at < TILE ? p->n - at : TILE;
		for (uint64_t i = 0; i < n; i++)
			weight[i] = sl_filter_weight(p, at + i, peak);
		for (uint64_t i = 0; i < n; i++)
			p->weight[at + i] = sl_filter_weigh(p, 0, at + i, weight[i], scale, sum);
		for (uint32_t k = 0; k < p->n_moments; k++) {
			uint64_t part[2] = {0};

			for (uint64_t i = 0; i < n; i++)
				sl_filter_add_moment(weight[i], (double)p->moment[k][at + i],
					scale + 2 * k, part);
			sum[4 + 2 * k] += part[0];
			sum[5 + 2 * k] += part[1];
		}
	}
	memcpy(p->word + SL_FILTER_SQUARES, sum, (4 + 2 * p->n_moments) * sizeof(*sum));
}

/* (double)c in operations that all levels have for vectors: only the last one rounds. */
static double double_of(uint64_t c)
{
	return sl_double(c >> 32 | UINT64_C(0x453) << 52) - (0x1p84 + 0x1p52) +
	       sl_double((c & UINT32_MAX) | UINT64_C(0x433) << 52);
}

/*
 * Sets E_i of systematic resampling: how many whole numbers j >= 0 are below x = N C_i / S - U / 2^32,
 * which is x rounded up. Doubles round five times: C_i, S, N / S, the product and the difference. Each
 * error is at most 2^-53 of a number up to N (1 + 2^-50), so that of x is less than N 2^-50. If an x
 * is as near as this to a whole number, returns false, and the ends are not valid.
 */
static bool find_ends(
	const struct sl_filter_pass *p, const struct sl_filter_sums *sums, uint32_t at, uint32_t n)
{
	const double offset = sums->uniform * 0x1p-32, slots = sums->slots, error = p->n * 0x1p-50;
	const uint64_t *sum = p->weight + at;
	uint32_t *end = p->end + at;
	uint64_t near = 0;

	for (uint32_t i = 0; i < n; i++) {
		double x = double_of(sum[i]) * slots - offset, shifted = x + 0x1.8p52;
		double above = x - (shifted - 0x1.8p52);

		end[i] = (uint32_t)(sl_double_bits(shifted) + (above > 0 ? 1u : 0u));
		near |= fabs(above) <= error ? 1u : 0u;
	}
	return near == 0;
}

/* The work END of systematic resampling. */
static void end_runs(const struct sl_filter_pass *p, const struct sl_filter_sums *sums)
{
	for (uint32_t at = 0, n; at < p->n; at += n) {
		n = p->n - at < TILE ? p->n - at : TILE;
		if (find_ends(p, sums, at, n))
			continue;
		for (uint32_t i = at; i < at + n; i++)
			sl_filter_item(SL_FILTER_END, p, sums, i);
	}
	memset(p->columns.log_weight, 0, p->n * sizeof(float));
	sl_filter_item(SL_FILTER_END, p, sums, 0); /* the counters */
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
	if (which == SL_FILTER_END && p->scheme == SL_RESAMPLE_SYSTEMATIC && sums.resamples) {
		end_runs(p, &sums);
		return;
	}
	for (uint32_t i = 0; i < p->n; i++)
		sl_filter_item(which, p, &sums, i);
}
