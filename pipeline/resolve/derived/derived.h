/*
 * derived.h - resolves columns: the derived columns that a run uses, as one program.
 *
 * A column is compiled when it is first named, after the columns that its expression names. So the
 * program computes only what keep, key, tallies and output.columns use. A column of the
 * configuration that none of them uses is refused, because it would have no effect.
 */
#ifndef SL_PIPELINE_RESOLVE_DERIVED_DERIVED_H
#define SL_PIPELINE_RESOLVE_DERIVED_DERIVED_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/condition/condition.h"

/* Progress of a definition. */
enum sl_definition_state { SL_DEFINED, SL_COMPILING, SL_COMPILED, SL_WRONG };

/* A call of a function in keep, and its column. */
struct sl_derived_call {
	enum sl_column column;
	struct sl_program k;
};

/* The definitions of a run while they are resolved. */
struct sl_derived {
	const struct sl_config *c;
	struct sl_reader *r;
	struct sl_choices *choices; /* derivation and places are set */
	enum sl_definition_state state[SL_NAMED_MAX];
	enum sl_definition_state built_in[SL_COLUMN_COUNT];
	struct sl_more_names names; /* for the parser of expressions */
	uint32_t n_calls;           /* columns that are calls of functions in keep */
	struct sl_derived_call call[SL_NAMED_COLUMNS_MAX];
};

/*
 * Checks the names of the definitions. choices->model must be set. *d must not be moved afterwards.
 */
void sl_derived_begin(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	struct sl_derived *d);

/*
 * Refuses definitions that nothing uses, unless there are other problems, which may be the reason.
 */
void sl_derived_end(struct sl_derived *d);

/*
 * Finds a column of the set allowed, or a derived column unless d is NULL, by name. False after
 * adding a problem.
 */
bool sl_resolve_any_column(struct sl_derived *d, struct sl_reader *r, const char *key,
	const char *word, const struct sl_model *model, sl_column_set allowed,
	enum sl_column *column);

/*
 * The set of columns named by the items of key, each allowed or built in, and named once. Adds a
 * problem for each other item.
 */
sl_column_set sl_resolve_column_set(
	struct sl_derived *d, const char *key, const struct sl_texts *list, sl_column_set allowed);

#endif
