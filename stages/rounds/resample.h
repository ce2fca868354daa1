/*
 * resample.h - particle filters: all particles of a batch take a step, and then are resampled.
 *
 * After a step, particle i has the log weight l_i. Of N particles the integer weights are
 *
 *	w_i = floor(exp(l_i - max l) 2^k)    k = 63 - ceil(log2 N)
 *
 * so that C_i = w_0 + ... + w_i and S = C_{N-1} <= 2^63 are exact. The effective sample size is
 * S^2 / sum w_i^2; both are compared in 128 bits. Slot j gets a copy of the first particle i with
 * C_i > (j + u_j) S / N, where u_j = U_j / 2^32 is
 *
 *	systematic    the same number in all slots
 *	stratified    a number of the slot
 *	residual      floor(N w_i / S) copies of each particle come first; the other slots are
 *	              stratified by the remainders N w_i mod S
 *	multinomial   the slots have the sorted numbers V_j of 63 bits: C_i 2^63 > V_j S
 *
 * The copies of particle i end at slot E_i, which follows from C_i alone in integers, so the
 * ancestors are the same everywhere; the primitive expand copies the columns. A step that does not
 * resample copies each particle to its own slot, so that the host need not know. Slot j draws
 * from the random stream of its id, not from that of its ancestor. U_j and V_j are from the blocks
 * from 2^63 on; systematic resampling takes those of slot 0.
 *
 * Means and variances are sums of exp(l_i - max l) x and of that times x, rounded to multiples of
 * 2^-(62 - ceil(log2 N)) of a power of 2 above the largest |x| or x^2, so that they are exact too.
 *
 * The quantile p is the smallest x for which the particles up to x have the weight P S / 2^32 or
 * more, P = round(p 2^32). The particles are sorted by x, and their weights summed in this order.
 */
#ifndef SL_STAGES_ROUNDS_RESAMPLE_H
#define SL_STAGES_ROUNDS_RESAMPLE_H

#include "primitives/device/device.h"
#include "primitives/primitives.h"
#include "stages/batch/loops.h"
#include "stages/models/common/resampling.h"
#include "stages/particle/random.h"
#include "stages/selection/functions.h"

SL_C_BEGIN

__extension__ typedef unsigned __int128 sl_u128;
__extension__ typedef __int128 sl_i128;

/* A pass over the particles after a step. Memory is that of the work. */
struct sl_filter_pass {
	uint64_t seed, first_id;
	uint32_t n, step, n_moments, n_quantiles, sorted; /* sorted: the moment of KEY and later */
	enum sl_resampling_scheme scheme;
	uint32_t least;            /* resample if the effective sample size is less */
	bool last;                 /* resample in any case */
	int log_n;                 /* ceil(log2 n) */
	struct sl_columns columns; /* of the particles */
	const float *moment[SL_FILTER_MOMENTS_MAX];
	uint64_t quantile[SL_FILTER_QUANTILES_MAX]; /* P */
	uint64_t *weight, *draw;
	uint32_t *key, *end;
	uint64_t *word; /* the counters of the step (enum sl_filter_word) */
};

/* All but the first, of all particles: on the host, for each CPU level, and on a device. */
typedef void sl_filter_loop(enum sl_filter_work which, const struct sl_filter_pass *p);
typedef enum sl_status sl_filter_launcher(
	enum sl_filter_work which, const struct sl_filter_pass *p, sl_stream s);
sl_filter_launcher sl_queue_filter, sl_queue_filter_emulated;

/* --- the particles of a pass, for host and device --------------------------------------------- */

/* Orders as the floats do; NaN is below all others. */
SL_HD uint32_t sl_filter_order(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits ^= bits >> 31 ? UINT32_MAX : 0x80000000u;
	return bits & (0 - (uint32_t)(x == x)); /* not a branch, which has no vectors */
}

