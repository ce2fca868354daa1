/* type_table.h - particles, weight and energy by particle type (PDG code). */
#ifndef SL_PIPELINE_INFO_TYPE_TABLE_H
#define SL_PIPELINE_INFO_TYPE_TABLE_H

#include <stdint.h>
#include <stdio.h>

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

/* Prints a line per type, the most frequent first. It sorts the rows; nothing if there are none. */
void sl_type_table_print(struct sl_type_table *t, FILE *out);

#endif
