/*
 * statistics_check.h - the relative error of a fate by textbook formulas, and the numbers of
 * run.json in the directory of the test group (fixture.h).
 */
#ifndef SL_TESTS_SUPPORT_RUNS_STATISTICS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_STATISTICS_CHECK_H

#include "pipeline/results/manifest.h"

/*
 * The relative error by the first k batches of m: mean, deviations from it, and each batch counted
 * by its particles.
 */
double relative_error(const struct sl_manifest *m, size_t k, enum sl_fate fate);

/* A number of out/run.json, where a NULL-terminated path of keys leads; 1 for true, NaN for null.
 */
double json_number(const char *out, const char *const *path);

#define JSON(out, ...) json_number(out, (const char *const[]){__VA_ARGS__, NULL})

/* But for roundings of double precision. */
void expect_near(double is, double expected);

#endif
