/* mcpl_strings.c - see mcpl_strings.h. */
#include "stages/formats/mcpl/mcpl_strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = SL_MCPL_VALUE_BYTES };

struct sl_mcpl_string sl_mcpl_next_string(const uint8_t **at)
{
	struct sl_mcpl_string s;

	memcpy(&s.length, *at, sizeof(s.length));
	s.at = *at + sizeof(s.length);
	*at = s.at + s.length;
	return s;
}

bool sl_mcpl_is_sum(const struct sl_mcpl_string *s, size_t *value_at, double *value)
{
	static const char begin[] = "stat:sum:", digits[] = " 0123456789.-+eE";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	enum { BEGIN = sizeof(begin) - 1, KEY_MOST = 64 };
	char text[BEGIN + KEY_MOST + 1 + VALUE_BYTES + 1], *end;
	size_t key;

	if (s->length >= sizeof(text))
		return false;
	memcpy(text, s->at, s->length);
	text[s->length] = '\0';
	if (strlen(text) != s->length || strncmp(text, begin, BEGIN) != 0)
		return false;
	key = strspn(text + BEGIN, letters);
	*value_at = BEGIN + key + 1;
	if (key == 0 || text[BEGIN + key] != ':' || s->length - *value_at != VALUE_BYTES ||
		strspn(text + *value_at, digits) != VALUE_BYTES)
		return false;
	*value = strtod(text + *value_at, &end);
	return end[strspn(end, " ")] == '\0' && end > text + *value_at && isfinite(*value) &&
	       (*value >= 0 || *value == -1);
}

void sl_mcpl_print_value(double value, char text[VALUE_BYTES + 1])
{
	snprintf(text, VALUE_BYTES + 1, "%*.15g", VALUE_BYTES, value);
	if (strtod(text, NULL) != value)
		snprintf(text, VALUE_BYTES + 1, "%*.17g", VALUE_BYTES, value);
}

bool sl_mcpl_is_same(const struct sl_mcpl_string *a, const struct sl_mcpl_string *b)
{
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}
