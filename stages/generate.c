/* generate.c - stage generate on the host: each particle is computed from (seed, id). */
#define SL_SIMD_LANES SL_LEVEL_LANES
#include "stages/generate.h"

#include "stages/particle/lanes_columns.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum { CHECK_EVERY = 1 << 16 }; /* particles between two checks of cancel */

void SL_AT_LEVEL(sl_loop_generate)(enum sl_model_number model, const void *rules, uint64_t seed,
	struct sl_batch *b, uint32_t n, const struct sl_recipe *recipe)
{
	switch (model) {
#define MODEL(name)                                                                                \
	case SL_MODEL_##name:                                                                      \
		for (uint32_t i = 0; i < n; i += SL_SIMD_LANES) {                                  \
			sl_lanes p;                                                                \
                                                                                                   \
			if (i % CHECK_EVERY == 0 && recipe && sl_is_cancelled(recipe))             \
				return;                                                            \
			p = sl_##name##_generate((const struct sl_##name *)rules, SL_EVERY_COLUMN, \
				seed, sl_count_from(b->first_id + i));                             \
			sl_store_lanes(&b->columns, SL_STORED(SL_COLUMNS_##name), i, n - i, &p);   \
		}                                                                                  \
		break;
#define READ_MODEL(name)      \
	case SL_MODEL_##name: \
		break;
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
}
