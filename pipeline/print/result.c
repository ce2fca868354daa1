/* result.c - collects the JSON of a result and prints it by a list of lines. */
#include "pipeline/print/result.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/text.h"

enum {
	LABEL_WIDTH = 12,
	WHOLE_MOST = 20,
	FIELD_BYTES = 96,
	TEXT_BYTES = 1 << 14,
	LINE_BYTES = 1 << 16
};

/* --- the JSON of the result ------------------------------------------------------------------- */

/*
 * The JSON, without spaces, is searched as text, without a tree. It is made by this program, but
 * parts of it by a child process that has read a crafted file, so that no search may leave the
 * text. A search reads what precedes the value, which is little: a line per item walks the items in
 * order.
 */

/* A value is a place in the JSON; NULL: missing. item.value NULL: the first item is next. */
struct item {
	const char *in, *key, *value;
	size_t number;
};

static bool is_container(const char *value)
{
	return value && (*value == '[' || *value == '{');
}

/* The end of the value that begins at a place. */
static const char *end_of(const char *at)
{
	int depth = 0;

	do {
		if (*at == '"')
			for (at++; *at && *at != '"'; at++)
				at += *at == '\\' && at[1];
		else if (is_container(at))
			depth++;
		else if (*at == ']' || *at == '}')
			depth--;
		else if (*at)
			at += strcspn(at + 1, ",:]}\"[{");
		at += *at != '\0';
	} while (depth > 0 && *at);
	return at;
}

/* Moves to the next item of a container; false at its end. */
static bool next_item(struct item *i)
{
	const char *at = i->value ? end_of(i->value) : i->in + 1;

	at += *at == ',';
	if (*at == ']' || *at == '}' || (*i->in == '{' && *end_of(at) != ':') || !*at)
		return false;
	i->key = *i->in == '{' ? at : NULL;
	i->value = i->key ? end_of(at) + 1 : at;
	i->number++;
	return true;
}

/* The member that a path of n bytes names, such as a.b. */
static const char *find(const char *in, const char *path, size_t n)
{
	while (n > 0 && in && *in == '{') {
		size_t bytes = strcspn(path, ".");
		struct item i = {.in = in};

		bytes = bytes < n ? bytes : n;
		in = NULL;
		while (!in && next_item(&i))
			if (*i.key == '"' && strncmp(i.key + 1, path, bytes) == 0 &&
				i.key[bytes + 1] == '"')
				in = i.value;
		path += bytes + (bytes < n);
		n -= bytes + (bytes < n);
	}
	return n == 0 ? in : NULL;
}

/* Is the value missing, null, "" or without items? */
static bool is_missing(const char *value)
{
	return !value || *value == 'n' || strncmp(value, "\"\"", 2) == 0 ||
	       (is_container(value) && (value[1] == ']' || value[1] == '}'));
}

/* The number; NaN if it is none. */
static double number_of(const char *value)
{
	struct sl_decimal decimal;
	double number;

	if (!value || !sl_decimal_scan(value, &decimal))
		return (double)NAN;
	return decimal.n_digits == 0                        ? 0
	       : sl_decimal_to_double(&decimal, 0, &number) ? number
	                                                    : (double)NAN;
}

/* As a condition, false and 0 are missing, too. */
static bool is_void(const char *value)
{
	return is_missing(value) || *value == 'f' ||
	       (strchr("-0123456789", *value) && number_of(value) == 0);
}

/* --- fields ----------------------------------------------------------------------------------- */

/* A line in the making, and what its fields refer to. */
struct printer {
	const char *root;
	struct item item;
	bool heading;
	char text[LINE_BYTES];
	size_t used;
};

static void put(struct printer *p, const char *text, size_t n)
{
	n = n < LINE_BYTES - p->used ? n : LINE_BYTES - 1 - p->used;
	memcpy(p->text + p->used, text, n);
	p->used += n;
	p->text[p->used] = '\0';
}

