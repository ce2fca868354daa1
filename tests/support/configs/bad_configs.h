/*
 * bad_configs.h - the configurations of tests/pipeline/config/bad_configs.txt, read in order.
 *
 *	== a misspelt key                        a title; the text of the configuration follows
 *	transport: {max-steps: 100}
 *	-- set                                   optional: one --set text per line
 *	run.seed=2
 *	-- report                                the report, line by line
 *	c:1:13: transport.max-steps: unknown key; use max_steps
 *
 * A report line that ends in * matches any end of the line, which depends on the build.
 *
 * After ==, the missing keys of a valid configuration are appended to the text; after =!, the text is
 * used as it is. Empty lines at the end of a text and lines that
 * begin with "# ---" do not count.
 */
#ifndef SL_TESTS_SUPPORT_CONFIGS_BAD_CONFIGS_H
#define SL_TESTS_SUPPORT_CONFIGS_BAD_CONFIGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { BAD_CONFIG_BYTES = 8192, BAD_CONFIG_SETS = 8 };

struct bad_config {
	char title[256];
	bool complete;
	char text[BAD_CONFIG_BYTES]; /* completed */
	size_t n_sets;
	const char *set[BAD_CONFIG_SETS];
	char set_text[BAD_CONFIG_SETS][256];
	char report[BAD_CONFIG_BYTES];
	char next[256]; /* the title line that follows */
};

/* Opens the list below folder (SLUICE_SOURCE). Returns NULL if it does not exist. */
FILE *bad_configs_open(const char *folder);

/* Reads the next configuration; returns false at the end. *c must be zero before the first call. */
bool bad_configs_next(FILE *f, struct bad_config *c);

#endif
