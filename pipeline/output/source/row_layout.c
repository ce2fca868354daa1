/* row_layout.c - see source.h. */
#include "pipeline/output/source/source.h"

#include <string.h>

void sl_row_layout_make(const struct sl_plan *plan, struct sl_row_layout *l)
{
	struct sl_table t = sl_plan_table(plan, 0);

	*l = (struct sl_row_layout){.n = 0};
	t = sl_format_table(plan->choices.format, &t);
	for (uint32_t k = 0; k < t.n_columns; k++) {
		uint32_t bytes = sl_facts_of(&t.column[k])->bytes;

		if (t.column[k].constant)
			continue;
		l->item[l->n++] = (struct sl_row_item){t.column[k].column, bytes, l->bytes};
		l->bytes += bytes;
	}
	l->bytes = l->bytes ? l->bytes : 1;
}

bool sl_row_columns_find(
	const struct sl_row_layout *l, const struct sl_table *t, struct sl_row_columns *c)
{
	for (uint32_t k = 0; k < l->n; k++) {
		const struct sl_table_column *found = sl_table_find(t, l->item[k].column);

		if (!found)
			return false;
		c->data[k] = (const uint8_t *)found->data;
		c->step[k] = found->constant ? 0 : l->item[k].bytes;
	}
	return true;
}

/* Copies a value. A constant number of bytes makes each case one load and one store. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (bytes == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else if (bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		*to = *from;
}

void sl_row_put(
	const struct sl_row_layout *l, const struct sl_row_columns *c, uint64_t i, uint8_t *to)
{
	for (uint32_t k = 0; k < l->n; k++)
		copy(to + l->item[k].at, c->data[k] + i * c->step[k], l->item[k].bytes);
}

void sl_row_get(const struct sl_row_layout *l, const uint8_t *rows, uint32_t first, uint32_t n,
	const struct sl_table *t)
{
	for (uint32_t k = 0; k < l->n; k++) {
		const struct sl_row_item *item = &l->item[k];
		uint8_t *to = (uint8_t *)sl_table_find(t, item->column)->data +
		              (size_t)first * item->bytes;
		const uint8_t *from = rows + item->at;

		for (uint32_t i = 0; i < n; i++, to += item->bytes, from += l->bytes)
			copy(to, from, item->bytes);
	}
}
