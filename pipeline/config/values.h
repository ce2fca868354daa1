/*
 * values.h - one value of a configuration: from text, strictly, and back to text.
 *
 * A text is read as a whole or refused: "1e6" is a million or an error, never 1 with something left
 * over. Nothing here depends on the locale.
 */
#ifndef SL_PIPELINE_CONFIG_VALUES_H
#define SL_PIPELINE_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "stages/models/option.h"

/* Room for what is wrong with a value: "what (why), try". */
enum { SL_WHY_BYTES = 512 };

/* Room for one value as text. */
enum { SL_VALUE_BYTES = 4 * SL_TEXT_BYTES + 4 };

/* Does the option take a list? */
bool sl_value_listed(const struct sl_option *o);

/* The size of the option's value in the struct that its table fills. */
size_t sl_value_bytes(const struct sl_option *o);

/* The items of a value (one when it is no list), and where item i is. */
size_t sl_value_items(const struct sl_option *o, const void *value);
void *sl_value_item(const struct sl_option *o, void *value, size_t i);

/* Makes a list of n items of value; n at most SL_LIST_MAX. Nothing for other kinds. */
void sl_value_resize(const struct sl_option *o, void *value, size_t n);

/* What "absent" reads as: NaN, 0, "" or an empty list. */
void sl_value_clear(const struct sl_option *o, void *value);

/* Is the value what sl_value_clear() made, of a kind that can tell? */
bool sl_value_absent(const struct sl_option *o, const void *value);

/*
 * Reads text as one item of the option into *item; false, with why set, when it is none. Of
 * KIND_ITEMS there is no text: its keys have it.
 */
bool sl_value_parse(
	const struct sl_option *o, const char *text, void *item, char why[SL_WHY_BYTES]);

/* Prints one item so that it reads back to the same bits. */
void sl_value_print(const struct sl_option *o, const void *item, char text[SL_VALUE_BYTES]);

/* Says why not. Returns false, so that it reads: return sl_refuse(why, "...", ...). */
bool sl_refuse(char why[SL_WHY_BYTES], const char *format, ...) SL_PRINTF(2, 3);

/* A number with a unit of that dimension, in the unit inside. */
bool sl_real_parse(
	const char *text, enum sl_dimension dimension, double *value, char why[SL_WHY_BYTES]);

/* A part of something: 0.007, or 0.7 %, which is the same to the bit. */
bool sl_part_parse(const char *text, double *value, char why[SL_WHY_BYTES]);

/* A whole unsigned number. */
bool sl_count_parse(const char *text, uint64_t *value, char why[SL_WHY_BYTES]);

#endif
