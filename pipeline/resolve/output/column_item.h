/*
 * column_item.h - the common parts of the items of key and tallies: COLUMN:COUNT[:LO..HI].
 *
 * Each function that returns false has added a problem for the item.
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_COLUMN_ITEM_H
#define SL_PIPELINE_RESOLVE_OUTPUT_COLUMN_ITEM_H

#include "pipeline/config/reader/reader.h"
#include "stages/particle/particle.h"

enum { SL_ITEM_KEY_BYTES = 24 };

struct sl_column_item {
	char key[SL_ITEM_KEY_BYTES]; /* "key[2]", for messages */
	char text[SL_WORD_BYTES];
	char *column;      /* points into text, as do the next */
	const char *count; /* of bits or bins; NULL if omitted */
	char *rest;        /* after the second colon; NULL if there is none */
};

/*
 * Splits a text of less than SL_WORD_BYTES, item k of the list at key. The parts point into *it, which must
 * not be moved.
 */
void sl_column_item_split(const char *key, const char *text, uint32_t k, struct sl_column_item *it);

/* Reads the count, from 1 to most; what is "bits" or "bins", example a count for the message. */
bool sl_column_item_count(struct sl_reader *r, const struct sl_column_item *it, const char *what,
	uint32_t most, uint32_t example, uint32_t *count);

/*
 * Reads LO..HI into *lo and *hi, in the unit of the column, which is given. Each end is a plain number in that unit,
 * or has a unit of the same dimension; both ends have a unit, or neither.
 */
bool sl_column_item_range(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	enum sl_unit unit, double *lo, double *hi);

/* If problem is not NULL: adds that the range has it, and returns false. */
bool sl_column_item_check(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	const char *problem);

/* Adds that the item needs a range; unit is that of the column, count and hi are for the example. Returns false. */
bool sl_column_item_needs_range(struct sl_reader *r, const struct sl_column_item *it,
	enum sl_unit unit, uint32_t count, uint32_t hi);

#endif
