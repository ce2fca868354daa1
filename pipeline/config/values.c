/*
 * values.c - the kinds of values: layout in memory, parsing with range check, printing.
 *
 * Each section handles one of these for all kinds (SL_KIND_...); a new kind adds a case to each.
 */
#include "pipeline/config/config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- layout in memory ------------------------------------------------------------------------- */

/*
 * The memory of each kind: one item, or a struct with the number of items and an array. The
 * lists of option.h begin with a 32-bit length; only a vector has an array without one.
 */
static const struct layout {
	size_t bytes;       /* of the value */
	size_t first, item; /* offset of the array and bytes of one item; a single item has 0 */
	enum sl_kind one;   /* the kind of an item */
} layouts[] = {
	[SL_KIND_COUNT] = {sizeof(uint64_t), 0, 0, SL_KIND_COUNT},
	[SL_KIND_REAL] = {sizeof(double), 0, 0, SL_KIND_REAL},
	[SL_KIND_BOOL] = {sizeof(bool), 0, 0, SL_KIND_BOOL},
	[SL_KIND_CHOICE] = {sizeof(int), 0, 0, SL_KIND_CHOICE},
	[SL_KIND_TEXT] = {SL_TEXT_BYTES, 0, 0, SL_KIND_TEXT},
#define LIST(kind, list, one)                                               \
	[SL_KIND_##kind] = {sizeof(struct list), offsetof(struct list, at), \
		sizeof(((struct list *)NULL)->at[0]), SL_KIND_##one}
	LIST(TEXTS, sl_texts, TEXT),
	LIST(LINES, sl_lines, TEXT),
	LIST(COUNTS, sl_counts, COUNT),
	LIST(REALS, sl_reals, REAL),
	LIST(VECTOR, sl_vector, REAL),
	LIST(NAMED, sl_named, TEXT),
#undef LIST
	[SL_KIND_ITEMS] = {sizeof(uint64_t), 0, 0, SL_KIND_ITEMS},
};

/* Where the text of an item is: after its name, if it has one. */
static size_t text_offset(const struct sl_option *o)
{
	return o->kind == SL_KIND_NAMED ? offsetof(struct sl_named_text, text) : 0;
}

/* Does the value begin with the number of its items? A vector always has three. */
static bool has_length(const struct sl_option *o)
{
	return layouts[o->kind].first > 0;
}

bool sl_value_listed(const struct sl_option *o)
{
	return layouts[o->kind].item > 0;
}

size_t sl_value_bytes(const struct sl_option *o)
{
	return layouts[o->kind].bytes;
}

size_t sl_value_items(const struct sl_option *o, const void *value)
{
	uint32_t n = o->kind == SL_KIND_VECTOR ? 3 : 1;

	if (has_length(o))
		memcpy(&n, value, sizeof(n));
	return n;
}

void *sl_value_item(const struct sl_option *o, void *value, size_t i)
{
	return (char *)value + layouts[o->kind].first + i * layouts[o->kind].item;
}

void sl_value_resize(const struct sl_option *o, void *value, size_t n)
{
	uint32_t length = (uint32_t)n;

	if (has_length(o))
		memcpy(value, &length, sizeof(length));
}

void sl_value_clear(const struct sl_option *o, void *value)
{
	memset(value, 0, sl_value_bytes(o));
	for (size_t i = 0; i < sl_value_items(o, value); i++)
		if (o->kind == SL_KIND_REAL || o->kind == SL_KIND_VECTOR)
			((double *)value)[i] = (double)NAN;
}

bool sl_value_absent(const struct sl_option *o, const void *value)
{
	if (o->kind == SL_KIND_REAL || o->kind == SL_KIND_VECTOR)
		return isnan(*(const double *)value);
	if (o->kind == SL_KIND_COUNT || o->kind == SL_KIND_ITEMS)
		return *(const uint64_t *)value == 0;
	if (o->kind == SL_KIND_TEXT)
		return *(const char *)value == '\0';
	if (o->kind == SL_KIND_CHOICE)
		return !o->required && *(const int *)value == 0;
	return sl_value_items(o, value) == 0;
}

/* --- ranges ----------------------------------------------------------------------------------- */

double sl_value_end(const struct sl_option *o, double end, const char **unit)
{
	*unit = sl_dimensions[o->dimension].unit;
	for (int u = 0; u < SL_UNIT_COUNT && end > 1; u++)
		if (sl_units[u].dimension == o->dimension && sl_units[u].factor == end) {
			*unit = sl_units[u].text;
			return 1;
		}
	return end;
}

/* Prints an end of the range as in a configuration, with its unit. */
static void print_end(const struct sl_option *o, double end, char *text, int size)
{
	const char *unit;

	end = sl_value_end(o, end, &unit);
	if (o->kind == SL_KIND_COUNT || o->kind == SL_KIND_COUNTS)
		snprintf(text, (size_t)size, "%.0f", end);
	else
		snprintf(text, (size_t)size, "%s", sl_double_text(end));
	if (*unit)
		sl_append(text, (size_t)size, " %s", unit);
}

/*
 * Checks the range. An end that only excludes infinity (DBL_MAX) or zero (DBL_MIN) is described in
 * words, because its digits would help nobody.
 */
static bool within(const struct sl_option *o, const char *text, double value)
{
	const char *shown;
	char lo[64], hi[64];

	if (value >= o->lo && value <= o->hi)
		return true;
	shown = sl_shown(text);
	print_end(o, o->lo, lo, sizeof(lo));
	print_end(o, o->hi, hi, sizeof(hi));
	if (isinf(value))
		return sl_refuse("%s is out of range: it must be finite; use a number", shown);
	if (o->lo == DBL_MIN && value < o->lo)
		return sl_refuse(
			"%s is out of range: it must be above 0; use a larger number", shown);
	if (o->hi >= DBL_MAX)
		return sl_refuse("%s is out of range: it must be at least %s; use %s or more",
			shown, lo, lo);
	if (o->lo <= -DBL_MAX)
		return sl_refuse(
			"%s is out of range: it must be at most %s; use %s or less", shown, hi, hi);
	return sl_refuse(
		"%s is out of range: it must be between %s and %s; the nearest value is %s", shown,
		lo, hi, value < o->lo ? lo : hi);
}

/* Parses a count; auto reads as 0 where the option allows it. */
static bool parse_count(const struct sl_option *o, const char *text, uint64_t *value)
{
	/* 0 is never a valid count of such an option, so it can stand for auto */
	if (o->automatic && strcmp(text, "auto") == 0) {
		*value = 0;
		return true;
	}
	return sl_count_parse(text, value) && within(o, text, (double)*value);
}

/* --- words ------------------------------------------------------------------------------------ */

/* Parses true or false; yes, no, on and off of YAML 1.1 are refused. */
static bool parse_bool(const char *text, bool *value)
{
	*value = strcmp(text, "true") == 0;
	if (*value || strcmp(text, "false") == 0)
		return true;
	return sl_refuse("must be true or false, and is %s; write true or false", sl_shown(text));
}

/* Parses a word of the option; the value is its index. */
static bool parse_choice(const struct sl_option *o, const char *text, int *value)
{
	size_t n = 0;

	for (; o->choices[n]; n++) {
		if (strcmp(o->choices[n], text) == 0) {
			*value = (int)n;
			return true;
		}
	}
	return sl_refuse("%s is not a valid choice; use %s", sl_shown(text),
		sl_suggested(text, o->choices, n));
}

/* Copies a text that fits and has no control characters, which harm terminals and file names. */
static bool parse_text(const char *text, char *value, size_t size)
{
	if (strlen(text) >= size)
		return sl_refuse("%s is too long: %zu bytes, at most %zu are allowed; shorten it",
			sl_shown(text), strlen(text), size - 1);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return sl_refuse(
				"%s contains a control character; remove it", sl_shown(text));
	/* clear the rest: a value is compared with its default as bytes */
	memset(value, 0, size);
	memcpy(value, text, strlen(text));
	return true;
}

/* --- all kinds -------------------------------------------------------------------------------- */

bool sl_value_parse(const struct sl_option *o, const char *text, void *item)
{
	switch (layouts[o->kind].one) {
	case SL_KIND_COUNT:
		return parse_count(o, text, (uint64_t *)item);
	case SL_KIND_REAL:
		return sl_real_parse(text, o->dimension, (double *)item) &&
		       within(o, text, *(double *)item);
	case SL_KIND_BOOL:
		return parse_bool(text, (bool *)item);
	case SL_KIND_CHOICE:
		return parse_choice(o, text, (int *)item);
	default:
		return parse_text(text, (char *)item + text_offset(o),
			o->kind == SL_KIND_TEXTS ? SL_WORD_BYTES : SL_TEXT_BYTES);
	}
}

/* Is text a plain YAML scalar that every YAML reader takes as a string, inside a list too? */
static bool is_plain(const char *text)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-:";
	size_t n = strlen(text);

	if (n == 0 || strspn(text, safe) != n || text[n - 1] == ':')
		return false;
	return strchr("./", text[0]) || (text[0] >= 'A' && text[0] <= 'z');
}

