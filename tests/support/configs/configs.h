/* configs.h - the configurations that the repository ships, data/configs. */
#ifndef SL_TESTS_SUPPORT_CONFIGS_CONFIGS_H
#define SL_TESTS_SUPPORT_CONFIGS_CONFIGS_H

#include <stddef.h>

enum { CONFIGS_MAX = 64, CONFIG_NAME_BYTES = 256, CONFIG_PATH_BYTES = 4096 };

/* Returns the root of the repository: SLUICE_SOURCE, or the working directory. */
const char *source_root(void);

/* Names of the configurations without .yaml, in alphabetical order; at least one. */
struct configs {
	size_t n;
	char name[CONFIGS_MAX][CONFIG_NAME_BYTES];
};
void configs_list(struct configs *c);

/* Sets path to that of data/configs/NAME.yaml. */
void config_path(const char *name, char path[CONFIG_PATH_BYTES]);

#endif
