/*
 * config_check.h - reads and resolves configurations from text in memory, each as a new process
 * would.
 */
#ifndef SL_TESTS_SUPPORT_CONFIGS_CONFIG_CHECK_H
#define SL_TESTS_SUPPORT_CONFIGS_CONFIG_CHECK_H

#include "pipeline/plan/plan.h"
#include "tests/support/basic/check.h"

/* Result of the last text that was resolved. */
extern struct sl_config config;
extern struct sl_choices choices;

/* Reads and resolves text with n_sets texts of --set. The caller closes the reader. */
enum sl_status resolve_text(
	const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r);

/* The same for a text that must be valid, with texts of --set up to NULL. */
void resolve_good_text(const char *text);
void resolve_good_sets(const char *text, const char *const *sets);

/* Resolves it and makes the plan, which the caller frees. */
struct sl_plan *plan_of_sets(const char *text, const char *const *sets);

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
