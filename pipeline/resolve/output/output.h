/*
 * output.h - what a run counts and writes: resolves key, tallies, stop, image, order and the output
 * of MCPL
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_OUTPUT_H
#define SL_PIPELINE_RESOLVE_OUTPUT_OUTPUT_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/condition/condition.h"
#include "stages/particle/particle.h"

/* --- column_item ------------------------------------------------------------------------------ */

/*
 * The common parts of the items of key and tallies: COLUMN:COUNT[:LO..HI].
 *
 * Each function that returns false has added a problem for the item.
 */

enum { SL_ITEM_KEY_BYTES = 24 };

struct sl_column_item {
	char key[SL_ITEM_KEY_BYTES]; /* "key[2]", for messages */
	char text[SL_WORD_BYTES];
	char *column;      /* points into text, as do the next */
	const char *count; /* of bits or bins; NULL if omitted */
	char *rest;        /* after the second colon; NULL if there is none */
};

/*
 * Splits a text of less than SL_WORD_BYTES, item k of the list at key. The parts point into *it,
 * which must not be moved.
 */
void sl_column_item_split(const char *key, const char *text, uint32_t k, struct sl_column_item *it);

/* Reads the count, from 1 to most; what is "bits" or "bins", example a count for the message. */
bool sl_column_item_count(struct sl_resolver *v, const struct sl_column_item *it, const char *what,
	uint32_t most, uint32_t example, uint32_t *count);

/*
 * Reads the number of an end or an edge, in the unit of the column. *has_unit: it has a unit of the
 * same dimension; otherwise it is a plain number in that unit. False after sl_refuse().
 */
bool sl_column_item_end(const struct sl_resolver *v, enum sl_column column, const char *text,
	double *value, bool *has_unit);

/* Reads LO..HI into *lo and *hi; both ends have a unit, or neither. */
bool sl_column_item_range(struct sl_resolver *v, const struct sl_column_item *it, const char *range,
	enum sl_column column, double *lo, double *hi);

/* If problem is not NULL: adds that the range has it, and returns false. */
bool sl_column_item_check(struct sl_resolver *v, const struct sl_column_item *it, const char *range,
	const char *problem);

/* Adds that the item needs a range; count and hi are for the example. Returns false. */
bool sl_column_item_needs_range(struct sl_resolver *v, const struct sl_column_item *it,
	enum sl_column column, uint32_t count, uint32_t hi);

/* --- sort_key --------------------------------------------------------------------------------- */

/*
 * Resolves key: the fields by which survivors are sorted.
 *
 * An item is COLUMN:BITS[:LO..HI]; COLUMN_log:BITS sorts by the logarithm, COLUMN:float by the
 * exact number, -COLUMN in descending order.
 */

/* Sets field, n_fields and key_bits from the items of key. */
void sl_resolve_key(struct sl_resolver *v);

/* --- tallies ---------------------------------------------------------------------------------- */

/*
 * Resolves tallies. An item has one axis, or is a list of axes in brackets, and has fates:
 *
 *	w:50                             a column in 50 bins, over the range that the model states
 *	z:40:0 cm..0.02 cm               over this range; a plain number is in the unit of the column
 *	z:40:0 cm..0.02 cm:absorbed      of these fates only, joined by +; all fates if omitted
 *	w:50:transmitted+reflected
 *
 * 	[r:100:0 mm..5 mm, z:50:0 mm..2 mm]     bins of equal width on each axis
 * 	[energy:40:1 keV..1 MeV:log]            bins of equal ratio
 * 	[z:0 mm..1 mm..5 mm]                    bins between given edges
 * 	[w:50, time:20:0 ns..1 ns, reflected]   of these fates only
 * 	[deposit, z:50]                         a score along the histories
 * 	[crossing:1 mm, w:20]                   the same: what crosses a plane.
 */

/*
 * Sets the tallies of the choices, those without brackets first. Call it after sl_resolve_keep().
 */
void sl_resolve_tallies(struct sl_resolver *v);

/* The name of each score, as in a configuration; "" for SL_SCORE_ENDS. */
extern const char *const sl_score_names[SL_SCORE_COUNT];

/* The name of a row: that of a fate, or "all" of a score. */
const char *sl_grid_row_name(const struct sl_grid_field *f, int fate);

/* --- tally_scores ----------------------------------------------------------------------------- */

/* For tallies.c: functions that return false have added a problem for the key. */

/* The score that an element names, before a colon for a plane; SL_SCORE_ENDS if it names none. */
enum sl_score sl_score_named(const char *element);

/* Is the first element of a grid a word that names no column, and so a wrong name of a score? */
bool sl_score_is_wrong(struct sl_resolver *v, const char *element);

/* Reads the depth of the plane of "crossing:DEPTH", inside the model or on its far face. */
bool sl_score_read_plane(
	struct sl_resolver *v, const char *key, const char *element, struct sl_grid_field *f);

/*
 * Checks the score of f, that the model has scores and that there are axes at whose edges paths can
 * be cut, and sets its fates and its unit.
 */
bool sl_score_check(struct sl_resolver *v, const char *key, struct sl_grid_field *f);

/* --- image ------------------------------------------------------------------------------------ */

/* Resolves output.image and output.white: does the run make an image, and of what?. */

/*
 * Sets the image of the choices when output.image is true, and checks that keep and the columns
 * fit. Call it after keep and the columns are resolved.
 */
void sl_resolve_image(struct sl_resolver *v);

/* --- list_order ------------------------------------------------------------------------------- */

/*
 * Resolves output.order, output.sample and output.limit: which survivors the joined file
 * of the run has, and in which order.
 */

/*
 * Sets list_order of the choices, and adds the columns that decide, as internal ones, to those of
 * the table. Called after the columns and the key are resolved.
 */
void sl_resolve_list_order(struct sl_resolver *v);

/* --- stop ------------------------------------------------------------------------------------- */

/* Resolves stop: the precision at which a run ends early. */

/* Sets stop_rule of the choices from the keys below stop. Call it after sl_resolve_keep(). */
void sl_resolve_stop(struct sl_resolver *v);

/* --- mcpl_output ------------------------------------------------------------------------------ */

/* Resolves output.mcpl: the contents of MCPL files. */

/*
 * For the formats mcpl and mcpl.gz: sets mcpl of the choices and returns the set of columns
 * that the records need. For other formats: adds a problem for each key of output.mcpl and returns
 * set, the columns of output.columns.
 */
sl_column_set sl_resolve_mcpl(struct sl_resolver *v, sl_column_set set);

#endif
