/* values.c - the kinds of values: read, checked against their option, printed. */
#include "pipeline/values.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config.h"
#include "pipeline/number.h"
#include "pipeline/words.h"

/* Says why not. Returns false, so that it reads: return no(why, "...", ...). */
SL_PRINTF(2, 3)
static bool no(char why[SL_WHY_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, SL_WHY_BYTES, format, args);
	va_end(args);
	return false;
}

/* --- the layout of values --------------------------------------------------------------------- */

bool sl_value_listed(const struct sl_option *o)
{
	return o->kind == SL_KIND_TEXTS || o->kind == SL_KIND_COUNTS || o->kind == SL_KIND_REALS;
}

size_t sl_value_bytes(const struct sl_option *o)
{
	switch (o->kind) {
	case SL_KIND_COUNT:
		return sizeof(uint64_t);
	case SL_KIND_REAL:
		return sizeof(double);
	case SL_KIND_BOOL:
		return sizeof(bool);
	case SL_KIND_CHOICE:
		return sizeof(int);
	case SL_KIND_TEXT:
		return SL_TEXT_BYTES;
	case SL_KIND_TEXTS:
		return sizeof(struct sl_texts);
	case SL_KIND_COUNTS:
		return sizeof(struct sl_counts);
	case SL_KIND_REALS:
		return sizeof(struct sl_reals);
	}
	return 0;
}

size_t sl_value_items(const struct sl_option *o, const void *value)
{
	switch (o->kind) {
	case SL_KIND_TEXTS:
		return ((const struct sl_texts *)value)->n;
	case SL_KIND_COUNTS:
		return ((const struct sl_counts *)value)->n;
	case SL_KIND_REALS:
		return ((const struct sl_reals *)value)->n;
	default:
		return 1;
	}
}

void *sl_value_item(const struct sl_option *o, void *value, size_t i)
{
	switch (o->kind) {
	case SL_KIND_TEXTS:
		return ((struct sl_texts *)value)->at[i];
	case SL_KIND_COUNTS:
		return &((struct sl_counts *)value)->at[i];
	case SL_KIND_REALS:
		return &((struct sl_reals *)value)->at[i];
	default:
		return value;
	}
}

void sl_value_resize(const struct sl_option *o, void *value, size_t n)
{
	if (o->kind == SL_KIND_TEXTS)
		((struct sl_texts *)value)->n = (uint32_t)n;
	else if (o->kind == SL_KIND_COUNTS)
		((struct sl_counts *)value)->n = (uint32_t)n;
	else if (o->kind == SL_KIND_REALS)
		((struct sl_reals *)value)->n = (uint32_t)n;
}

void sl_value_clear(const struct sl_option *o, void *value)
{
	memset(value, 0, sl_value_bytes(o));
	if (o->kind == SL_KIND_REAL)
		*(double *)value = (double)NAN;
}

bool sl_value_absent(const struct sl_option *o, const void *value)
{
	if (o->kind == SL_KIND_REAL)
		return isnan(*(const double *)value);
	if (o->kind == SL_KIND_TEXT)
		return *(const char *)value == '\0';
	return sl_value_items(o, value) == 0;
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* An end of the range as one would write it, with its unit. */
static void print_end(const struct sl_option *o, double end, char *text, int size)
{
	const char *unit = sl_dimensions[o->dimension].unit;

	if (o->kind == SL_KIND_COUNT || o->kind == SL_KIND_COUNTS)
		snprintf(text, (size_t)size, "%.0f", end);
	else
		sl_number_print(end, text, size);
	if (*unit)
		sl_append(text, (size_t)size, " %s", unit);
}

/* Ends that are those of all doubles, or next to 0, are told in words. */
static bool within(
	const struct sl_option *o, const char *text, double value, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES], lo[64], hi[64];

	if (value >= o->lo && value <= o->hi)
		return true;
	sl_show(shown, text);
	print_end(o, o->lo, lo, sizeof(lo));
	print_end(o, o->hi, hi, sizeof(hi));
	if (isinf(value))
		return no(why, "%s is out of range (it must be finite), try a number", shown);
	if (o->lo == DBL_MIN && value < o->lo)
		return no(why, "%s is out of range (it must be above 0), try a larger one", shown);
	if (o->hi >= DBL_MAX)
		return no(why, "%s is out of range (at least %s), try %s", shown, lo, lo);
	if (o->lo <= -DBL_MAX)
		return no(why, "%s is out of range (at most %s), try %s", shown, hi, hi);
	return no(why, "%s is out of range (%s to %s), try %s", shown, lo, hi,
		value < o->lo ? lo : hi);
}

/* 0777 is 511 to some readers of YAML. */
static bool padded(const char *shown, char why[SL_WHY_BYTES])
{
	return no(why, "%s begins with a needless 0 (some take that for octal), try it without",
		shown);
}

