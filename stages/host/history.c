/* history.c - the models' rules, one step at a time, and a pair of eyes on their draws. */
#include "stages/host/history.h"

/* Whom this thread's draws are told; NULL: nobody. Rules take no such thing along. */
static _Thread_local const struct sl_history_observer *watching;

static inline struct sl_words watched_draw(uint64_t seed, uint64_t id, uint64_t block)
{
	struct sl_words words = sl_draw(seed, id, block);

	if (watching)
		watching->draw(watching->of, block, words);
	return words;
}

/* random.h is read above, so that what follows, the rules, draws by the function here. */
#define sl_draw watched_draw

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

/* The particle id one step after before, or, where there is none, as it starts. */
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
 * A step is a pure function of where it began. So it is taken twice, the second time to be asked
 * for its draws: they can be told after it, however many there are, and none has to be kept.
 */
struct sl_particle sl_follow_history(
	const struct sl_recipe *r, uint64_t id, const struct sl_history_observer *watcher)
{
	const struct sl_particle *before = NULL;
	struct sl_history_step taken = {0};
	struct sl_particle was;
	bool more;

	do {
		taken.p = next(r, id, before);
		taken.event = event_of(before, &taken.p);
		more = watcher->step(watcher->of, &taken);
		watching = watcher;
		next(r, id, before);
		watching = NULL;
		was = taken.p;
		before = &was;
		/* the loops take UINT32_MAX steps at most */
	} while (more && taken.p.fate == SL_FATE_alive && taken.number++ < UINT32_MAX);
	taken.p.fate = sl_final_fate(r, &taken.p);
	return taken.p;
}
