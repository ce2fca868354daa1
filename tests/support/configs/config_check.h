/*
 * config_check.h - reads and resolves configurations from text in memory, each as a new process
 * would.
 */
#ifndef SL_TESTS_SUPPORT_CONFIGS_CONFIG_CHECK_H
#define SL_TESTS_SUPPORT_CONFIGS_CONFIG_CHECK_H

#include "pipeline/resolve/resolve.h"
#include "tests/support/basic/check.h"

/* Of the last text that was taken. */
extern struct sl_config config;
extern struct sl_choices choices;

/* Reads and resolves text, with that many --set; the reader is the caller's to close. */
enum sl_status take(const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r);

/* The same of a text that has nothing wrong. */
void take_good(const char *text);

#endif
