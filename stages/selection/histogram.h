/*
 * histogram.h - tallies by bins: how many particles ended with which fate and with which value of a
 * column, all of them counted, dead or alive.
 *
 * A tally has a column, bins of equal width and a set of fates, each of which has a row of counters
 * of its own: values below the range, the bins, values above it. So every particle of the fate is
 * in exactly one counter of its row.
 *
 * Columns of real numbers: the last bin has the upper end of the range, as ranges of models have
 * it; NaN counts as below. One subtraction and one multiplication decide, in single precision, so
 * that a value within rounding of an edge may be counted on either side of it, on every machine
 * the same. Columns of whole numbers: bins are of so many numbers each, exactly, and the upper end
 * is the first number above the range.
 *
 * Where particles differ in weight, the sums of weights stand behind the counts, in the fixed point
 * of weight.h. Sums are integers: their order does not matter.
 *
 *	counts | weights, if any |        of a tally: fate after fate, | below | bins | above |
 */
#ifndef SL_STAGES_SELECTION_HISTOGRAM_H
#define SL_STAGES_SELECTION_HISTOGRAM_H

#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

enum {
	SL_HISTOGRAMS_MAX = 8,
	/*
	 * Bytes of counters: what a block of a kernel can have in shared memory beside the largest
	 * survivors' records (select.cu). There a counter has 32 bits, enough for the 2^31 particles
	 * of the largest batch, and a sum of weights 64.
	 */
	SL_HISTOGRAM_SHARED = 8192,
	SL_HISTOGRAM_OUTSIDE = 2, /* counters of a row beside its bins: below, above */
	SL_HISTOGRAM_MOST = SL_HISTOGRAM_SHARED / 4 - SL_HISTOGRAM_OUTSIDE, /* of one row */
	SL_NO_COUNTER = 0xffff
};

/* A tally as the configuration states it. */
struct sl_histogram_axis {
	enum sl_column column;
	uint32_t bins;
	sl_fate_set fates;
	double lo, hi; /* in the unit of the column; whole numbers: hi - lo divides by bins */
};

/* A tally as the rule uses it. */
struct sl_histogram_rule {
	enum sl_column column;
	uint32_t bins;
	float lo, hi, scale;           /* of real numbers: the range, bins per unit */
	uint32_t base, width;          /* of whole numbers: the least, numbers a bin; those with a
	                                  sign are counted from -2^31 */
	uint16_t first[SL_FATE_COUNT]; /* where the row of a fate begins, or SL_NO_COUNTER */
};

struct sl_histogram_set {
	uint32_t n; /* tallies; 0: nothing is counted */
	uint32_t n_counters;
	uint32_t columns; /* set of those tallied */
	bool weighted;
	struct sl_histogram_rule tally[SL_HISTOGRAMS_MAX];
};

/* The words of 64 bits that the sums of a batch take. */
SL_HD uint32_t sl_histogram_words(const struct sl_histogram_set *b)
{
	return b->n_counters * (b->weighted ? 2 : 1);
}

/* Bytes of the counters that a block of a kernel has. */
static inline uint32_t sl_histogram_shared(uint32_t n_counters, bool weighted)
{
	return n_counters * (uint32_t)(sizeof(uint32_t) + (weighted ? sizeof(uint64_t) : 0));
}

/* Which counter of its row a value belongs to: 0 is below, bins + 1 above. */
SL_HD uint32_t sl_bin_of_float(const struct sl_histogram_rule *t, float value)
{
	uint32_t bin;

	if (!(value >= t->lo))
		return 0;
	if (value > t->hi)
		return t->bins + 1;
	bin = (uint32_t)((value - t->lo) * t->scale);
	return bin < t->bins ? bin + 1 : t->bins;
}

SL_HD uint32_t sl_bin_of_integer(const struct sl_histogram_rule *t, uint32_t value)
{
	uint32_t bin;

	if (value < t->base)
		return 0;
	bin = (value - t->base) / t->width;
	return bin < t->bins ? bin + 1 : t->bins + 1;
}

/* The counter of particle i of the columns, of that fate, or SL_NO_COUNTER. */
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
#define sl_bin_uint64_t(name) 0 /* the id, which is nothing to tally */
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

/* What is wrong with the range of a tally, or NULL: the rule must be able to tell its bins. */
const char *sl_histogram_problem(const struct sl_histogram_axis *field);

/* The counters of n tallies. */
uint32_t sl_histogram_counters(const struct sl_histogram_axis *field, uint32_t n);

/* Makes the rules of n tallies, whose counters fit. */
struct sl_histogram_set sl_histogram_make(
	const struct sl_histogram_axis *field, uint32_t n, bool weighted);

/*
 * Is every particle of a batch in one counter, and its weight? sum: its sums; count, weight: those
 * of its fates. Names a fate for which they do not add up, SL_FATE_COUNT if there is none.
 */
enum sl_fate sl_histogram_mismatch(const struct sl_histogram_set *b, const uint64_t *sum,
	const uint64_t count[SL_FATE_COUNT], const uint64_t weight[SL_FATE_COUNT]);

SL_C_END

#endif
