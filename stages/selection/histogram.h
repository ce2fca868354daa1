/*
 * histogram.h - histograms: how many particles ended with a fate and with a value of a column in
 * each bin. All particles are counted, not only the survivors.
 *
 * A histogram has a column, bins of equal width and a set of fates. Each fate has a row of
 * counters: one for values below the range, one per bin, one for values above. Each particle of the
 * fate is in exactly one counter of its row, so the row adds up to the count of the fate.
 *
 * Columns of real numbers: the last bin includes the upper end of the range; NaN counts as below. A
 * subtraction and a multiplication in single precision decide, so that a value within rounding of
 * an edge may count on either side of it, but on the same side on every machine. Columns of whole
 * numbers: each bin has the same number of values, and the upper end is the first value above the
 * range.
 *
 * If weights differ between particles, the sums of weights and of squared weights follow the
 * counts, as fixed-point numbers (weight.h). All sums are integers, so their order does not matter.
 *
 *	| counts | weights, if any | squares, if any |
 *
 *	counts of a histogram, one row per fate:   | below | bins | above | below | bins | above | ...
 */
#ifndef SL_STAGES_SELECTION_HISTOGRAM_H
#define SL_STAGES_SELECTION_HISTOGRAM_H

#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

enum {
	SL_HISTOGRAMS_MAX = 8,
	/*
	 * Bytes of all counts and sums of weights in the shared memory of a thread block, next to
	 * the largest records of survivors (select.cu). There a count has 32 bits, enough for the
	 * 2^31 particles of the largest batch, and a sum 64. Sums of squares come on top, or are in
	 * global memory if there are many.
	 */
	SL_HISTOGRAM_SHARED = 8192,
	SL_HISTOGRAM_SQUARES = 512, /* the most counters whose squares are in shared memory */
	SL_HISTOGRAM_SHARED_MOST = SL_HISTOGRAM_SQUARES * 20,
	SL_HISTOGRAM_OUTSIDE = 2, /* counters of a row in addition to the bins: below, above */
	SL_HISTOGRAM_MOST = SL_HISTOGRAM_SHARED / 4 - SL_HISTOGRAM_OUTSIDE, /* bins of one row */
	SL_NO_COUNTER = 0xffff
};

/* A histogram as the configuration states it. */
struct sl_histogram_axis {
	enum sl_column column;
	uint32_t bins;
	sl_fate_set fates;
	double lo, hi; /* in the unit of the column; whole numbers: bins divides hi - lo */
};

/* A histogram as the rule uses it. */
struct sl_histogram_rule {
	enum sl_column column;
	uint32_t bins;
	float lo, hi, scale;           /* real numbers: the range; bins per unit */
	uint32_t base, width;          /* whole numbers: the first one; numbers per bin. Signed
	                                  columns are counted from -2^31 */
	uint16_t first[SL_FATE_COUNT]; /* first counter of the row of a fate, or SL_NO_COUNTER */
};

struct sl_histogram_set {
	uint32_t n; /* histograms; 0: nothing is counted */
	uint32_t n_counters;
	sl_column_set columns; /* set of their columns */
	bool weighted;
	float square_scale; /* see sl_square_scale() */
	struct sl_histogram_rule tally[SL_HISTOGRAMS_MAX];
};

/* The number of 64-bit counters of a batch, sums included. */
SL_HD uint32_t sl_histogram_words(const struct sl_histogram_set *b)
{
	return b->n_counters * (b->weighted ? 3 : 1);
}

/* The most counters of all histograms. */
static inline uint32_t sl_histogram_counters_most(bool weighted)
{
	return SL_HISTOGRAM_SHARED /
	       (uint32_t)(sizeof(uint32_t) + (weighted ? sizeof(uint64_t) : 0));
}

/* Whether the sums of squares of a thread block are in shared memory. */
SL_HD bool sl_histogram_squares_shared(uint32_t n_counters, bool weighted)
{
	return weighted && n_counters <= SL_HISTOGRAM_SQUARES;
}

/* Bytes of shared memory for the counters of a thread block. */
static inline uint32_t sl_histogram_shared(uint32_t n_counters, bool weighted)
{
	uint32_t sums = weighted + sl_histogram_squares_shared(n_counters, weighted);

	return n_counters * (uint32_t)(sizeof(uint32_t) + sums * sizeof(uint64_t));
}

/* The bin, from 0, of a value from lo to hi. */
SL_HD uint32_t sl_bin_within(const struct sl_histogram_rule *t, float value)
{
	uint32_t bin = (uint32_t)((value - t->lo) * t->scale);

	return bin < t->bins ? bin : t->bins - 1;
}

/* The counter within a row that a value belongs to: 0 is below, bins + 1 above. */
SL_HD uint32_t sl_bin_of_float(const struct sl_histogram_rule *t, float value)
{
	if (!(value >= t->lo))
		return 0;
	if (value > t->hi)
		return t->bins + 1;
	return sl_bin_within(t, value) + 1;
}

SL_HD uint32_t sl_bin_of_integer(const struct sl_histogram_rule *t, uint32_t value)
{
	uint32_t bin;

	if (value < t->base)
		return 0;
	bin = (value - t->base) / t->width;
	return bin < t->bins ? bin + 1 : t->bins + 1;
}

/* The counter of particle i, which has the given fate, or SL_NO_COUNTER. */
SL_HD uint32_t sl_histogram_find(
	const struct sl_histogram_rule *t, const struct sl_columns *c, uint64_t i, uint8_t fate)
{
	uint32_t bin = 0;

	if (t->first[fate] == SL_NO_COUNTER)
		return SL_NO_COUNTER;
	switch (t->column) {
#define sl_bin_float(name)    sl_bin_of_float(t, c->name[i])
#define sl_bin_uint32_t(name) sl_bin_of_integer(t, c->name[i])
#define sl_bin_uint8_t(name)  sl_bin_of_integer(t, c->name[i])
#define sl_bin_int32_t(name)  sl_bin_of_integer(t, (uint32_t)c->name[i] ^ UINT32_C(1) << 31)
#define sl_bin_uint64_t(name) 0 /* id, which has no histogram */
#define COLUMN(name, type, unit, record, component, help) \
	case SL_COLUMN_##name:                            \
		bin = sl_bin_##type(name);                \
		break;
#include "stages/particle/columns.def"
#undef COLUMN
	case SL_COLUMN_COUNT:
		break;
	}
	return t->first[fate] + bin;
}

/* What is wrong with the range of a histogram, as the end of a sentence; NULL if nothing is. */
const char *sl_histogram_problem(const struct sl_histogram_axis *field);

/* The number of counters of n histograms, without sums of weights. */
uint32_t sl_histogram_counters(const struct sl_histogram_axis *field, uint32_t n);

/* Makes the rules of n histograms, of at most sl_histogram_counters_most() counters. */
struct sl_histogram_set sl_histogram_make(
	const struct sl_histogram_axis *field, uint32_t n, bool weighted);

/*
 * Checks that each row of the counters sum adds up to the count of its fate, and its sums to all of
 * the fate. Returns a fate for which it does not, or SL_FATE_COUNT.
 */
enum sl_fate sl_histogram_mismatch(const struct sl_histogram_set *b, const uint64_t *sum,
	const uint64_t count[SL_FATE_COUNT], const uint64_t weight[SL_FATE_COUNT],
	const uint64_t square[SL_FATE_COUNT]);

SL_C_END

#endif
