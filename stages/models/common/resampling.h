/* resampling.h - how the particles of a batch are resampled, for models of particle filters. */
#ifndef SL_STAGES_MODELS_COMMON_RESAMPLING_H
#define SL_STAGES_MODELS_COMMON_RESAMPLING_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "primitives/primitives.h"
#include "stages/particle/particle.h"

/* How survivors are drawn: rounds/resample.h has the rules. */
enum sl_resampling_scheme {
	SL_RESAMPLE_SYSTEMATIC,
	SL_RESAMPLE_STRATIFIED,
	SL_RESAMPLE_RESIDUAL,
	SL_RESAMPLE_MULTINOMIAL
};
static const char *const sl_resampling_schemes[] = {
	"systematic", "stratified", "residual", "multinomial", NULL};

/* Columns of which means and variances are summed; quantiles of each: as many as a list has. */
enum { SL_FILTER_MOMENTS_MAX = 4, SL_FILTER_QUANTILES_MAX = 32 };

/* All zero: the particles of the model are independent. */
struct sl_resampling {
	uint32_t steps; /* that each particle takes: the observations of the filter */
	enum sl_resampling_scheme scheme;
	double below; /* resample if the effective sample size is less than this share of the
	                 particles; after the last step always */
	uint32_t n_moments, n_quantiles;
	enum sl_column moment[SL_FILTER_MOMENTS_MAX];
	double quantile[SL_FILTER_QUANTILES_MAX]; /* shares of the weight */
};

/*
 * Counters of a step of a filter: the order of the largest log weight (sl_filter_order()), the sum
 * of the integer weights, whether the step resampled, the sum of the squared weights as four sums of
 * 32 bits, lowest first; then for each moment the sums of weight times value and value squared; and
 * then the bits of the largest absolute value of each moment; and then the orders of the quantiles
 * of each moment (resample.h).
 */
enum sl_filter_word {
	SL_FILTER_PEAK,
	SL_FILTER_SUM,
	SL_FILTER_RESAMPLED,
	SL_FILTER_SQUARES,
	SL_FILTER_MOMENTS = SL_FILTER_SQUARES + 4
};
SL_HD uint32_t sl_filter_step_words(uint32_t n_moments, uint32_t n_quantiles)
{
	return SL_FILTER_MOMENTS + (3 + n_quantiles) * n_moments;
}

/* Orders as the floats do; NaN is below all others. */
SL_HD uint32_t sl_filter_order(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits ^= bits >> 31 ? UINT32_MAX : 0x80000000u;
	return bits & (0 - (uint32_t)(x == x)); /* not a branch, which has no vectors */
}

/* The bits of |x|; 0 unless it is finite. */
SL_HD uint32_t sl_filter_magnitude(float x)
{
	float magnitude = fabsf(x);
	uint32_t bits;

	memcpy(&bits, &magnitude, sizeof(bits));
	return bits & (0 - (uint32_t)(bits < 0x7f800000u));
}

/*
 * What a step on a device reads and finds besides the particles: whether they were resampled after
 * the step before, so that their log weights are 0 (NULL: they are); the largest log weight, by its
 * order, and the largest absolute value of each moment, whose columns moment points to
 * (NULL: there are no more).
 */
struct sl_filter_peaks {
	const uint64_t *resampled;
	uint64_t *peak, *magnitude;
	const float *moment[SL_FILTER_MOMENTS_MAX];
};

/*
 * The work of a step: the particles advance; largest values (a device finds them as it advances the
 * particles); weights and sums. After the scan
 * of the weights, for the quantiles of each moment: keys and numbers of the particles, to key and
 * end; after their sort, weights in this order, to draw; after their scan, the quantiles. Then
 * residual resampling: whole copies to end, whose sums are then there; multinomial: draws; ends.
 */
enum sl_filter_work {
	SL_FILTER_ADVANCE,
	SL_FILTER_LARGEST,
	SL_FILTER_WEIGH,
	SL_FILTER_KEY,
	SL_FILTER_RANK,
	SL_FILTER_QUANTILE,
	SL_FILTER_COPY,
	SL_FILTER_DRAW,
	SL_FILTER_END
};

#endif
