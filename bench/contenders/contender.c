/* contender.c - memory and times that all contenders need. */
#include "bench/contenders/contender.h"

#include <string.h>

double sl_ms_between(sl_event from, sl_event to, enum sl_status *s)
{
	float ms = 0;

	if (*s == SL_OK)
		*s = sl_event_ms(from, to, &ms);
	return (double)ms;
}

void sl_batch_result_of(const struct sl_batch *b, struct sl_batch_result *r)
{
	memset(r, 0, sizeof(*r));
	r->n_survivors = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		r->digest[b->table.column[k].column] = b->table.column[k].digest;
}

enum sl_status sl_contender_allocate(struct sl_contender *c, sl_contender_lay_out *lay_out)
{
	struct sl_arena device = {0}, pinned = {0};

	lay_out(c, &device, &pinned);
	c->device.size = device.used;
	c->pinned.size = pinned.used;
	SL_TRY(sl_memory_get(SL_DEVICE, device.used, &c->device.base));
	SL_TRY(sl_memory_get(SL_PINNED, pinned.used, &c->pinned.base));
	device = c->device;
	pinned = c->pinned;
	lay_out(c, &device, &pinned);
	return SL_OK;
}

enum sl_status sl_contender_open(const struct sl_contender_type *type,
	const struct sl_recipe *recipe, struct sl_contender *c)
{
	memset(c, 0, sizeof(*c));
	c->type = type;
	c->recipe = recipe;
	SL_TRY(sl_event_make(&c->from));
	return sl_add_context(type->open(c), "%s", type->name);
}

void sl_contender_close(struct sl_contender *c)
{
	c->type->close(c);
	sl_event_free(c->from);
	sl_memory_give(SL_DEVICE, c->device.base);
	sl_memory_give(SL_PINNED, c->pinned.base);
	memset(c, 0, sizeof(*c));
}
