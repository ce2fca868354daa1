/* model_check.c - see model_check.h. */
#include "tests/support/models/model_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/basic/check.h"

static bool given(void *of, const char *key)
{
	const struct model_check *m = (const struct model_check *)of;
	char word[64];

	snprintf(word, sizeof(word), " %s ", key);
	return strstr(m->given, word) != NULL;
}

SL_PRINTF(3, 4)
static void complain(void *of, const char *key, const char *format, ...)
{
	struct model_check *m = (struct model_check *)of;
	size_t at = strlen(m->said);
	va_list values;

	m->n++;
	at += (size_t)snprintf(m->said + at, sizeof(m->said) - at, "%s: ", key);
	va_start(values, format);
	at += (size_t)vsnprintf(m->said + at, sizeof(m->said) - at, format, values);
	va_end(values);
	snprintf(m->said + at, sizeof(m->said) - at, "\n");
}

void model_check_begin(struct model_check *m, const char *keys)
{
	memset(m, 0, sizeof(*m));
	m->given = keys;
	m->check = (struct sl_model_check){m, given, complain};
}

void check_range(const struct sl_model *model, const void *rules, enum sl_column column, double lo,
	double hi)
{
	double low = 1, high = -1;

	assert_true(model->range(rules, column, &low, &high));
	assert_true(fabs(low - lo) < 1e-12 && fabs(high - hi) < 1e-12);
}