/* --- counts ----------------------------------------------------------------------------------- */

bool sl_count_parse(const char *text, uint64_t *value, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES];
	struct sl_number n;

	sl_show(shown, text);
	if (!sl_number_scan(text, &n) || *n.end)
		return no(why,
			"%s is not a count (all of it must be one whole number without a unit), "
			"try a number such as 1e6 or 1_000_000",
			shown);
	if (n.padded)
		return padded(shown, why);
	switch (sl_number_whole(&n, value)) {
	case SL_WHOLE_NEGATIVE:
		return no(why, "%s is negative (a count is not), try a whole number from 0", shown);
	case SL_WHOLE_FRACTION:
		return no(why, "%s is not whole (things are counted), try a whole number", shown);
	case SL_WHOLE_TOO_LARGE:
		return no(why, "%s is too large (counts have 64 bits), try at most %llu", shown,
			(unsigned long long)UINT64_MAX);
	case SL_WHOLE:
		break;
	}
	return true;
}

static bool parse_count(
	const struct sl_option *o, const char *text, uint64_t *value, char why[SL_WHY_BYTES])
{
	if (o->automatic && strcmp(text, "auto") == 0) {
		*value = 0;
		return true;
	}
	return sl_count_parse(text, value, why) && within(o, text, (double)*value, why);
}

/* --- quantities ------------------------------------------------------------------------------- */

static const struct sl_unit_facts *find_unit(const char *text)
{
	for (int i = 0; i < SL_UNIT_COUNT; i++)
		if (strcmp(sl_units[i].text, text) == 0)
			return &sl_units[i];
	return NULL;
}

/* "cm, m or mm": the units of a dimension. */
static const char *list_units(enum sl_dimension dimension, char *text, size_t size)
{
	const char *words[SL_UNIT_COUNT];
	size_t n = 0;

	for (int u = 0; u < SL_UNIT_COUNT; u++)
		if (sl_units[u].dimension == dimension)
			words[n++] = sl_units[u].text;
	return sl_list_words(text, size, words, n);
}

/* The k of a factor that is 10^k; 0 for one that is not. */
static int power_of_ten(double factor)
{
	static const double power[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1,
		1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	enum { N = sizeof(power) / sizeof(power[0]) };

	for (int i = 0; i < N; i++)
		if (power[i] == factor)
			return i - N / 2;
	return 0;
}

/* The unit that text names, for a number of that dimension; NULL, with why set, when it cannot be.
 */
static const struct sl_unit_facts *unit_of(const char *whole, const char *text,
	const struct sl_number *n, enum sl_dimension dimension, char why[SL_WHY_BYTES])
{
	const struct sl_unit_facts *unit = find_unit(text);
	char shown[SL_SHOWN_BYTES], units[128];
	bool bare = n->infinite || n->n_digits == 0; /* 0 and inf are the same in any unit */

	if (unit && (unit->dimension == dimension || (*text == '\0' && bare)))
		return unit;
	sl_show(shown, whole);
	list_units(dimension, units, sizeof(units));
	if (dimension == SL_DIM_NUMBER && unit)
		no(why, "%s has a unit (this is a plain number), try it without %s", shown, text);
	else if (dimension == SL_DIM_NUMBER)
		no(why,
			"%s is not a number (all of it must be one), try a number such as 0.5 or "
			"1e-3",
			shown);
	else if (*text == '\0')
		no(why, "%s has no unit (it could be any), try adding %s", shown, units);
	else if (unit)
		no(why, "%s has a unit of another kind (%s does not measure this), try %s", shown,
			text, units);
	else
		no(why, "%s has an unknown unit (what follows the number must be one), try %s",
			shown, units);
	return NULL;
}

bool sl_real_parse(
	const char *text, enum sl_dimension dimension, double *value, char why[SL_WHY_BYTES])
{
	const struct sl_unit_facts *unit;
	char shown[SL_SHOWN_BYTES];
	const char *behind;
	struct sl_number n;
	int shift;

	sl_show(shown, text);
	if (!sl_number_scan(text, &n))
		return no(why,
			"%s is not a number (all of it must be one), try a number such as %s%s%s",
			shown, dimension == SL_DIM_NUMBER ? "0.5 or 1e-3" : "1",
			dimension == SL_DIM_NUMBER ? "" : " ", sl_dimensions[dimension].unit);
	if (n.padded)
		return padded(shown, why);
	if (n.grouped)
		return no(why, "%s has _ in it (only counts may), try it without", shown);
	behind = n.end + strspn(n.end, " ");
	unit = unit_of(text, *behind ? behind : n.end, &n, dimension, why);
	if (!unit)
		return false;
	shift = power_of_ten(unit->factor);
	if (!sl_number_round(&n, shift, value))
		return no(why,
			"%s is too %s (a double does not reach it), try a number nearer to 1",
			shown, *value == 0 ? "small" : "large");
	if (shift == 0)
		*value *= unit->factor;
	return true;
}

/* --- words ------------------------------------------------------------------------------------ */

static bool parse_bool(const char *text, bool *value, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES];

	*value = strcmp(text, "true") == 0;
	if (*value || strcmp(text, "false") == 0)
		return true;
	return no(why, "%s is neither yes nor no (one word each is enough), try true or false",
		sl_show(shown, text));
}

