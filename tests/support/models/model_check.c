/* model_check.c - see model_check.h. */
#include "tests/support/models/model_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/basic/check.h"

static bool given(void *ctx, const char *key)
{
	const struct model_check *m = (const struct model_check *)ctx;
	char word[64];

	snprintf(word, sizeof(word), " %s ", key);
	return strstr(m->given, word) != NULL;
}

SL_PRINTF(3, 4)
static void add_message(void *ctx, const char *key, const char *format, ...)
{
	struct model_check *m = (struct model_check *)ctx;
	size_t at = strlen(m->messages);
	va_list values;

	m->n++;
	at += (size_t)snprintf(m->messages + at, sizeof(m->messages) - at, "%s: ", key);
	va_start(values, format);
	at += (size_t)vsnprintf(m->messages + at, sizeof(m->messages) - at, format, values);
	va_end(values);
	snprintf(m->messages + at, sizeof(m->messages) - at, "\n");
}

void model_check_begin(struct model_check *m, const char *keys)
{
	memset(m, 0, sizeof(*m));
	m->given = keys;
	m->check = (struct sl_model_check){m, given, add_message};
}

void check_range(const struct sl_model *model, const void *rules, enum sl_column column, double lo,
	double hi)
{
	double low = 1, high = -1;

	assert_true(model->range(rules, column, &low, &high));
	assert_true(fabs(low - lo) < 1e-12 && fabs(high - hi) < 1e-12);
}
