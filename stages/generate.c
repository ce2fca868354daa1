/* generate.c - stage generate on the host: each particle is computed from (seed, id). */
#include "stages/generate.h"

#include "stages/batch/recipe.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

void SL_AT_LEVEL(sl_loop_generate)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	switch (r->model) {
#define MODEL(name)                                                                                \
	case SL_MODEL_##name: {                                                                    \
		const struct sl_##name *rules = (const struct sl_##name *)(const void *)&r->rules; \
		for (uint32_t i = from; i < to; i++) {                                             \
			struct sl_particle p = sl_##name##_generate(                               \
				rules, SL_EVERY_COLUMN, r->seed, b->first_id + i);                 \
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
