/* advance.c - every particle moves until its fate is decided. */
#include "stages/recipe.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

SL_LOOP(advance)
{
	switch (r->model) {
#define MODEL(name)                                                                                \
	case SL_MODEL_##name: {                                                                    \
		const struct sl_##name rules = *(const struct sl_##name *)(const void *)&r->rules; \
		for (uint32_t i = from; i < to; i++) {                                             \
			struct sl_particle p =                                                     \
				sl_load(&b->columns, SL_STORED(SL_COLUMNS_##name), i);             \
			p.id = b->first_id + i;                                                    \
			sl_##name##_advance(&rules, SL_EVERY_COLUMN, r->seed, &p, UINT32_MAX);     \
			sl_store(&b->columns, SL_STORED(SL_COLUMNS_##name), i, &p);                \
		}                                                                                  \
		break;                                                                             \
	}
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
}
