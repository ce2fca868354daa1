/*
 * options.h - the table of options that all runs share, and look-ups in it and in the models'
 * tables.
 *
 * The full path of an option is SECTION.KEY; for an option of a model it is model.NAME.KEY.
 */
#ifndef SL_PIPELINE_CONFIG_OPTIONS_H
#define SL_PIPELINE_CONFIG_OPTIONS_H

#include "pipeline/config/config.h"
#include "stages/models/model.h"

enum { SL_KEY_BYTES = 256 };

/* The options of all runs; those of a model are in sl_models[]. */
extern const struct sl_option sl_options[];
extern const size_t sl_n_options;

/* Writes the full path of an option of the model, NULL for a common one. Returns its length. */
size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES]);

/* Option i of a run of the model, common options first, with its path; NULL after the last. */
const struct sl_option *sl_option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES]);

/* The option with that full path, or NULL. *model is its model, NULL for a common option. */
const struct sl_option *sl_option_find(const char *path, const struct sl_model **model);

/*
 * Removes the item numbers from a path: "model.rays.objects[3].surface" becomes
 * "model.rays.objects[].surface", the path of its option. Returns pattern.
 */
const char *sl_key_pattern(const char *path, char pattern[SL_KEY_BYTES]);

/* Is the option a key of the items of a list, such as "objects[].surface"? */
bool sl_option_of_items(const struct sl_option *o);

/* The last component of path, after the last dot. */
const char *sl_key_leaf(const char *path);

/* The model of that name, or NULL. */
const struct sl_model *sl_model_find(const char *name);

/*
 * A setting is a text "KEY=VALUE", or "--OPTION KEY=VALUE" of an option that stands for a key.
 * sl_set_key() returns where KEY begins. sl_set_typed() writes what the user typed: "--set
 * KEY=VALUE" or "--OPTION VALUE", with the quotes that YAML needs; returns typed.
 */
enum { SL_SHOWN_SET_BYTES = 256 };
const char *sl_set_key(const char *set);
const char *sl_set_typed(const char *set, char typed[SL_SHOWN_SET_BYTES]);

#endif
