/* history.c - runs the rules of a model one step at a time, and reports each step and its random words. */
#include "stages/host/host.h"

/* The name of the event between two states, as listed in struct sl_history_step. */
static const char *event_of(const struct sl_particle *before, const struct sl_particle *p)
{
	if (!before)
		return "start";
	if (p->fate != SL_FATE_alive)
		return sl_fate_facts[p->fate].name;
	if (p->collisions > before->collisions)
		return "collision";
	if (p->u != before->u || p->v != before->v || p->w != before->w)
		return "surface";
	return "flight";
}

/*
 * A step is a pure function of the state before it, so it is computed twice, the second time to
 * report its draws. They can thus be reported after the step without storing them, however many
 * there are.
 */
struct sl_particle sl_follow_history(
	const struct sl_recipe *r, uint64_t id, const struct sl_history_observer *observer)
{
	sl_one_step *const next = r->model->one_step;
	const struct sl_particle *before = NULL;
	struct sl_history_step taken = {0};
	struct sl_particle previous;
	bool more;

	do {
		taken.p = next(&r->rules, r->seed, id, before, NULL, NULL);
		taken.event = event_of(before, &taken.p);
		more = observer->step(observer->ctx, &taken);
		next(&r->rules, r->seed, id, before, observer->draw, observer->ctx);
		previous = taken.p;
		before = &previous;
		/* the loops of the host also take at most UINT32_MAX steps */
	} while (more && taken.p.fate == SL_FATE_alive && taken.number++ < UINT32_MAX);
	sl_end_particle(r, &taken.p);
	return taken.p;
}
