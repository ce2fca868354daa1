/*
 * json.c - writes JSON values one after another.
 *
 * Each value writes its own comma, newline and indentation first (begin()), so that the writer
 * needs no look-ahead: only the depth and whether the open object or array has a member.
 */
#include "pipeline/text/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends bytes to the stream or to the buffer; counts those that do not fit in the buffer. */
static void put(struct sl_json *j, const char *bytes, size_t n)
{
	if (j->out) {
		fwrite(bytes, 1, n, j->out);
		return;
	}
	for (size_t i = 0; i < n; i++, j->used++) {
		if (j->used + 1 < j->size) {
			j->text[j->used] = bytes[i];
			j->text[j->used + 1] = '\0';
		}
	}
}

/* Appends a string. */
static void put_text(struct sl_json *j, const char *text)
{
	put(j, text, strlen(text));
}

/* Starts a new line with the indentation of the depth, when indented. */
static void put_line(struct sl_json *j)
{
	if (!j->indented)
		return;
	put_text(j, "\n");
	for (unsigned i = 0; i < j->depth; i++)
		put_text(j, "\t");
}

/* Must the code point be escaped? JSON requires it below 20 hex, YAML for the others. */
static bool is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0xfeff ||
	       point == 0xfffe || point == 0xffff;
}

/* Appends a quoted string. Every byte that is not part of valid UTF-8 becomes U+FFFD. */
static void put_string(struct sl_json *j, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	put_text(j, "\"");
	while (*at) {
		char escape[8];
		uint32_t point;
		size_t n = sl_utf8_decode(at, &point);

		if (*at == '\n' || *at == '\t') {
			put_text(j, *at == '\n' ? "\\n" : "\\t");
		} else if (!j->raw && (n == 0 || is_control(point))) {
			snprintf(escape, sizeof(escape), "\\u%04x", n ? point & 0xffff : 0xfffd);
			put_text(j, escape);
		} else {
			if (*at == '"' || *at == '\\')
				put_text(j, "\\");
			put(j, (const char *)at, n ? n : 1);
		}
		at += n ? n : 1;
	}
	put_text(j, "\"");
}

/* Writes what precedes a value: comma, newline, indentation and key. */
static void begin(struct sl_json *j, const char *key)
{
	if (j->filled)
		put_text(j, ",");
	if (j->depth)
		put_line(j);
	if (key) {
		put_string(j, key);
		put_text(j, j->indented ? ": " : ":");
	}
	j->filled = true;
}

void sl_json_formatted(struct sl_json *j, const char *key, const char *text)
{
	begin(j, key);
	put_text(j, text);
}

/* Opens an object or an array and remembers its closing bracket. */
static void open_value(struct sl_json *j, const char *key, char first, char last)
{
	assert(j->depth < SL_JSON_DEPTH);
	begin(j, key);
	put(j, &first, 1);
	j->close[j->depth++] = last;
	j->filled = false;
}

/* The text is a valid C string at any time, also when it is cut. */
struct sl_json sl_json_start(char *text, size_t size, bool indented)
{
	struct sl_json j = {.text = text, .size = size, .indented = indented};

	if (size)
		text[0] = '\0';
	return j;
}

struct sl_json sl_json_stream(FILE *out)
{
	return (struct sl_json){.out = out, .indented = true};
}

void sl_json_object(struct sl_json *j, const char *key)
{
	open_value(j, key, '{', '}');
}

void sl_json_array(struct sl_json *j, const char *key)
{
	open_value(j, key, '[', ']');
}

void sl_json_close(struct sl_json *j)
{
	assert(j->depth > 0);
	j->depth--;
	if (j->filled)
		put_line(j);
	put(j, &j->close[j->depth], 1);
	j->filled = true;
}

void sl_json_text(struct sl_json *j, const char *key, const char *value)
{
	begin(j, key);
	put_string(j, value);
}

void sl_json_u64(struct sl_json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", value);
	sl_json_formatted(j, key, text);
}

void sl_json_bool(struct sl_json *j, const char *key, bool value)
{
	sl_json_formatted(j, key, value ? "true" : "false");
}

/*
 * JSON has neither NaN nor infinity. null is what most readers turn back into a missing value; the
 * text "NaN" would make the whole document invalid.
 */
void sl_json_real(struct sl_json *j, const char *key, double value)
{
	const char *text = isfinite(value) ? sl_double_text(value) : "null";

	/* many readers take -0 for the integer 0 */
	sl_json_formatted(j, key, value == 0 && signbit(value) ? "-0.0" : text);
}

void sl_json_u64s(struct sl_json *j, const char *key, const uint64_t *values, size_t n)
{
	bool indented = j->indented;

	sl_json_array(j, key);
	j->indented = false; /* the items are in one line */
	for (size_t i = 0; i < n; i++)
		sl_json_u64(j, NULL, values[i]);
	sl_json_close(j);
	j->indented = indented;
}

void sl_json_reals(struct sl_json *j, const char *key, const double *values, size_t n)
{
	bool indented = j->indented;

	sl_json_array(j, key);
	j->indented = false; /* the items are in one line */
	for (size_t i = 0; i < n; i++)
		sl_json_real(j, NULL, values[i]);
	sl_json_close(j);
	j->indented = indented;
}

/* The next argument as the directive of an integer says. */
static uint64_t integer_of(const char *value, va_list *args)
{
	assert(strchr("dul8", value[1]));
	return value[1] == 'l' ? va_arg(*args, unsigned long) : va_arg(*args, unsigned);
}

/* Writes a value: a bracket, or a directive of printf with the next argument. */
static void add_value(
	struct sl_json *j, const char *key, const char *value, bool sparse, va_list *args)
{
	const char *text = value[1] == 's' ? va_arg(*args, const char *) : NULL;
	const double real = value[1] == 'g' ? va_arg(*args, double) : 0;
	const uint64_t n = *value == '%' && !strchr("sg", value[1]) ? integer_of(value, args) : 0;

	if (*value == '{')
		sl_json_object(j, key);
	else if (*value == '[')
		sl_json_array(j, key);
	else if (sparse && (!text || !*text) && real == 0 && n == 0)
		return;
	else if (value[1] == 's')
		sl_json_text(j, key, text);
	else if (value[1] == 'g')
		sl_json_real(j, key, real);
	else if (value[1] == 'd')
		sl_json_bool(j, key, n != 0);
	else if (value[1] == '8')
		sl_json_hex(j, key, n, 8);
	else
		sl_json_u64(j, key, n);
}

void sl_json_add(struct sl_json *j, const char *format, ...)
{
	char key[64];
	va_list args;

	va_start(args, format);
	for (size_t n; *format; format += n + (format[n] == ' ')) {
		n = strcspn(format, " ");
		if (*format == '}' || *format == ']') {
			sl_json_close(j);
		} else if (*format == '{') {
			sl_json_object(j, NULL);
		} else {
			const bool sparse = n > 0 && format[n - 1] == '?';

			snprintf(key, sizeof(key), "%.*s", (int)(n - sparse), format);
			format += n + 1;
			n = strcspn(format, " ");
			add_value(j, strcmp(key, "%s") ? key : va_arg(args, const char *), format,
				sparse, &args);
		}
	}
	va_end(args);
}

void sl_json_hex(struct sl_json *j, const char *key, uint64_t value, int digits)
{
	char text[24];

	snprintf(text, sizeof(text), "\"%0*" PRIx64 "\"", digits, value);
	sl_json_formatted(j, key, text);
}
