/* advance.c - stage advance on the host: each active particle takes up to active_set.steps steps. */
#include "stages/advance.h"

#include "stages/batch/recipe.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

void SL_AT_LEVEL(sl_loop_advance)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	struct sl_active_set *l = &b->active_set;

	l->alive = from == 0 ? 0 : l->alive;
	switch (r->model) {
#define MODEL(name)                                                                                \
	case SL_MODEL_##name: {                                                                    \
		const struct sl_##name rules = *(const struct sl_##name *)(const void *)&r->rules; \
		const uint32_t set = SL_STORED(SL_COLUMNS_##name);                                 \
                                                                                                   \
		for (uint32_t i = from; i < to; i++) {                                             \
			struct sl_particle p;                                                      \
                                                                                                   \
			b->keep[i] = 0;                                                            \
			if (l->columns.fate[i] != SL_FATE_alive)                                   \
				continue;                                                          \
			p = sl_active_set_load(l, set, b->first_id, i);                            \
			sl_##name##_advance(&rules, SL_EVERY_COLUMN, r->seed, &p, l->steps);       \
			b->keep[i] = sl_active_set_store(l, set, &b->columns, i, &p);              \
			l->alive += b->keep[i];                                                    \
		}                                                                                  \
		break;                                                                             \
	}
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
}
