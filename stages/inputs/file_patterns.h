/* file_patterns.h - the files that a list of names and patterns stands for. */
#ifndef SL_STAGES_INPUTS_FILE_PATTERNS_H
#define SL_STAGES_INPUTS_FILE_PATTERNS_H

#include "primitives/base/status.h"
#include "stages/models/option.h"

enum { SL_INPUTS_MAX = 4096 };

struct sl_input_file {
	const char *path;
	uint32_t item; /* of the list */
};

struct sl_input_files {
	uint32_t n;
	size_t bytes;             /* of all this */
	struct sl_input_file *at; /* memory of their own, to be given back with sl_memory_give() */
};

/*
 * Finds them: an item with any of * ? [ in it that is no file by that name is a pattern as the
 * shell has it (glob), and stands for all files that meet it, in the order of their bytes. SL_USAGE
 * when none does, or all are more than SL_INPUTS_MAX; *which is then the item.
 */
enum sl_status sl_find_input_files(
	const struct sl_lines *items, struct sl_input_files *names, uint32_t *which);

#endif
