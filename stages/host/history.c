/*
 * history.c - runs the rules of a model one step at a time, and reports each step and its random
 * words.
 *
 * The rules are compiled once more in this file, with sl_draw() replaced by a function that reports
 * to the observer.
 */
#include "stages/host/history.h"

/*
 * The observer of this thread's draws, or NULL. Thread-local, because rules have no such argument.
 */
static _Thread_local const struct sl_history_observer *observed;

static inline struct sl_words observed_draw(uint64_t seed, uint64_t id, uint64_t block)
{
	struct sl_words words = sl_draw(seed, id, block);

	if (observed)
		observed->draw(observed->ctx, block, words);
	return words;
}

/* random.h is included above, so this affects only the rules included below. */
#define sl_draw observed_draw

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

/* Particle id one step after the state before, or, if before is NULL, at its start. */
static struct sl_particle next(
	const struct sl_recipe *r, uint64_t id, const struct sl_particle *before)
{
	struct sl_particle p = {0};

	switch (r->model) {
#define MODEL(name)                                                                                \
	case SL_MODEL_##name: {                                                                    \
		const struct sl_##name *rules = (const struct sl_##name *)(const void *)&r->rules; \
		if (!before)                                                                       \
			return sl_##name##_generate(rules, SL_EVERY_COLUMN, r->seed, id);          \
		p = *before;                                                                       \
		sl_##name##_advance(rules, SL_EVERY_COLUMN, r->seed, &p, 1);                       \
		break;                                                                             \
	}
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return p;
}

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
	const struct sl_particle *before = NULL;
	struct sl_history_step taken = {0};
	struct sl_particle previous;
	bool more;

	do {
		taken.p = next(r, id, before);
		taken.event = event_of(before, &taken.p);
		more = observer->step(observer->ctx, &taken);
		observed = observer;
		next(r, id, before);
		observed = NULL;
		previous = taken.p;
		before = &previous;
		/* the loops of the host also take at most UINT32_MAX steps */
	} while (more && taken.p.fate == SL_FATE_alive && taken.number++ < UINT32_MAX);
	sl_end_particle(r, &taken.p);
	return taken.p;
}