/* The float of that order. */
SL_HD float sl_filter_of_order(uint32_t order)
{
	uint32_t bits = order >> 31 ? order & 0x7fffffffu : ~order;
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The bits of |x|; 0 unless it is finite. */
SL_HD uint32_t sl_filter_magnitude(float x)
{
	float magnitude = fabsf(x);
	uint32_t bits;

	memcpy(&bits, &magnitude, sizeof(bits));
	return bits & (0 - (uint32_t)(bits < 0x7f800000u));
}

/* 2^e for -1022 <= e <= 1023. */
SL_HD double sl_filter_power(int e)
{
	return sl_double((uint64_t)(1023 + e) << 52);
}

/* The factor of the terms of a sum of |x|^power: the sum of n of them fits. */
SL_HD double sl_filter_scale(int log_n, uint64_t largest, int power)
{
	return sl_filter_power(62 - log_n - power * ((int)(largest >> 23) - 126));
}

/* The weight of particle i before it is rounded: exp(l_i - max l), or 0. */
SL_HD double sl_filter_weight(const struct sl_filter_pass *p, uint64_t i, float peak)
{
	float l = p->columns.log_weight[i];
	double weight = sl_exp_double((double)l - (double)peak);

	return fabsf(l) <= 3.4028234e38f ? weight : 0.0;
}

/* The words of a thread for the pass weigh: squares, then two sums for each moment. */
enum { SL_FILTER_SUMS = 4 + 2 * SL_FILTER_MOMENTS_MAX };

/*
 * The whole part of x modulo 2^64, for |x| < 2^63, and for x = 2^63 if not is_signed, a constant. AVX2
 * cannot convert doubles to 64 bits: there, each half of the result is made of the lowest bits of a
 * number near 3 * 2^51.
 */
SL_HD uint64_t sl_filter_whole(double x, bool is_signed)
{
#if defined(__CUDA_ARCH__) || defined(__AVX512DQ__) || defined(__aarch64__)
	return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
#else
	const double shift = 0x1.8p52, whole = trunc(x), high = whole * 0x1p-32 + shift;
	const double low = whole - (high - shift) * 0x1p32;

	(void)is_signed;
	return (sl_double_bits(high) << 32) + (sl_double_bits(low + shift) - sl_double_bits(shift));
#endif
}

/* Adds the terms of a moment of a particle with that weight, and x in its column. */
SL_HD void sl_filter_add_moment(double weight, double x, const double scale[2], uint64_t sum[2])
{
	double first = weight * (fabs(x) < 3.5e38 ? x : 0.0), second = first * x * scale[1];

	sum[0] += sl_filter_whole(first * scale[0], true);
	sum[1] += sl_filter_whole(fabs(first) > 0 ? second : 0.0, true);
}

/*
 * The integer weight of particle i, whose sl_filter_weight() is weight; adds to the sums. The square
 * is that of two halves, so that the host computes it in vectors. n_moments: a constant.
 */
SL_HD_PART uint64_t sl_filter_weigh(const struct sl_filter_pass *p, uint32_t n_moments, uint64_t i,
	double weight, const double scale[2 * SL_FILTER_MOMENTS_MAX], uint64_t *sum)
{
	const uint64_t w = sl_filter_whole(weight * sl_filter_power(63 - p->log_n), false);
	const uint64_t low = w & UINT32_MAX, high = w >> 32;
	const uint64_t first = low * low, twice = 2 * low * high, last = high * high;
	const uint64_t second = (first >> 32) + (twice & UINT32_MAX);
	const uint64_t third = (second >> 32) + (twice >> 32) + (last & UINT32_MAX);

	sum[0] += first & UINT32_MAX;
	sum[1] += second & UINT32_MAX;
	sum[2] += third & UINT32_MAX;
	sum[3] += (third >> 32) + (last >> 32);
	for (uint32_t k = 0; k < n_moments; k++)
		sl_filter_add_moment(weight, k < p->n_moments ? (double)p->moment[k][i] : 0,
			scale + 2 * k, sum + 4 + 2 * k);
	return w;
}

SL_HD void sl_filter_scales(const struct sl_filter_pass *p, double scale[2 * SL_FILTER_MOMENTS_MAX])
{
	for (uint32_t k = 0; k < SL_FILTER_MOMENTS_MAX; k++)
		for (uint32_t power = 1; power <= 2; power++)
			scale[2 * k + power - 1] =
				k >= p->n_moments
					? 0
					: sl_filter_scale(p->log_n,
						  p->word[SL_FILTER_MOMENTS + 2 * p->n_moments + k],
						  (int)power);
}

/* U_j: 32 random bits. */
SL_HD uint32_t sl_filter_uniform(const struct sl_filter_pass *p, uint64_t slot)
{
	const uint64_t block = (UINT64_C(1) << 63) + p->step;
	const uint64_t of = p->scheme == SL_RESAMPLE_SYSTEMATIC ? 0 : slot;

	return sl_draw(p->seed, p->first_id + of, block).at[0];
}

/* V_j: 63 random bits. */
SL_HD uint64_t sl_filter_draw(const struct sl_filter_pass *p, uint32_t slot)
{
	struct sl_words words = sl_draw(p->seed, p->first_id + slot, (UINT64_C(1) << 63) + p->step);

	return (uint64_t)(words.at[1] >> 1) << 32 | words.at[0];
}

/* What is the same for all particles, after the scan of the weights. */
struct sl_filter_sums {
	uint64_t sum;     /* S */
	double slots;     /* N / S */
	bool resamples;   /* whether the particles are resampled */
	uint32_t uniform; /* U_j of systematic resampling */
};

SL_HD struct sl_filter_sums sl_filter_find_sums(const struct sl_filter_pass *p)
{
	const uint64_t s = p->weight[p->n - 1], *q = p->word + SL_FILTER_SQUARES;
	const sl_u128 squares =
		((sl_u128)q[3] << 96) + ((sl_u128)q[2] << 64) + ((sl_u128)q[1] << 32) + q[0];
	struct sl_filter_sums sums = {.sum = s, .slots = (double)p->n / (double)s};

	sums.resamples = s > 0 && (p->last || (sl_u128)s * s < squares * p->least);
	if (p->scheme == SL_RESAMPLE_SYSTEMATIC)
		sums.uniform = sl_filter_uniform(p, 0);
	return sums;
}

/* floor(N c / S) and the remainder, for c <= S; the quotient is exact. */
SL_HD uint64_t sl_filter_slots(const struct sl_filter_pass *p, const struct sl_filter_sums *sums,
	uint64_t c, uint64_t *rest)
{
	const uint64_t s = sums->sum;
	uint64_t q = (uint64_t)((double)c * sums->slots);
	sl_i128 left = (sl_i128)((sl_u128)c * p->n) - (sl_i128)((sl_u128)q * s);

	for (; left < 0; left += s)
		q--;
	for (; left >= (sl_i128)s; left -= s)
		q++;
	*rest = (uint64_t)left;
	return q;
}

/* floor(N w_i / S). */
SL_HD uint32_t sl_filter_copies(
	const struct sl_filter_pass *p, const struct sl_filter_sums *sums, uint32_t i)
{
	const uint64_t before = i > 0 ? p->weight[i - 1] : 0;
	uint64_t rest;

	return sums->sum == 0 ? 1
	                      : (uint32_t)sl_filter_slots(p, sums, p->weight[i] - before, &rest);
}

/* E_i of multinomial resampling: the number of draws below C_i, by a binary search. */
SL_HD uint32_t sl_filter_end_of_draws(const struct sl_filter_pass *p, uint32_t i)
{
	const uint64_t s = p->weight[p->n - 1];
	const sl_u128 sum = (sl_u128)p->weight[i] << 63;
	uint32_t first = 0;

	for (uint32_t n = p->n; n > 0;) {
		uint32_t half = n / 2;
		bool below = (sl_u128)p->draw[first + half] * s < sum;

		first += below ? half + 1 : 0;
		n = below ? n - half - 1 : half;
	}
	return first;
}

/*
 * E_i. q = floor(N C_i / S) slots are those of the particles up to i, and so is the next one, if
 * U / 2^32 < rest / S; of residual resampling `whole` of them are copies.
 */
SL_HD uint32_t sl_filter_end(
	const struct sl_filter_pass *p, const struct sl_filter_sums *sums, uint32_t i)
{
	uint64_t rest, q;
	uint32_t u = sums->uniform;

	if (p->scheme == SL_RESAMPLE_MULTINOMIAL)
		return sl_filter_end_of_draws(p, i);
	q = sl_filter_slots(p, sums, p->weight[i], &rest);
	if (p->scheme != SL_RESAMPLE_SYSTEMATIC)
		u = sl_filter_uniform(p, q - (p->scheme == SL_RESAMPLE_RESIDUAL ? p->end[i] : 0));
	return (uint32_t)q + ((sl_u128)u * sums->sum < (sl_u128)rest << 32);
}

/* Sets the quantiles whose weight particle i of the sorted ones reaches. */
SL_HD void sl_filter_quantile(const struct sl_filter_pass *p, uint32_t i)
{
	const uint64_t s = p->weight[p->n - 1], before = i > 0 ? p->draw[i - 1] : 0;
	uint64_t *const to = p->word + sl_filter_step_words(p->n_moments, 0);

	for (uint32_t k = 0; k < p->n_quantiles; k++) {
		sl_u128 wanted = (sl_u128)p->quantile[k] * s;

		if ((sl_u128)before << 32 < wanted && wanted <= (sl_u128)p->draw[i] << 32)
			to[p->sorted * p->n_quantiles + k] = p->key[i];
	}
}

/*
 * The work after WEIGH of particle i. END sets the end of its run of slots, and the log weight of
 * slot i.
 */
SL_HD void sl_filter_item(enum sl_filter_work which, const struct sl_filter_pass *p,
	const struct sl_filter_sums *sums, uint32_t i)
{
	if (which == SL_FILTER_KEY) {
		p->key[i] = sl_filter_order(p->moment[p->sorted][i]);
		p->end[i] = i;
	}
	if (which == SL_FILTER_RANK)
		p->draw[i] = p->weight[p->end[i]] - (p->end[i] > 0 ? p->weight[p->end[i] - 1] : 0);
	if (which == SL_FILTER_QUANTILE)
		sl_filter_quantile(p, i);
	if (which == SL_FILTER_COPY)
		p->end[i] = sl_filter_copies(p, sums, i);
	if (which == SL_FILTER_DRAW)
		p->draw[i] = sl_filter_draw(p, i);
	if (which != SL_FILTER_END)
		return;
	p->end[i] = sums->resamples ? sl_filter_end(p, sums, i) : i + 1;
	if (sums->resamples)
		p->columns.log_weight[i] = 0;
	if (i == 0) {
		p->word[SL_FILTER_SUM] = sums->sum;
		p->word[SL_FILTER_RESAMPLED] = sums->resamples;
	}
}

/* --- a batch ---------------------------------------------------------------------------------- */

struct sl_recipe;

/* Lays out what a filter of at most n particles needs in addition to its columns. */
void sl_filter_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* Bytes of scratch for the primitives of a step. */
size_t sl_filter_scratch(const struct sl_recipe *r, uint32_t n);

/* Does or queues work of a step of a filter. */
typedef enum sl_status sl_filter_runner(const struct sl_recipe *r, void *ctx, struct sl_batch *b,
	enum sl_filter_work which, const struct sl_filter_pass *p);

/*
 * Runs all steps of b, which has been generated. counters are those of the filter, all 0, in the
 * memory of x. The host does not wait.
 */
enum sl_status sl_filter_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	sl_filter_runner *run, void *ctx, uint64_t *counters);

/*
 * What the counters of a step say: the log likelihood of the observations up to this one, the
 * effective sample size, 1 if it resampled, else 0; then mean and variance of each moment; then the
 * quantiles of each moment.
 */
enum {
	SL_FILTER_FACTS = 3,
	SL_FILTER_VALUES = SL_FILTER_FACTS + (2 + SL_FILTER_QUANTILES_MAX) * SL_FILTER_MOMENTS_MAX
};

/*
 * Sets the values of a step of a filter of n particles. *before, 0 before the first step, is the log
 * likelihood at the last resampling. The same bits everywhere.
 */
void sl_filter_read_step(const struct sl_resampling *f, uint32_t n, const uint64_t *word,
	double *before, double value[SL_FILTER_VALUES]);

/*
 * Sets the log likelihood in the tally of a batch whose counters are complete. SL_CHECK_FAILED if no
 * particle has a weight any more.
 */
enum sl_status sl_filter_complete(const struct sl_recipe *r, struct sl_batch *b);

SL_C_END

#endif