/*
 * Prints a text plainly or in double quotes. In quotes all non-ASCII characters are escaped,
 * because YAML takes some of them for line breaks and forbids others.
 */
static void print_text(const char *value, char text[SL_VALUE_BYTES])
{
	const unsigned char *p = (const unsigned char *)value;
	bool plain = is_plain(value);

	snprintf(text, SL_VALUE_BYTES, "%s", plain ? value : "\"");
	if (plain)
		return;
	while (*p) {
		uint32_t code;
		size_t n = sl_utf8_decode(p, &code);

		p += n ? n : 1; /* never 0: libyaml has verified that the text is UTF-8 */
		if (code < 0x80)
			sl_append(text, SL_VALUE_BYTES, "%s%c",
				code == '"' || code == '\\' ? "\\" : "", (int)code);
		else
			sl_append(
				text, SL_VALUE_BYTES, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
	}
	sl_append(text, SL_VALUE_BYTES, "\"");
}

void sl_value_print(const struct sl_option *o, const void *item, char text[SL_VALUE_BYTES])
{
	const char *unit = sl_dimensions[o->dimension].unit;

	switch (layouts[o->kind].one) {
	case SL_KIND_COUNT:
		snprintf(text, SL_VALUE_BYTES,
			o->automatic && *(const uint64_t *)item == 0 ? "auto" : "%lu",
			*(const uint64_t *)item);
		break;
	case SL_KIND_REAL:
		snprintf(text, SL_VALUE_BYTES, "%s%s%s", sl_double_text(*(const double *)item),
			*unit ? " " : "", unit);
		break;
	case SL_KIND_BOOL:
		snprintf(text, SL_VALUE_BYTES, "%s", *(const bool *)item ? "true" : "false");
		break;
	case SL_KIND_CHOICE:
		snprintf(text, SL_VALUE_BYTES, "%s", o->choices[*(const int *)item]);
		break;
	default:
		print_text((const char *)item + text_offset(o), text);
	}
}
