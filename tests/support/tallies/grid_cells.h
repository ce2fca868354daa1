/* grid_cells.h - the cells of a grid in run.json, and their comparison with expected values. */
#ifndef SL_TESTS_SUPPORT_TALLIES_GRID_CELLS_H
#define SL_TESTS_SUPPORT_TALLIES_GRID_CELLS_H

#include <stddef.h>

#include "pipeline/text/yaml.h"

enum { GRID_CELLS_MAX = 2048 };

/* Values with standard errors. */
struct cells {
	size_t n;
	double value[GRID_CELLS_MAX], error[GRID_CELLS_MAX];
};

/* Appends the cells of grid k, in order of the configuration, and of the row of a fate, or "all" for
 * scores, to *c: means per particle with their standard errors. */
void cells_append(const struct sl_yaml *report, size_t k, const char *row, struct cells *c);

/* The sum of squared differences between the cells, times factor, and expected values with errors,
 * in units of the standard error of the difference. */
double cells_chi_square(const struct cells *c, const struct cells *expected, double factor);

/* What a fate has of a quantity in run.json. */
double of_fate(const struct sl_yaml *report, const char *fate, const char *key);

#endif
