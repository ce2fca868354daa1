/*
 * column_item.c - splits an item at its colons, and reads its count and its range.
 *
 * Messages end with an item that would be accepted, made of what the user wrote.
 */
#include "pipeline/resolve/output/output.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"

void sl_column_item_split(const char *key, const char *text, uint32_t k, struct sl_column_item *it)
{
	/* strsep() cuts the copy in place; the configuration keeps the text as it was given */
	snprintf(it->key, sizeof(it->key), "%s[%u]", key, k);
	snprintf(it->text, sizeof(it->text), "%s", text);
	it->rest = it->text;
	it->column = strsep(&it->rest, ":");
	it->count = strsep(&it->rest, ":");
}

bool sl_column_item_count(struct sl_reader *r, const struct sl_column_item *it, const char *what,
	uint32_t most, uint32_t example, uint32_t *count)
{
	char why[SL_WHY_BYTES];
	uint64_t n;

	if (!it->count)
		return sl_config_add_problem(r, it->key, "'%s' lacks the number of %s; write %s:%u",
			it->column, what, it->column, example);
	if (!sl_count_parse(it->count, &n, why) || n < 1 || n > most)
		return sl_config_add_problem(r, it->key,
			"'%s' is not a number of %s from 1 to %u; write %s:%u", it->count, what,
			most, it->column, example);
	*count = (uint32_t)n;
	return true;
}

/* Reads one end; *unit: it has a unit, otherwise it is in the unit of the column. */
static bool parse_end(const char *text, enum sl_dimension dimension, double *value, bool *unit,
	char why[SL_WHY_BYTES])
{
	*unit = false;
	if (sl_real_parse(text, SL_DIM_NUMBER, value, why))
		return true;
	*unit = true;
	return sl_real_parse(text, dimension, value, why);
}

/*
 * Splits a range at ".." and reads both ends. A unit at one end only is ambiguous, except when the
 * other end is 0.
 */
static bool parse_range(
	const char *text, enum sl_unit unit, double *lo, double *hi, char why[SL_WHY_BYTES])
{
	enum sl_dimension dimension = sl_units[unit].dimension;
	const char *dots = strstr(text, "..");
	bool unit_lo, unit_hi;
	char from[SL_WORD_BYTES];

	if (!dots)
		return sl_refuse(why,
			"'%s' is not a range; write two numbers with .. between them, such as -1..1",
			text);
	snprintf(from, sizeof(from), "%.*s", (int)(dots - text), text);
	if (!parse_end(from, dimension, lo, &unit_lo, why) ||
		!parse_end(dots + 2, dimension, hi, &unit_hi, why))
		return false;
	if (unit_lo == unit_hi || *lo == 0 || *hi == 0)
		return true;
	return sl_refuse(
		why, "'%s' has a unit at one end only; add the unit to the other end", text);
}

bool sl_column_item_range(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	enum sl_unit unit, double *lo, double *hi)
{
	char why[SL_WHY_BYTES];

	if (parse_range(range, unit, lo, hi, why))
		return true;
	return sl_config_add_problem(r, it->key, "range: %s", why);
}

bool sl_column_item_check(struct sl_reader *r, const struct sl_column_item *it, const char *range,
	const char *problem)
{
	if (problem)
		sl_config_add_problem(
			r, it->key, "the range '%s' %s; use another range", range, problem);
	return !problem;
}

bool sl_column_item_needs_range(struct sl_reader *r, const struct sl_column_item *it,
	enum sl_unit unit, uint32_t count, uint32_t hi)
{
	const char *text = sl_units[unit].text, *blank = *text ? " " : "";

	return sl_config_add_problem(r, it->key,
		"'%s' needs a range, because this model states none for it; write "
		"%s:%u:0%s%s..%u%s%s",
		it->column, it->column, count, blank, text, hi, blank, text);
}
