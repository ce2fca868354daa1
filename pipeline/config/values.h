/*
 * values.h - one value of a configuration: its memory layout, from text, and back to text.
 *
 * Every function takes the option that describes the value; value points to the member of the
 * struct that the option table fills.
 */
#ifndef SL_PIPELINE_CONFIG_VALUES_H
#define SL_PIPELINE_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/config/quantity.h"
#include "stages/models/option.h"

/* Bytes for one value as text: each byte can become an escape of four, plus quotes. */
enum { SL_VALUE_BYTES = 4 * SL_TEXT_BYTES + 4 };

/* Is the value a list of items? */
bool sl_value_listed(const struct sl_option *o);

/* Size of the value in bytes. */
size_t sl_value_bytes(const struct sl_option *o);

/* Number of items of the value (1 unless it is a list), and the address of item i. */
size_t sl_value_items(const struct sl_option *o, const void *value);
void *sl_value_item(const struct sl_option *o, void *value, size_t i);

/* Sets the number of items of a list, at most SL_LIST_MAX. Does nothing for other kinds. */
void sl_value_resize(const struct sl_option *o, void *value, size_t n);

/* Sets the value that stands for "not given": NaN, 0, "" or an empty list. */
void sl_value_clear(const struct sl_option *o, void *value);

/* Does the value stand for "not given"? False for kinds without such a value. */
bool sl_value_absent(const struct sl_option *o, const void *value);

/*
 * Parses text as one item into *item and checks its range; false with why set when it is wrong. Not
 * for SL_KIND_ITEMS, whose keys have the values.
 */
bool sl_value_parse(
	const struct sl_option *o, const char *text, void *item, char why[SL_WHY_BYTES]);

/* Prints one item as YAML that reads back to the same bits. */
void sl_value_print(const struct sl_option *o, const void *item, char text[SL_VALUE_BYTES]);

/*
 * An end of a range: *unit is the unit of its dimension that it is one of, such as 1 s, or else the
 * internal one.
 */
double sl_value_end(const struct sl_option *o, double end, const char **unit);

#endif
