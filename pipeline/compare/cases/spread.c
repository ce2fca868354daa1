/* spread.c - order statistics of a few samples. */
#include "pipeline/compare/cases/spread.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which a share of the sorted ones is, between two of them by proportion. */
static double quantile(const double *sorted, uint32_t n, double share)
{
	double at = share * (n - 1);
	uint32_t i = (uint32_t)at;

	return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

struct sl_spread sl_spread_of(double *value, uint32_t n)
{
	struct sl_spread s = {.n = n};

	if (n == 0)
		return s;
	qsort(value, n, sizeof(*value), by_size);
	s.least = value[0];
	s.lower = quantile(value, n, 0.25);
	s.median = quantile(value, n, 0.5);
	s.upper = quantile(value, n, 0.75);
	s.most = value[n - 1];
	return s;
}
