/*
 * reader.h - the state of reading a configuration: sources, keys found, problems found.
 *
 * Sources are numbered: 0 is the file, i is the i-th --set. For each known key the reader keeps the
 * place of its last occurrence. Values are read from these places after all sources are matched, so
 * that a value that a --set replaces need not be valid.
 */
#ifndef SL_PIPELINE_CONFIG_READER_READER_H
#define SL_PIPELINE_CONFIG_READER_READER_H

#include "pipeline/config/config.h"
#include "primitives/files/files.h"
#include "stages/models/model.h"

/* --- reader ----------------------------------------------------------------------------------- */

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

/* --- diagnostics ------------------------------------------------------------------------------ */

/*
 * Collects the problems of a configuration and reports them in order of place.
 *
 * A key is a full path such as "model.slab.mu_a"; "key[2]" is item 2 of a list, counted from 0.
 */

/* Does key, or a key below it, have a problem? */
bool sl_config_has_problem(const struct sl_reader *r, const char *key);

/*
 * Adds a problem at the place of key, or of the nearest section around it when it was not given.
 * Always returns false, for: return sl_config_add_problem(r, key, ...).
 */
bool sl_config_add_problem(struct sl_reader *r, const char *key, const char *format, ...)
	SL_PRINTF(3, 4);

/*
 * Adds that key has no effect, for the reason why, if it was given with a value other than its
 * default and has no other problem. advice: what to do.
 */
void sl_config_refuse_unused(
	struct sl_reader *r, const char *key, const char *why, const char *advice);

/* Adds a problem at byte offset of the value of key, if the column can be computed. */
void sl_config_add_problem_within(
	struct sl_reader *r, const char *key, size_t offset, const char *text);

/* Adds a problem at a place. A second problem of a key is dropped: it follows from the first. */
void sl_reader_add(struct sl_reader *r, struct sl_place at, const char *key, const char *format,
	...) SL_PRINTF(4, 5);

/* The place of a node in the tree of a source. */
struct sl_place sl_reader_place(const struct sl_reader *r, size_t source, sl_node node);

/* The record of a key that was found, or NULL. */
struct sl_seen *sl_reader_seen(const struct sl_reader *r, const char *path);

/* Forgets keys and problems at and below key, because another source replaces them. */
void sl_reader_forget(struct sl_reader *r, const char *key);

/* Is path equal to key or below it? "run.seed" is below "run", "keep[1]" is below "keep". */
bool sl_key_below(const char *path, const char *key);

/* Number of problems. */
size_t sl_config_problems(const struct sl_reader *r);

/* All problems in order of place, one per line. The text belongs to r. */
const char *sl_config_report(struct sl_reader *r);

/* SL_OK without problems; else SL_USAGE with the report as last error (cut if it is very long). */
enum sl_status sl_config_verdict(struct sl_reader *r);

/*
 * The access of the chosen model to the reader, with keys relative to model.NAME. A key with its
 * default value counts as not given, so that the output of --print-config is accepted.
 */
struct sl_model_check sl_config_check(struct sl_reader *r);

/* --- match_keys ------------------------------------------------------------------------------- */

/*
 * Matches the keys of a source with the option tables.
 *
 * Known keys are recorded with their place in r->seen; an unknown key is a problem.
 */

/*
 * Matches the keys of a mapping in the tree of a source, 0 for the file; above is the path of the
 * mapping.
 */
void sl_reader_match_keys(struct sl_reader *r, size_t source, sl_node mapping, const char *above);

/* Matches --set number source, whose tree is the value of the key path. */
void sl_reader_match_set(struct sl_reader *r, size_t source, const char *path);

/* --- read_values ------------------------------------------------------------------------------ */

/* Reads the values of all options, each from the source that gave it last. */

/*
 * Fills *c, defaults included, and adds a problem for each wrong value and each required option
 * that is missing. Call it after the keys of all sources are matched.
 */
enum sl_status sl_reader_read_values(struct sl_reader *r, struct sl_config *c);

/* --- suggest ---------------------------------------------------------------------------------- */

/* Suggests what an unknown key or model may have meant. */

/* The message about the unknown key path (sl_message_part()). */
const char *sl_suggest_key(const struct sl_reader *r, const char *path);

/* Has an unknown key got the suggestion path? Then path is not reported as missing as well. */
bool sl_suggest_covers(const struct sl_reader *r, const char *path);

/* The name of a model nearest to written, or all names. */
const char *sl_suggest_model(const char *written);

/* --- read_config ------------------------------------------------------------------------------ */

/*
 * Reads a configuration: YAML text and --set options become struct sl_config.
 *
 * All problems are reported at once, one per line, as
 *
 * 	file:line:column: key: what is wrong (why), what to do
 *
 * A value of --set replaces the value of the file; its problems are placed at "--set key=value".
 */

/*
 * Reads the file path and the n_sets texts "key=value" of --set, and fills *c including all
 * defaults.
 *
 * Problems are collected in *r: the call returns SL_OK even then, provided that the file contains a
 * YAML mapping; call sl_config_verdict() for the result. *r is made except when memory is short,
 * and the caller frees it by sl_config_close(). The texts of --set must live as long as *r.
 *
 * A --set replaces everything at its key, a later --set an earlier one: run.seed=2 replaces one
 * value, model={slab: {...}} the whole model. The value is YAML.
 */
enum sl_status sl_config_open(const char *path, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r);

/* The same for text in memory that the user wrote; name stands for the file in messages. */
enum sl_status sl_config_open_text(const char *name, const char *text, size_t bytes,
	const char *const *sets, size_t n_sets, struct sl_config *c, struct sl_reader **r);

/* The same for the text that a run directory has, which loads no external model. */
enum sl_status sl_config_open_stored(const char *name, const char *text, const char *const *sets,
	size_t n_sets, struct sl_config *c, struct sl_reader **r);

/* Frees the reader; NULL is allowed. */
void sl_config_close(struct sl_reader *r);

/* For SL_CLOSED_BY: closes *r. */
static inline void sl_config_give(struct sl_reader **r)
{
	sl_config_close(*r);
}

#endif
