/* value_range.h - least, mean and largest of the values of a column, dataset or record field. */
#ifndef SL_PIPELINE_INFO_VALUE_RANGE_H
#define SL_PIPELINE_INFO_VALUE_RANGE_H

#include <stdint.h>
#include <stdio.h>

/* The values added so far. Starts as {0}; least and most are defined after the first value. */
struct sl_value_range {
	uint64_t n;
	double least, most, sum;
};

/* Adds a value. NaN changes the sum, but neither least nor most unless it is the first value. */
void sl_value_range_add(struct sl_value_range *r, double value);

/* Prints least, mean and largest in 44 characters; zeros if there are no values. */
void sl_value_range_print(const struct sl_value_range *r, FILE *out);

#endif
