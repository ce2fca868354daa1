/* score.cuh - the steps of a particle in the slab, with its scores. */
#ifndef SL_STAGES_COUNTING_SCORE_CUH
#define SL_STAGES_COUNTING_SCORE_CUH

#include "stages/counting/grid.cuh"
#include "stages/models/slab_paths.h"
#include "stages/selection/slab_score.h"

/* The slab of a model with one, and a step in it. */
static __device__ __forceinline__ const struct sl_slab *sl_slab_of(const struct sl_slab *rules)
{
	return rules;
}

static __device__ __forceinline__ const struct sl_slab *sl_slab_of(
	const struct sl_slab_paths *rules)
{
	return &rules->slab;
}

static __device__ __forceinline__ void sl_scored_step(
	const struct sl_slab *rules, uint64_t seed, struct sl_particle *p, struct sl_slab_flight *f)
{
	sl_slab_step_flight(rules, seed, p, f);
}

static __device__ __forceinline__ void sl_scored_step(const struct sl_slab_paths *rules,
	uint64_t seed, struct sl_particle *p, struct sl_slab_flight *f)
{
	sl_slab_paths_step_flight(rules, seed, p, f);
}

/* The flight of a step from the particle before to the depth end_z. */
static __device__ __forceinline__ struct sl_scored_flight sl_scored_flight_of(
	const struct sl_slab *slab, const struct sl_particle *before, float length, float end_z)
{
	struct sl_scored_flight f;

	f.x = before->x;
	f.y = before->y;
	f.z = before->z;
	f.time = before->time;
	f.u = before->u;
	f.v = before->v;
	f.w = before->w;
	f.slowness = sl_slab_slowness(slab, before->z, before->w);
	f.length = length;
	f.end_z = end_z;
	f.weight = before->weight;
	return f;
}

/* Advances p by at most n steps, and adds each collision and, if some score is one of flights, each flight. */
template <bool flights, class Rules>
static __device__ __forceinline__ void sl_slab_advance_scored(const Rules *rules, uint64_t seed,
	struct sl_particle *p, uint32_t n, const struct sl_grid_set *grids, uint64_t *sum)
{
	const struct sl_slab *slab = sl_slab_of(rules);

	while (n-- > 0 && p->fate == SL_FATE_alive) {
		const struct sl_particle before = *p;
		struct sl_slab_flight flight;

		sl_scored_step(rules, seed, p, &flight);
		if (flight.collides) {
			float deposit, fluence;

			sl_slab_collision(slab, p, before.weight, &deposit, &fluence);
			sl_grids_score_one(grids, p, deposit, fluence, sum);
		}
		if (flights) {
			const struct sl_scored_flight f =
				sl_scored_flight_of(slab, &before, flight.length, p->z);

			sl_grids_score_flight(grids, &f, sum);
		}
	}
}

#endif