static void put_padded(struct printer *p, const char *text, size_t n, int width)
{
	size_t wide = (size_t)abs(width), characters = 0;

	for (size_t i = 0; i < n; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	for (size_t i = characters; width > 0 && i < wide; i++)
		put(p, " ", 1);
	put(p, text, n);
	for (size_t i = characters; width < 0 && i < wide; i++)
		put(p, " ", 1);
}

/* A string without its quotes and escapes, or a number or word as it is. */
static void put_scalar(struct printer *p, const char *value, int width)
{
	char text[TEXT_BYTES];
	const char *end = end_of(value);
	size_t n = 0;

	if (*value != '"') {
		put_padded(p, value, (size_t)(end - value), width);
		return;
	}
	for (value++; value < end - 1 && n < sizeof(text); value++) {
		bool escaped = *value == '\\';

		value += escaped && value[1] != 'u';
		text[n++] = !escaped || (*value != 'n' && *value != 't') ? *value
		            : *value == 'n'                              ? '\n'
		                                                         : '\t';
	}
	put_padded(p, text, n, width);
}

/* How a field is printed: the parts of {path/divisor:spec}. */
struct style {
	const char *divisor; /* NULL: none */
	bool plus;
	int width, digits;
	char letter;
};

static struct style style_of(const char *spec)
{
	struct style s = {.digits = -1};
	char *end;

	if (!spec)
		return s;
	s.plus = *spec == '+';
	spec += s.plus;
	s.width = (int)strtol(spec, &end, 10);
	if (*end == '.')
		s.digits = (int)strtol(end + 1, &end, 10);
	s.letter = *end;
	return s;
}

/* The value that a field names. */
static const char *value_of(struct printer *p, const char *path)
{
	size_t n = strlen(path);
	struct item counted = {0};

	if (*path == '^')
		return find(p->root, path + 1, n - 1);
	if (*path == '@' && p->item.key)
		return p->item.key;
	if (*path == '@' || *path == '#') {
		counted.in = *path == '#' ? value_of(p, path + 1) : NULL;
		while (is_container(counted.in) && next_item(&counted))
			;
		return sl_said("%zu", *path == '@' ? p->item.number : counted.number);
	}
	return find(p->item.value, path, n);
}

/* Divides by all divisors, numbers or paths that '/' separates. */
static double divided(struct printer *p, double number, const char *divisors)
{
	while (divisors) {
		char one[FIELD_BYTES];
		size_t n = strcspn(divisors, "/");

		snprintf(one, sizeof(one), "%.*s", (int)n, divisors);
		number /= number_of(isdigit((unsigned char)*one) ? one : value_of(p, one));
		divisors = divisors[n] ? divisors + n + 1 : NULL;
	}
	return number;
}

/* The fewest digits that read back to the same float. */
static const char *f32_text(float number)
{
	const char *text;
	int digits = 1;

	do
		text = sl_said("%.*g", digits, (double)number);
	while (digits++ < 9 && strtof(text, NULL) != number);
	return text;
}

/* Is it a whole number that is printed in full? */
static bool is_whole(const char *value)
{
	size_t digits = strspn(value, "-0123456789");

	return digits <= WHOLE_MOST && value[digits] != '.' && value[digits] != 'e';
}

/* False if there is no value: a dash is printed. */
static bool put_value(struct printer *p, const char *value, const struct style *s)
{
	const char *text;
	double number;

	if (is_missing(value) || ((s->divisor || s->letter) && *value == '"')) {
		put_padded(p, "-", 1, s->width);
		return false;
	}
	if (!s->divisor && (!s->letter || (strchr("gr", s->letter) && is_whole(value)))) {
		put_scalar(p, value, s->width);
		return true;
	}
	number = divided(p, number_of(value), s->divisor);
	if (!isfinite(number))
		return put_value(p, NULL, s);
	if (s->letter == 'B')
		text = sl_sized(number);
	else if (s->letter == 'T')
		text = number < 10 ? sl_said("%.2g s", number) : sl_duration(number);
	else if (s->letter == 'r')
		text = f32_text((float)number);
	else
		text = sl_said(
			s->letter == 'f' ? s->plus ? "%+.*f" : "%.*f" : "%.*g", s->digits, number);
	put_padded(p, text, strlen(text), s->width);
	return true;
}

/* The items of a container: in columns with a space between them, or as a list in a sentence. */
static bool put_items(struct printer *p, const char *in, bool columns, const struct style *s)
{
	struct item i = {.in = in};

	while (is_container(in) && next_item(&i)) {
		if (columns)
			put(p, " ", s->width > 0);
		else if (i.number > 1)
			put(p, ", ", 2);
		if (!columns && i.key) {
			put_scalar(p, i.key, 0);
			put(p, " ", 1);
		}
		if (columns && p->heading)
			put_scalar(p, i.key ? i.key : "\"\"", s->width);
		else
			(void)put_value(p, i.value, s);
		put(p, " ", columns && s->width < 0);
	}
	return i.number > 0;
}

/* Ends the text at a character, and returns what follows it; NULL if it has none. */
static char *cut(char *text, char at)
{
	char *found = strchr(text, at);

	if (found)
		*found++ = '\0';
	return found;
}

static bool is_text(const char *value, const char *text)
{
	size_t n = strlen(text);

	return value && strncmp(value + (*value == '"'), text, n) == 0 &&
	       value + (*value == '"') + n + (*value == '"') == end_of(value);
}

static void put_word(struct printer *p, const char *value, const char *word)
{
	const char *end = strstr(word, "ch") ? "es" : "s";

	put(p, " ", 1);
	put(p, word, strlen(word));
	put(p, end, is_text(value, "1") ? 0 : strlen(end));
}

/* Prints the field whose brace is at *format. False: missing, or a condition that is not met. */
static bool put_field(struct printer *p, const char **format)
{
	char field[FIELD_BYTES], *spec, *word, *equal, *path = field;
	size_t n = strcspn(*format, "}");
	struct style style;
	const char *value;
	bool met;

	snprintf(field, sizeof(field), "%.*s", (int)n - 1, *format + 1);
	*format += n + 1;
	spec = cut(field, ':');
	word = cut(field, '~');
	equal = cut(field, '=');
	style = style_of(spec);
	style.divisor = cut(field, '/');
	path += *field == '?' || *field == '!';
	n = strlen(path);
	if (n > 0 && path[n - 1] == '*') {
		path[n - 1 - (n > 1)] = '\0';
		return put_items(p, value_of(p, path), true, &style);
	}
	value = value_of(p, path);
	met = equal ? is_text(value, equal) : path > field && !is_void(value);
	if (path > field)
		return met == (*field == '?');
	if (is_container(value))
		return put_items(p, value, false, &style);
	met = put_value(p, value, &style);
	if (word)
		put_word(p, value, word);
	return met;
}

static void put_format(struct printer *p, const char **format, char end, bool *found);

/* Prints <path|format>: the format for each item of the path. */
static void put_each(struct printer *p, const char **format)
{
	const struct item outer = p->item;
	const char *path = *format + 1, *each = strchr(path, '|') + 1, *at;
	struct item i = {.in = find(outer.value, path, (size_t)(each - path) - 1)};

	while (is_container(i.in) && next_item(&i)) {
		bool found;

		p->item = i;
		at = each;
		put_format(p, &at, '>', &found);
	}
	p->item = outer;
	*format = strchr(each, '>') + 1;
}

/*
 * Prints a format up to end. *found is false if a field is missing: text in brackets is then taken
 * back.
 */
static void put_format(struct printer *p, const char **format, char end, bool *found)
{
	size_t start = p->used;
	bool inner;

	*found = true;
	while (**format && **format != end) {
		if (**format == '{') {
			*found &= put_field(p, format);
		} else if (**format == '<') {
			put_each(p, format);
		} else if (**format == '[') {
			++*format;
			put_format(p, format, ']', &inner);
			++*format;
		} else {
			put(p, (*format)++, 1);
		}
	}
	if (!*found && end == ']')
		p->used = start;
	p->text[p->used] = '\0';
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *text_of(struct printer *p, const char *format, bool heading)
{
	bool found;

	p->used = 0;
	p->heading = heading;
	put_format(p, &format, '\0', &found);
	while (p->used > 0 && p->text[p->used - 1] == ' ')
		p->text[--p->used] = '\0';
	return p->text;
}

/*
 * A heading with a line break is printed above the first line whose text is not empty, from the
 * same item.
 */
static void print_item(
	struct printer *p, const struct sl_line *l, size_t *printed, size_t most, FILE *out)
{
	bool above = l->heading && strchr(l->heading, '\n') != NULL;

	if (!*text_of(p, l->format, false) || (*printed)++ >= most)
		return;
	if (above && *printed == 1)
		fputs(text_of(p, l->heading, true), out);
	if (l->heading && !above)
		fprintf(out, "%-*s", LABEL_WIDTH, *printed > 1 ? "" : l->heading);
	fprintf(out, "%s\n", text_of(p, l->format, false));
}

static void print_line(struct printer *p, const struct sl_line *l, FILE *out)
{
	size_t n = strcspn(l->path, "*"), most, printed = 0;
	const char *in = find(p->root, l->path, n - (n > 0 && l->path[n - 1] == '.'));

	if (is_void(in))
		return;
	most = l->path[n] && l->path[n + 1] ? strtoul(l->path + n + 1, NULL, 10) : SIZE_MAX;
	p->item = (struct item){.in = in};
	if (!l->path[n]) {
		p->item.value = in;
		print_item(p, l, &printed, most, out);
		return;
	}
	while (is_container(in) && next_item(&p->item))
		print_item(p, l, &printed, most, out);
	if (printed > most)
		fprintf(out, "%-*sand %zu others\n", LABEL_WIDTH, "", printed - most);
}

/*
 * The bytes of texts stay as they are in memory; what writes them to a terminal makes them
 * printable.
 */
enum sl_status sl_result_begin(struct sl_result *r, const struct sl_line *lines, FILE *out)
{
	r->lines = lines;
	r->out = out;
	SL_TRY(sl_text_memory_begin(&r->memory));
	r->json = sl_json_stream(r->memory.out);
	r->json.indented = !lines;
	r->json.raw = lines != NULL;
	return SL_OK;
}

enum sl_status sl_result_end(struct sl_result *r, enum sl_status s)
{
	struct printer p;
	enum sl_status ended;
	size_t bytes;
	char *text;

	while (r->json.depth > 0)
		sl_json_close(&r->json);
	ended = sl_text_memory_end(&r->memory, "the results", &text, &bytes);
	if (ended == SL_OK && !r->lines && s == SL_OK)
		fprintf(r->out, "%s\n", text);
	p.root = text;
	p.item = (struct item){0};
	for (const struct sl_line *l = r->lines; ended == SL_OK && l && l->path; l++)
		print_line(&p, l, r->out);
	free(text);
	return s == SL_OK ? ended : s;
}
