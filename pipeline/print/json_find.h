/*
 * json_find.h - finds values in JSON without spaces.
 *
 * The JSON is searched as text, without a tree. It is made by this program, but parts of it by a
 * child process that has read a crafted file, so that no search may leave the text. A search reads
 * what precedes the value, which is little: a line per item walks the items in order.
 */
#ifndef SL_PIPELINE_PRINT_JSON_FIND_H
#define SL_PIPELINE_PRINT_JSON_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* A value is a place in the JSON; NULL: missing. item.value NULL: the first item is next. */
struct sl_json_item {
	const char *in, *key, *value;
	size_t number;
};

bool sl_json_is_container(const char *value);

/* The end of the value that begins at a place. */
const char *sl_json_end_of(const char *at);

/* Moves to the next item of a container; false at its end. */
bool sl_json_next(struct sl_json_item *i);

/* The member that a path of n bytes names, such as a.b. */
const char *sl_json_find(const char *in, const char *path, size_t n);

/* Is the value missing, null, "" or without items? As a condition, false and 0 are void, too. */
bool sl_json_is_missing(const char *value);
bool sl_json_is_void(const char *value);

/* The number; NaN if it is none. */
double sl_json_number_of(const char *value);

#endif
