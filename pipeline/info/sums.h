/*
 * sums.h - least, largest, and weighted mean, rms and sum of the values of a column; sums by
 * particle type.
 */
#ifndef SL_PIPELINE_INFO_SUMS_H
#define SL_PIPELINE_INFO_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/text/json.h"

/* The values added so far. Starts as {0}; private to sums.c. */
struct sl_weighted_stats {
	uint64_t n;
	double least, most;
	double origin;              /* the first value: the sums are of differences from it */
	double weight, sum, square; /* of the weights; of weight * difference, and its square */
};

void sl_weighted_stats_add(struct sl_weighted_stats *s, double value, double weight);

/*
 * Writes least, mean, rms, largest and sum. A code, such as a particle type, has no mean and no
 * sum.
 */
void sl_weighted_stats_json(const struct sl_weighted_stats *s, bool code, struct sl_json *j);

/* Types with a separate row; particles of further types are counted together. */
enum { SL_TYPES_MOST = 64 };

struct sl_type_row {
	int32_t pdg;
	uint64_t particles;
	double weight, energy; /* sums of the weights, and of weight * energy in keV */
};

/* Starts as {0}. */
struct sl_type_table {
	uint32_t n;
	struct sl_type_row row[SL_TYPES_MOST], other;
};

void sl_type_table_add(struct sl_type_table *t, int32_t pdg, double weight, double energy);

/* Writes the array "types", the most frequent first. It sorts the rows. */
void sl_type_table_json(struct sl_type_table *t, struct sl_json *j);

#endif
