/* options.h - full paths of options: those of a model stand below model.NAME. */
#ifndef SL_PIPELINE_CONFIG_OPTIONS_H
#define SL_PIPELINE_CONFIG_OPTIONS_H

#include "stages/models/model.h"

enum { SL_KEY_BYTES = 256 };

/* Writes the full path of an option of that model, NULL for a common one. Returns its length. */
size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES]);

/* The i-th option of a run of that model, common ones first, and its path; NULL past the last. */
const struct sl_option *sl_option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES]);

/*
 * The path of the option that a path stands for: without the numbers of items, as in
 * "model.rays.objects[].surface" for "model.rays.objects[3].surface". Returns pattern.
 */
const char *sl_key_pattern(const char *path, char pattern[SL_KEY_BYTES]);

/* Is the option one of the keys of items? */
bool sl_option_of_items(const struct sl_option *o);

/* The part of path behind its last dot. */
const char *sl_key_leaf(const char *path);

/* The model of that name, or NULL. */
const struct sl_model *sl_model_find(const char *name);

#endif
