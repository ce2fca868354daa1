/*
 * reader.h - a configuration being read: what config.c and diagnostics.c share.
 *
 * Sources are numbered: 0 is the file, i the i-th --set. Of each known key that was met the reader
 * keeps where it stands last; values are taken from there when all sources have been walked.
 */
#ifndef SL_PIPELINE_CONFIG_READER_H
#define SL_PIPELINE_CONFIG_READER_H

#include "pipeline/config/config.h"
#include "pipeline/config/options.h"
#include "pipeline/text/yaml.h"
#include "primitives/base/files.h"

enum {
	SL_SEEN_MAX = 512,  /* known keys and sections; each is met once, so the tables bound it */
	SL_FLAWS_MAX = 128, /* problems told; further ones are counted */
	SL_FLAW_BYTES = 640,
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

struct sl_flaw {
	char key[SL_KEY_BYTES];
	char text[SL_FLAW_BYTES];
	struct sl_place place;
	size_t number; /* keeps problems of one place in order */
};

struct sl_reader {
	char name[SL_PATH_BYTES]; /* of the file, in messages */
	const char *const *sets;
	size_t n_sets;
	struct sl_yaml **tree; /* one a source; NULL where it could not be parsed */
	const struct sl_model *model;
	size_t n_seen, n_flaws, n_dropped;
	struct sl_seen seen[SL_SEEN_MAX];
	struct sl_flaw flaw[SL_FLAWS_MAX];
	char report[SL_REPORT_BYTES];
};

/* Is path at key or below it ("run.seed" is below "run", "keep[1]" below "keep")? */
bool sl_key_below(const char *path, const char *key);

/* The key as it was met, or NULL. */
struct sl_seen *sl_reader_seen(const struct sl_reader *r, const char *path);

/* Adds a problem at a place; a second one of the same key is dropped, as it follows from the first.
 */
void sl_reader_add(struct sl_reader *r, struct sl_place at, const char *key, const char *text);

/* Forgets what was met and what was wrong at and below key: another source replaces it. */
void sl_reader_forget(struct sl_reader *r, const char *key);

/* Walks the file, from its root; walks the tree of a --set, which stands for path. (walk.c) */
void sl_reader_match_keys(struct sl_reader *r, sl_node root);
void sl_reader_match_keys_set(struct sl_reader *r, size_t source, const char *path);

/* Reads all values, defaults included, and complains about what is missing. (read_values.c) */
enum sl_status sl_reader_fill(struct sl_reader *r, struct sl_config *c);

/* The complaint about a key that there is not. What to try for a model that there is not. (suggest.c)
 */
void sl_hint_unknown(const struct sl_reader *r, const char *path, char text[SL_FLAW_BYTES]);
const char *sl_hint_model(const char *written, char *text, size_t size);

/* Has an unknown key of the same section been told to try path? Then it is not missing as well. */
bool sl_hint_is_told(const struct sl_reader *r, const char *path);

#endif
