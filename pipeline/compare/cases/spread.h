/* spread.h - median, quartiles and extremes of repeated measurements. */
#ifndef SL_PIPELINE_COMPARE_CASES_SPREAD_H
#define SL_PIPELINE_COMPARE_CASES_SPREAD_H

#include <stdint.h>

/* All values have the unit of the samples. */
struct sl_spread {
	uint32_t n;                               /* samples; 0: none was taken */
	double median, least, most, lower, upper; /* lower, upper: quartiles */
};

/* The spread of n samples; sorts them. */
struct sl_spread sl_spread_of(double *value, uint32_t n);

#endif
