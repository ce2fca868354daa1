/* score.cuh - the steps of a particle in the slab, with its scores. */
#ifndef SL_STAGES_COUNTING_SCORE_CUH
#define SL_STAGES_COUNTING_SCORE_CUH

#include "stages/counting/grid.cuh"
#include "stages/selection/slab_score.h"

/* Advances p by at most n steps, and adds each collision to the scores. */
static __device__ __forceinline__ void sl_slab_advance_scored(const struct sl_slab *rules,
	uint64_t seed, struct sl_particle *p, uint32_t n, const struct sl_grid_set *grids,
	uint64_t *sum)
{
	while (n-- > 0 && p->fate == SL_FATE_alive) {
		uint32_t collisions = p->collisions;
		float weight = p->weight;

		sl_slab_step(rules, SL_EVERY_COLUMN, seed, p);
		if (p->collisions != collisions) {
			float deposit, fluence;

			sl_slab_collision(rules, sl_slab_layer_of(rules, p->z), weight, p->fate,
				&deposit, &fluence);
			sl_grids_score_one(grids, p, deposit, fluence, sum);
		}
	}
}

#endif
