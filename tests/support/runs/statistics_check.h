/*
 * statistics_check.h - the relative error of a fate by textbook formulas, and the numbers of
 * run.json in the directory of the test group (fixture.h).
 */
#ifndef SL_TESTS_SUPPORT_RUNS_STATISTICS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_STATISTICS_CHECK_H

#include "pipeline/results/manifest.h"

/*
 * Relative error of the first k batches of m, from the mean and the deviations, with each batch
 * weighted by its particles.
 */
double relative_error(const struct sl_manifest *m, size_t k, enum sl_fate fate);

/* Returns the number in out/run.json at a NULL-terminated path of keys; 1 for true, 0 for false, NaN for null. */
double json_number(const char *out, const char *const *path);

#define JSON(out, ...) json_number(out, (const char *const[]){__VA_ARGS__, NULL})

/* Expects equality up to a relative error of 1e-9. */
void expect_near(double is, double expected);

#endif
