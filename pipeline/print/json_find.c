/* json_find.c - see json_find.h. */
#include "pipeline/print/json_find.h"

#include <math.h>
#include <string.h>

#include "pipeline/text/text.h"

bool sl_json_is_container(const char *value)
{
	return value && (*value == '[' || *value == '{');
}

const char *sl_json_end_of(const char *at)
{
	int depth = 0;

	do {
		if (*at == '"')
			for (at++; *at && *at != '"'; at++)
				at += *at == '\\' && at[1];
		else if (sl_json_is_container(at))
			depth++;
		else if (*at == ']' || *at == '}')
			depth--;
		else if (*at)
			at += strcspn(at + 1, ",:]}\"[{");
		at += *at != '\0';
	} while (depth > 0 && *at);
	return at;
}

bool sl_json_next(struct sl_json_item *i)
{
	const char *at = i->value ? sl_json_end_of(i->value) : i->in + 1;

	at += *at == ',';
	if (*at == ']' || *at == '}' || (*i->in == '{' && *sl_json_end_of(at) != ':') || !*at)
		return false;
	i->key = *i->in == '{' ? at : NULL;
	i->value = i->key ? sl_json_end_of(at) + 1 : at;
	i->number++;
	return true;
}

const char *sl_json_find(const char *in, const char *path, size_t n)
{
	while (n > 0 && in && *in == '{') {
		size_t bytes = strcspn(path, ".");
		struct sl_json_item i = {.in = in};

		bytes = bytes < n ? bytes : n;
		in = NULL;
		while (!in && sl_json_next(&i))
			if (*i.key == '"' && strncmp(i.key + 1, path, bytes) == 0 &&
				i.key[bytes + 1] == '"')
				in = i.value;
		path += bytes + (bytes < n);
		n -= bytes + (bytes < n);
	}
	return n == 0 ? in : NULL;
}

bool sl_json_is_missing(const char *value)
{
	return !value || *value == 'n' || strncmp(value, "\"\"", 2) == 0 ||
	       (sl_json_is_container(value) && (value[1] == ']' || value[1] == '}'));
}

double sl_json_number_of(const char *value)
{
	struct sl_decimal decimal;
	double number;

	if (!value || !sl_decimal_scan(value, &decimal))
		return (double)NAN;
	return decimal.n_digits == 0                        ? 0
	       : sl_decimal_to_double(&decimal, 0, &number) ? number
	                                                    : (double)NAN;
}

bool sl_json_is_void(const char *value)
{
	return sl_json_is_missing(value) || *value == 'f' ||
	       (strchr("-0123456789", *value) && sl_json_number_of(value) == 0);
}
