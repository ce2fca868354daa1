/* histogram.c - checks the axes of histograms, makes their rules, and checks their counts. */
#include "stages/selection/histogram.h"

#include <float.h>
#include <math.h>

/* Columns of real numbers are all single precision; the others are whole numbers. */
static bool is_float(enum sl_column column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

/*
 * Whether a value is a whole number that a column of 32 bits, from least on, can hold, or one more.
 */
static bool is_whole(double value, double least)
{
	return value >= least && value - least <= 0x1p32 && value == floor(value);
}

/*
 * Checks the range as the rule sees it: in single precision, where no bin may overflow or vanish.
 */
static const char *float_flaw(const struct sl_histogram_axis *f)
{
	double scale = f->bins / (f->hi - f->lo);

	if (!(f->hi - f->lo <= FLT_MAX) || !(fabs(f->lo) <= FLT_MAX) || !(fabs(f->hi) <= FLT_MAX))
		return "is not finite in single precision, the type of the column";
	if (!((float)f->lo < (float)f->hi))
		return "is empty: its first end must be below its second";
	return scale <= FLT_MAX && scale >= FLT_MIN
	               ? NULL
	               : "cannot be divided into that many bins in single precision";
}

/*
 * Checks the range of a column of whole numbers. Bins must have equally many numbers, or the counts
 * of neighbouring bins could not be compared.
 */
static const char *integer_flaw(const struct sl_histogram_axis *f)
{
	double least = sl_least_whole(f->column);

	if (!is_whole(f->lo, least) || !is_whole(f->hi, least))
		return SL_NOT_WHOLE(least);
	if (!(f->lo < f->hi))
		return "is empty: its first end must be below its second";
	if ((f->hi - f->lo) / f->bins >= 0x1p32)
		return "has bins of 2^32 or more integers";
	return fmod(f->hi - f->lo, f->bins) == 0
	               ? NULL
	               : "cannot be divided into equal bins: the number of integers from its start "
	                 "to before its end is no multiple of the number of bins";
}

const char *sl_histogram_problem(const struct sl_histogram_axis *field)
{
	return is_float(field->column) ? float_flaw(field) : integer_flaw(field);
}

/* The number of counters of one histogram: a row of bins per fate. */
static uint32_t counters_of(const struct sl_histogram_axis *f)
{
	uint32_t rows = 0;

	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		rows += SL_HAS(f->fates, fate);
	return rows * (f->bins + SL_HISTOGRAM_OUTSIDE);
}

uint32_t sl_histogram_counters(const struct sl_histogram_axis *field, uint32_t n)
{
	uint32_t counters = 0;

	for (uint32_t k = 0; k < n; k++)
		counters += counters_of(&field[k]);
	return counters;
}

/* Makes the rule of an axis whose first counter has the number first. */
static struct sl_histogram_rule make_rule(const struct sl_histogram_axis *f, uint32_t first)
{
	struct sl_histogram_rule t = {.column = f->column, .bins = f->bins};

	if (is_float(f->column)) {
		t.lo = (float)f->lo;
		t.hi = (float)f->hi;
		t.scale = (float)(f->bins / (f->hi - f->lo));
	} else {
		t.base = (uint32_t)(f->lo - sl_least_whole(f->column));
		t.width = (uint32_t)((f->hi - f->lo) / f->bins);
	}
	for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
		bool counted = SL_HAS(f->fates, fate);

		t.first[fate] = (uint16_t)(counted ? first : SL_NO_COUNTER);
		first += counted ? f->bins + SL_HISTOGRAM_OUTSIDE : 0;
	}
	return t;
}

struct sl_histogram_set sl_histogram_make(
	const struct sl_histogram_axis *field, uint32_t n, bool weighted)
{
	struct sl_histogram_set b = {.n = n, .weighted = weighted};

	for (uint32_t k = 0; k < n; k++) {
		b.tally[k] = make_rule(&field[k], b.n_counters);
		b.n_counters += counters_of(&field[k]);
		b.columns |= SL_BIT(field[k].column);
	}
	return b;
}

/* The sum of the counters of a fate. */
static uint64_t row_sum(const struct sl_histogram_rule *t, const uint64_t *sum, int fate)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < t->bins + SL_HISTOGRAM_OUTSIDE; i++)
		all += sum[t->first[fate] + i];
	return all;
}

/* The sums are compared as integers, modulo 2^64, so a correct batch always agrees exactly. */
enum sl_fate sl_histogram_mismatch(const struct sl_histogram_set *b, const uint64_t *sum,
	const uint64_t count[SL_FATE_COUNT], const uint64_t weight[SL_FATE_COUNT],
	const uint64_t square[SL_FATE_COUNT])
{
	const uint64_t *const all[] = {count, weight, square};
	const uint32_t sums = b->weighted ? 3 : 1;

	for (uint32_t k = 0; k < b->n; k++)
		for (int f = 0; f < SL_FATE_COUNT; f++)
			for (uint32_t s = 0; s < sums && b->tally[k].first[f] != SL_NO_COUNTER; s++)
				if (row_sum(&b->tally[k], sum + s * b->n_counters, f) != all[s][f])
					return (enum sl_fate)f;
	return SL_FATE_COUNT;
}
