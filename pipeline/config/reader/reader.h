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
	SL_SEEN_MAX = 512, /* known keys and sections; each is met once, so the tables bound it */
	SL_PROBLEMS_MAX = 128, /* problems told; further ones are counted */
	SL_PROBLEM_BYTES = 640,
	SL_REPORT_BYTES = 128 * 1024
};

struct sl_place {
	size_t source, line, column; /* line 0: the source as a whole */
};

struct sl_seen {
	char path[SL_KEY_BYTES];
	struct sl_place key; /* of the key itself */
	sl_node value;       /* in the tree of that source; 0: a section that a --set implies */
	bool at_default;     /* given, but as what it would be anyway */
};

struct sl_config_problem {
	char key[SL_KEY_BYTES];
	char text[SL_PROBLEM_BYTES];
	struct sl_place place;
	size_t number; /* keeps problems of one place in order */
};

struct sl_reader {
	char name[SL_PATH_BYTES]; /* of the file, in messages */
	const char *const *sets;
	size_t n_sets;
	struct sl_yaml **tree; /* one a source; NULL where it could not be parsed */
	const struct sl_model *model;
	size_t n_seen, n_problems, n_dropped;
	struct sl_seen seen[SL_SEEN_MAX];
	struct sl_config_problem problem[SL_PROBLEMS_MAX];
	char report[SL_REPORT_BYTES];
};

#endif
