/* number_list.c - parses the lists of numbers of the command line. */
#include "bench/measure/number_list.h"

#include <stdlib.h>
#include <string.h>

bool sl_number_list_add(struct sl_number_list *list, uint64_t value)
{
	if (list->n == SL_NUMBER_LIST_MAX || value > UINT32_MAX)
		return false;
	list->at[list->n++] = (uint32_t)value;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool sl_number_read(const char *text, const char **end, uint64_t *value)
{
	char *after;

	if (!is_digit(*text))
		return false;
	*value = strtoull(text, &after, 10);
	if (*after == '^' && *value == 2 && is_digit(after[1])) {
		unsigned long power = strtoul(after + 1, &after, 10);

		if (power > 31)
			return false;
		*value = UINT64_C(1) << power;
		if (*after == '-' && is_digit(after[1])) {
			unsigned long less = strtoul(after + 1, &after, 10);

			if (less >= *value)
				return false;
			*value -= less;
		}
	}
	*end = after;
	return *value <= UINT32_MAX;
}

bool sl_number_list_read(const char *text, struct sl_number_list *list)
{
	uint64_t from, to;
	const char *end;

	if (!sl_number_read(text, &end, &from))
		return false;
	if (strncmp(end, "..", 2) != 0)
		return *end == '\0' && sl_number_list_add(list, from);
	if (!sl_number_read(end + 2, &end, &to) || *end != '\0' || from == 0 || from > to)
		return false;
	for (; from <= to; from *= 2)
		if (!sl_number_list_add(list, from))
			return false;
	return true;
}
