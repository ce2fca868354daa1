/*
 * names.h - looks up the fates and columns that a configuration names.
 *
 * Each function that takes a reader adds a problem for the configuration key when the name is
 * unknown or not allowed, with a suggestion.
 */
#ifndef SL_PIPELINE_RESOLVE_CHOICES_NAMES_H
#define SL_PIPELINE_RESOLVE_CHOICES_NAMES_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * The set of fates that a particle can end with: those of the model, and dropped if keep has
 * conditions. Call it after sl_resolve_keep().
 */
sl_fate_set sl_final_fates(const struct sl_choices *choices);

/* Finds a fate of sl_final_fates() by name; false after adding a problem for key. */
bool sl_resolve_fate(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, enum sl_fate *fate);

/* The same, and adds the fate to set; false also for a fate that is in the set already. */
bool sl_resolve_fate_once(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, sl_fate_set *set, enum sl_fate *fate);

/* Finds a column of the set allowed by name; false after adding a problem for key. */
bool sl_resolve_column(struct sl_reader *r, const char *key, const char *word,
	const struct sl_model *model, sl_column_set allowed, enum sl_column *column);

/* The name and the unit of a column of the run, also of one that the configuration names. */
const char *sl_column_name(const struct sl_named_columns *named, enum sl_column column);
enum sl_unit sl_column_unit(const struct sl_named_columns *named, enum sl_column column);

/*
 * The range of a column: that of the model, and all angles for the built-in ones. False if it has none.
 * choices->rules must be made.
 */
bool sl_column_range(
	const struct sl_choices *choices, enum sl_column column, double *lo, double *hi);

/* The column of that name or synonym (ekin is energy); SL_COLUMN_COUNT if there is none. */
enum sl_column sl_column_named(const char *word);

/* The column of the set allowed that is named word in other programs (ux is u); NULL if none is. */
const char *sl_column_meant(const char *word, sl_column_set allowed);

#endif
