/*
 * generate.c - stage generate on the host: each particle is computed from (seed, id). Compiled for
 * each model and level.
 */
#define SL_SIMD_LANES SL_LEVEL_LANES
#include "stages/batch/loops.h"
#include "stages/models/rules.h"
#include "stages/particle/lanes_columns.h"

enum { CHECK_EVERY = 1 << 16 }; /* particles between two checks of cancel */

void SL_RULE_LOOP(generate)(const void *rules, uint64_t seed, struct sl_batch *b, uint32_t n,
	const struct sl_recipe *recipe)
{
#if SL_MODEL_FACT(READ)
	(void)rules, (void)seed, (void)b, (void)n, (void)recipe;
#else
	for (uint32_t i = 0; i < n; i += SL_SIMD_LANES) {
		sl_lanes p;

		if (i % CHECK_EVERY == 0 && recipe && sl_is_cancelled(recipe))
			return;
		p = SL_OF_MODEL(generate)((const sl_rules *)rules, SL_EVERY_COLUMN, seed,
			sl_count_from(b->first_id + i));
		sl_store_lanes(&b->columns, SL_STORED(SL_MODEL_FACT(COLUMNS)), i, n - i, &p);
	}
#endif
}