static bool parse_choice(
	const struct sl_option *o, const char *text, int *value, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES], words[256];
	size_t n = 0;

	for (; o->choices[n]; n++) {
		if (strcmp(o->choices[n], text) == 0) {
			*value = (int)n;
			return true;
		}
	}
	return no(why, "%s is not a choice here (it is one of %zu words), try %s",
		sl_show(shown, text), n, sl_suggest(text, o->choices, n, words, sizeof(words)));
}

static bool parse_text(const char *text, char *value, size_t size, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES];

	if (strlen(text) >= size)
		return no(why,
			"%s is too long (%zu bytes, at most %zu are read), try a shorter one",
			sl_show(shown, text), strlen(text), size - 1);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return no(why,
				"%s has a control character in it (files and terminals would trip "
				"over it), try it without",
				sl_show(shown, text));
	memset(value, 0, size);
	memcpy(value, text, strlen(text));
	return true;
}

/* --- all kinds -------------------------------------------------------------------------------- */

bool sl_value_parse(const struct sl_option *o, const char *text, void *item, char why[SL_WHY_BYTES])
{
	switch (o->kind) {
	case SL_KIND_COUNT:
	case SL_KIND_COUNTS:
		return parse_count(o, text, (uint64_t *)item, why);
	case SL_KIND_REAL:
	case SL_KIND_REALS:
		return sl_real_parse(text, o->dimension, (double *)item, why) &&
		       within(o, text, *(double *)item, why);
	case SL_KIND_BOOL:
		return parse_bool(text, (bool *)item, why);
	case SL_KIND_CHOICE:
		return parse_choice(o, text, (int *)item, why);
	case SL_KIND_TEXT:
		return parse_text(text, (char *)item, SL_TEXT_BYTES, why);
	case SL_KIND_TEXTS:
		return parse_text(text, (char *)item, SL_WORD_BYTES, why);
	}
	return false;
}

/* Would any reader of YAML take text for itself, in a list too? */
static bool is_plain(const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._/+-:";
	size_t n = strlen(text);

	if (n == 0 || strspn(text, safe) != n || text[n - 1] == ':')
		return false;
	return strchr("./", text[0]) || (text[0] >= 'A' && text[0] <= 'z');
}

/* The code point at *p, which is moved behind it. The text is UTF-8: libyaml took care of that. */
static unsigned code_point(const unsigned char **p)
{
	unsigned first = *(*p)++, code = first;

	if (first >= 0xc0)
		code = first & (first >= 0xf0 ? 0x07 : first >= 0xe0 ? 0x0f : 0x1f);
	while (first >= 0xc0 && (**p & 0xc0) == 0x80)
		code = code << 6 | (*(*p)++ & 0x3fu);
	return code;
}

/* In quotes, all that is not ASCII is escaped: some of it breaks lines, some may not stand raw. */
static void print_text(const char *value, char text[SL_VALUE_BYTES])
{
	const unsigned char *p = (const unsigned char *)value;
	bool plain = is_plain(value);

	snprintf(text, SL_VALUE_BYTES, "%s", plain ? value : "\"");
	if (plain)
		return;
	while (*p) {
		unsigned code = code_point(&p);

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
	uint64_t count;
	const char *unit;

	switch (o->kind) {
	case SL_KIND_COUNT:
	case SL_KIND_COUNTS:
		count = *(const uint64_t *)item;
		if (o->automatic && count == 0)
			snprintf(text, SL_VALUE_BYTES, "auto");
		else
			snprintf(text, SL_VALUE_BYTES, "%llu", (unsigned long long)count);
		break;
	case SL_KIND_REAL:
	case SL_KIND_REALS:
		unit = sl_dimensions[o->dimension].unit;
		sl_number_print(*(const double *)item, text, SL_VALUE_BYTES);
		sl_append(text, SL_VALUE_BYTES, "%s%s", *unit ? " " : "", unit);
		break;
	case SL_KIND_BOOL:
		snprintf(text, SL_VALUE_BYTES, "%s", *(const bool *)item ? "true" : "false");
		break;
	case SL_KIND_CHOICE:
		snprintf(text, SL_VALUE_BYTES, "%s", o->choices[*(const int *)item]);
		break;
	case SL_KIND_TEXT:
	case SL_KIND_TEXTS:
		print_text((const char *)item, text);
		break;
	}
}
