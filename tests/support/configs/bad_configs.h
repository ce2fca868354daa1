/*
 * bad_configs.h - the configurations of tests/pipeline/config/bad_configs.txt, one after another.
 *
 *	== a misspelt key                        a title; the text follows
 *	transport: {max-steps: 100}
 *	-- set                                   if there are any: --set texts, a line each
 *	run.seed=2
 *	-- say                                   the report, line by line
 *	c:1:13: transport.max-steps: unknown key; use max_steps
 *
 * A line of a report that ends in * goes on as it may: what follows depends on the build.
 *
 * A text begun by == is completed at its foot by the lines of a good configuration whose keys it
 * leaves out; one begun by =! is taken as it is. Empty lines at the end of a text and lines that
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

/* Opens the list below folder (SLUICE_SOURCE). NULL when it is not there. */
FILE *bad_configs_open(const char *folder);

/* Reads the next one; false at the end. *c starts zeroed and is kept between calls. */
bool bad_configs_next(FILE *f, struct bad_config *c);

#endif
