/*
 * file_patterns.h - expands a list of file names and patterns to the files that it stands for.
 */
#ifndef SL_STAGES_INPUTS_FILE_PATTERNS_H
#define SL_STAGES_INPUTS_FILE_PATTERNS_H

#include "primitives/base/status.h"
#include "stages/models/option.h"

enum { SL_INPUTS_MAX = 4096 };

struct sl_input_file {
	const char *path;
	uint32_t item; /* index of the item that it comes from */
};

struct sl_input_files {
	uint32_t n;
	size_t bytes;             /* size of the memory at */
	struct sl_input_file *at; /* names and array, freed with sl_memory_give() */
};

/* The paths of the survivor files of a run, in the order of their batches. */
struct sl_run_files {
	const char *const *path;
	size_t n;
	void *block; /* memory of the paths, freed with sl_memory_give() */
};

/* Lists the files of the run in a directory; stages/ does not read manifests. */
typedef enum sl_status sl_run_lister(const char *folder, struct sl_run_files *files);

/*
 * Finds the files of items. A directory stands for the files that list_run lists. An item that
 * contains one of * ? [ and is not the name of a file is a shell pattern (glob) and stands for all
 * matching files in byte order of their names; of an IAEA phase space of which both files match,
 * only the records count. SL_USAGE if a pattern matches nothing, or if there are more than
 * SL_INPUTS_MAX files; *which is then the index of the item.
 */
enum sl_status sl_find_input_files(const struct sl_lines *items, sl_run_lister *list_run,
	struct sl_input_files *names, uint32_t *which);

/* SL_USAGE or SL_DISK if the files of an item do not exist; a file is not opened. */
enum sl_status sl_look_up_input_files(const char *item, sl_run_lister *list_run);

#endif
