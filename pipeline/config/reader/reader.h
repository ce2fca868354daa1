/*
 * reader.h - the state of reading a configuration: sources, keys found, problems found.
 *
 * Sources are numbered: 0 is the file, i is the i-th --set. For each known key the reader keeps the
 * place of its last occurrence. Values are read from these places after all sources are matched, so
 * that a value that a --set replaces need not be valid.
 */
#ifndef SL_PIPELINE_CONFIG_READER_READER_H
#define SL_PIPELINE_CONFIG_READER_READER_H

#include "pipeline/config/options.h"
#include "pipeline/text/yaml.h"
#include "primitives/files/dirs.h"

enum {
	SL_SEEN_MAX =
		512, /* known keys and sections; each is recorded once, so the tables bound them */
	SL_PROBLEMS_MAX = 128, /* problems in the report; further ones are only counted */
	SL_PROBLEM_BYTES = 640,
	SL_REPORT_BYTES = 128 * 1024
};

/* A place in a source. */
struct sl_place {
	size_t source, line, column; /* line and column from 1; line 0: the whole source */
};

/* A known key that was found. A later source replaces the record. */
struct sl_seen {
	char path[SL_KEY_BYTES];
	size_t bytes;        /* of path */
	struct sl_place key; /* place of the key */
	sl_node value;       /* node in the tree of that source; 0: a section implied by a --set */
	bool at_default;     /* the value given equals the default */
};

/* A problem of a key; each key has at most one. */
struct sl_config_problem {
	char key[SL_KEY_BYTES];
	char text[SL_PROBLEM_BYTES];
	struct sl_place place;
	size_t number; /* order of problems at the same place */
};

/* About 400 KB, so it is allocated, never on the stack. */
struct sl_reader {
	char name[SL_PATH_BYTES]; /* name of the file in messages */
	const char *const *sets;
	size_t n_sets;
	struct sl_yaml **tree; /* one per source; NULL if it could not be parsed */
	const struct sl_model *model;
	size_t n_seen, n_problems, n_dropped;
	/* from here on not initialised: n_seen and n_problems elements are in use */
	struct sl_seen seen[SL_SEEN_MAX];
	struct sl_config_problem problem[SL_PROBLEMS_MAX];
	char report[SL_REPORT_BYTES];
};

#endif
