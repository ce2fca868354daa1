/* grid_cells.c - see grid_cells.h. */
#include "tests/support/tallies/grid_cells.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

static sl_node member(const struct sl_yaml *tree, sl_node node, const char *key)
{
	sl_node found = sl_yaml_get(tree, node, key);

	if (!found)
		fail_msg("%s is missing", key);
	return found;
}

static double number(const struct sl_yaml *tree, sl_node node)
{
	return strtod(sl_yaml_text(tree, node, NULL), NULL);
}

void cells_append(const struct sl_yaml *report, size_t k, const char *row, struct cells *c)
{
	sl_node tallies = member(report, sl_yaml_root(report), "tallies");
	sl_node grid = sl_yaml_item(report, member(report, tallies, "grids"), k, NULL);
	sl_node fate = member(report, member(report, grid, "fates"), row);
	sl_node mean = member(report, fate, "mean_over_batches");
	sl_node error = member(report, fate, "standard_error_over_batches");
	size_t n = sl_yaml_size(report, mean);

	assert_true(n > 0 && n <= GRID_CELLS_MAX - c->n);
	for (size_t i = 0; i < n; i++, c->n++) {
		c->value[c->n] = number(report, sl_yaml_item(report, mean, i, NULL));
		c->error[c->n] = number(report, sl_yaml_item(report, error, i, NULL));
	}
}

double cells_chi_square(const struct cells *c, const struct cells *expected, double factor)
{
	double sum = 0;

	assert_int_equal(c->n, expected->n);
	for (size_t i = 0; i < c->n; i++) {
		double error = c->error[i], other = expected->error[i];
		double difference = c->value[i] * factor - expected->value[i];

		sum += difference * difference / (error * error + other * other);
	}
	return sum;
}

double of_fate(const struct sl_yaml *report, const char *fate, const char *key)
{
	sl_node tallies = member(report, sl_yaml_root(report), "tallies");

	return number(report,
		member(report, member(report, member(report, tallies, "fates"), fate), key));
}
