/*
 * column_item.c - splits an item at its colons, and reads its count and its range.
 *
 * Messages end with an item that would be accepted, made of what the user wrote.
 */
#include "pipeline/resolve/output/output.h"

#include <stdio.h>
#include <string.h>

void sl_column_item_split(const char *key, const char *text, uint32_t k, struct sl_column_item *it)
{
	/* strsep() cuts the copy in place; the configuration keeps the text as it was given */
	snprintf(it->key, sizeof(it->key), "%s[%u]", key, k);
	snprintf(it->text, sizeof(it->text), "%s", text);
	it->rest = it->text;
	it->column = strsep(&it->rest, ":");
	it->count = strsep(&it->rest, ":");
}

bool sl_column_item_count(struct sl_resolver *v, const struct sl_column_item *it, const char *what,
	uint32_t most, uint32_t example, uint32_t *count)
{
	uint64_t n;

	if (!it->count)
		return sl_config_add_problem(v->r, it->key,
			"'%s' lacks the number of %s; write %s:%u", it->column, what, it->column,
			example);
	if (!sl_count_parse(it->count, &n) || n < 1 || n > most)
		return sl_config_add_problem(v->r, it->key,
			"'%s' is not a number of %s from 1 to %u; write %s:%u", it->count, what,
			most, it->column, example);
	*count = (uint32_t)n;
	return true;
}

bool sl_column_item_end(const struct sl_resolver *v, enum sl_column column, const char *text,
	double *value, bool *has_unit)
{
	enum sl_unit unit = sl_label_unit(v->to->named.label, column);

	*has_unit = !sl_real_parse(text, SL_DIM_NUMBER, value);
	return !*has_unit || sl_real_parse(text, sl_units[unit].dimension, value);
}

/* A unit at one end only is ambiguous, except when the other end is 0. */
bool sl_column_item_range(struct sl_resolver *v, const struct sl_column_item *it, const char *range,
	enum sl_column column, double *lo, double *hi)
{
	const char *dots = strstr(range, "..");
	bool unit_lo, unit_hi;

	if (!dots)
		return sl_config_add_problem(v->r, it->key,
			"range: '%s' is not a range; write two numbers with .. between them, such as -1..1",
			range);
	if (!sl_column_item_end(
		    v, column, sl_said("%.*s", (int)(dots - range), range), lo, &unit_lo) ||
		!sl_column_item_end(v, column, dots + 2, hi, &unit_hi))
		return sl_config_add_problem(v->r, it->key, "range: %s", sl_last_error());
	if (unit_lo == unit_hi || *lo == 0 || *hi == 0)
		return true;
	return sl_config_add_problem(v->r, it->key,
		"range: '%s' has a unit at one end only; add the unit to the other end", range);
}

bool sl_column_item_check(struct sl_resolver *v, const struct sl_column_item *it, const char *range,
	const char *problem)
{
	if (problem)
		sl_config_add_problem(
			v->r, it->key, "the range '%s' %s; use another range", range, problem);
	return !problem;
}

bool sl_column_item_needs_range(struct sl_resolver *v, const struct sl_column_item *it,
	enum sl_column column, uint32_t count, uint32_t hi)
{
	const char *text = sl_units[sl_label_unit(v->to->named.label, column)].text,
		   *blank = *text ? " " : "";

	return sl_config_add_problem(v->r, it->key,
		"'%s' needs a range, because this model states none for it; write %s:%u:0%s%s..%u%s%s",
		it->column, it->column, count, blank, text, hi, blank, text);
}
