/* statistics_check.c - see statistics_check.h. */
#include "tests/support/runs/statistics_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

double relative_error(const struct sl_manifest *m, size_t k, enum sl_fate fate)
{
	double particles = 0, mean = 0, sum = 0;

	for (size_t i = 0; i < k; i++) {
		particles += (double)m->line[i].generated;
		mean += (double)m->line[i].tally.count[fate];
	}
	mean /= particles;
	for (size_t i = 0; i < k; i++) {
		double n = (double)m->line[i].generated;
		double x = (double)m->line[i].tally.count[fate] / n;

		sum += n * (x - mean) * (x - mean);
	}
	return sqrt(sum / (double)(k - 1) / particles) / mean;
}

double json_number(const char *out, const char *const *path)
{
	struct sl_yaml *tree = report_of(&folder, out);
	sl_node node = sl_yaml_root(tree);
	const char *value;
	double number;

	for (; *path; path++) {
		node = sl_yaml_get(tree, node, *path);
		if (node == 0)
			fail_msg("run.json has no key %s at this place", *path);
	}
	value = sl_yaml_text(tree, node, NULL);
	number = strcmp(value, "true") == 0    ? 1
	         : strcmp(value, "false") == 0 ? 0
	         : strcmp(value, "null") == 0  ? (double)NAN
	                                       : strtod(value, NULL);
	sl_yaml_free(tree);
	return number;
}

void expect_near(double is, double expected)
{
	if (!(fabs(is - expected) <= 1e-9 * fabs(expected)))
		fail_msg("the value is %.17g, expected %.17g", is, expected);
}
