/*
 * configs.h - files of the repository: tables of tests, and the configurations that it ships,
 * data/configs.
 */
#ifndef SL_TESTS_SUPPORT_CONFIGS_CONFIGS_H
#define SL_TESTS_SUPPORT_CONFIGS_CONFIGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CONFIGS_MAX = 64, CONFIG_NAME_BYTES = 256, CONFIG_PATH_BYTES = 4096, LINE_BYTES = 2048 };

/* Returns the root of the repository: SLUICE_SOURCE, or the working directory. */
const char *source_root(void);

/*
 * Opens a file below the root for reading. next_line() reads a line without its end; not empty
 * ones, and none that begins with #.
 */
FILE *open_source(const char *name);
bool next_line(FILE *f, char line[LINE_BYTES]);

/* Names of the configurations without .yaml, in alphabetical order; at least one. */
struct configs {
	size_t n;
	char name[CONFIGS_MAX][CONFIG_NAME_BYTES];
};
void configs_list(struct configs *c);

/* Sets path to that of data/configs/NAME.yaml. */
void config_path(const char *name, char path[CONFIG_PATH_BYTES]);

#endif
