/*
 * result.h - the result of a command: written once as JSON, printed as JSON or as text by a list of
 * lines.
 *
 *	static const struct sl_line lines[] = {
 *		{"", "batches", "{batches} of [{?at_most}at most ]{of_batches}, {bytes:B}"},
 *		{"fates.*", "fate            particles\n", "{@:-14} {count:10}[  {error:.2g}]"},
 *		{NULL, NULL, NULL},
 *	};
 *	struct sl_result r;
 *
 *	SL_TRY(sl_result_begin(&r, json ? NULL : lines, stdout));
 *	sl_json_object(&r.json, NULL);
 *	sl_json_u64(&r.json, "batches", 12);
 *	return sl_result_end(&r, SL_OK);
 *
 * path is "" for the whole result, "a.b" for a member, "a.*" for each item of an array or object,
 * and "a.*8" for at most 8 items, after which their number is printed. A line is left out if the
 * value is missing or void: null, false, 0, "" or without items.
 *
 * heading is a label of 12 characters in front of the first line, or, if it ends with a line break,
 * a line above the first one, which is a format too. NULL: none.
 *
 * format is text with fields, whose names are relative to the item:
 *
 *	{a.b}        the value; an array as "1, 2", an object as "key 1, key 2"; - if it is missing
 *	{}           the item itself
 *	{@} {#a}     the key or number of the item; the number of items of a
 *	{^a}         a of the whole result
 *	{a/b/1e6}    a divided by b and by 1e6
 *	{a:SPEC}     [-+][width][.digits][f or g] as in printf; r: a float by its fewest digits; g and
 *	             r print whole numbers in full; B: a size; T: a duration
 *	{a~batch}    "1 batch", "2 batches"
 *	{a.*:12}     each value of a, in headings each key, with a space before or after
 *	<a|format>   the format for each item of a
 *	[text]       left out if a field in it is missing, or a condition is false
 *	{?a} {!a}    conditions: a is not void; a is void
 *	{?a=b} {!a=b}  a is the text b; it is not
 */
#ifndef SL_PIPELINE_PRINT_RESULT_H
#define SL_PIPELINE_PRINT_RESULT_H

#include "pipeline/text/text.h"

/* A list of them ends with a path of NULL. A line whose text is empty is not printed. */
struct sl_line {
	const char *path, *heading, *format;
};

struct sl_result {
	struct sl_json json; /* write the result to it */
	const struct sl_line *lines;
	FILE *out;
	struct sl_text_memory memory;
};

/* lines NULL: JSON. *r must not move until the end. */
enum sl_status sl_result_begin(struct sl_result *r, const struct sl_line *lines, FILE *out);

/*
 * Closes what is open in r->json, and prints. Returns s if it is a failure: then no JSON is
 * printed, but the text of what precedes the failure.
 */
enum sl_status sl_result_end(struct sl_result *r, enum sl_status s);

#endif
