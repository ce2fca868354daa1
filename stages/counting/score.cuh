/* score.cuh - the steps of a particle in the slab, with its scores. */
#ifndef SL_STAGES_COUNTING_SCORE_CUH
#define SL_STAGES_COUNTING_SCORE_CUH

#include "stages/counting/collision_score.cuh"
#include "stages/counting/grid.cuh"
#include "stages/models/slab_paths.h"
#include "stages/selection/slab_score.h"

/* The slab of a model with one, and a step in it. */
SL_HD const struct sl_slab *sl_slab_of(const struct sl_slab *rules)
{
	return rules;
}

SL_HD const struct sl_slab *sl_slab_of(const struct sl_slab_paths *rules)
{
	return &rules->slab;
}

/* A step of p, which is in layer i. Returns the layer where it is then. most as for SL_SLAB_LAYER(). */
static __device__ __forceinline__ uint32_t sl_scored_step(const struct sl_slab *rules,
	uint32_t most, uint32_t i, uint64_t seed, struct sl_particle *p, struct sl_slab_flight *f)
{
	return sl_slab_step_in(rules, most, i, seed, p, f);
}

static __device__ __forceinline__ uint32_t sl_scored_step(const struct sl_slab_paths *rules,
	uint32_t most, uint32_t i, uint64_t seed, struct sl_particle *p, struct sl_slab_flight *f)
{
	return sl_slab_paths_step_in(&rules->slab, most, i, seed, p, f);
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

/* The scores of a batch as a kernel has them. */
struct sl_scores {
	const struct sl_collision_scores &collisions;
	const struct sl_grid_set *grids; /* device memory */
};

/*
 * Advances p, which is in layer i, by at most n steps, and adds each collision. All lanes of a warp call it, also with
 * a p that is not alive, and take their steps at the same time: without the votes the compiler let lanes run ahead,
 * and the warp ran their steps one after another.
 */
template <bool even, class Rules, class Counters>
static __device__ __forceinline__ void sl_slab_score_collisions(const Rules *rules, uint32_t most,
	uint32_t i, uint64_t seed, struct sl_particle *p, uint32_t n,
	const struct sl_scores &scores, const Counters &counters)
{
	for (; n > 0 && __any_sync(SL_LANES, p->fate == SL_FATE_alive); n--) {
		const float weight = p->weight;
		struct sl_slab_flight flight = {};
		uint32_t next = i;
		float deposit, fluence;

		if (p->fate == SL_FATE_alive)
			next = sl_scored_step(rules, most, i, seed, p, &flight);
		__syncwarp();
		sl_slab_collision_in(sl_slab_of(rules), most, i, p, weight, &deposit, &fluence);
		sl_score_collision<even>(scores.collisions, scores.grids->edge, flight.collides, p,
			deposit, fluence, counters);
		__syncwarp();
		i = next;
	}
}

/* The same for one lane, and adds each flight too. */
template <class Rules>
static __device__ __forceinline__ void sl_slab_score_flights(const Rules *rules, uint32_t most,
	uint32_t i, uint64_t seed, struct sl_particle *p, uint32_t n,
	const struct sl_scores &scores, const struct sl_batch_scores &counters)
{
	while (n-- > 0 && p->fate == SL_FATE_alive) {
		const struct sl_particle before = *p;
		struct sl_slab_flight flight;
		const uint32_t next = sl_scored_step(rules, most, i, seed, p, &flight);
		const struct sl_scored_flight f =
			sl_scored_flight_of(sl_slab_of(rules), &before, flight.length, p->z);
		float deposit, fluence;

		sl_slab_collision_in(
			sl_slab_of(rules), most, i, p, before.weight, &deposit, &fluence);
		sl_score_collision<false>(scores.collisions, scores.grids->edge, flight.collides, p,
			deposit, fluence, counters);
		sl_grids_score_flight(scores.grids, &f, counters.count);
		i = next;
	}
}

#endif
