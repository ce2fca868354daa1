/* weighted_stats.h - least, largest, and weighted mean, rms and sum of the values of a column. */
#ifndef SL_PIPELINE_INFO_WEIGHTED_STATS_H
#define SL_PIPELINE_INFO_WEIGHTED_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The values added so far. Starts as {0}; private to weighted_stats.c. */
struct sl_weighted_stats {
	uint64_t n;
	double least, most;
	double origin;              /* the first value: the sums are of differences from it */
	double weight, sum, square; /* of the weights; of weight * difference, and its square */
};

void sl_weighted_stats_add(struct sl_weighted_stats *s, double value, double weight);

/*
 * Prints the names of the numbers, and the numbers themselves, both in SL_STATS_WIDTH characters. A code, such
 * as a particle type, has no mean and no sum.
 */
enum { SL_STATS_WIDTH = 5 * 14 };
void sl_weighted_stats_print_names(FILE *out);
void sl_weighted_stats_print(const struct sl_weighted_stats *s, bool code, FILE *out);

#endif
