/*
 * grid.cuh - adds one particle to the grids, by atomic additions in global memory.
 *
 * Additions of many threads to the same word are done one after another. Where the particles of a run
 * come close together, most of them add to few cells. A small grid therefore has several copies of its
 * counters, which the blocks of threads use in turn, and which are added up after the last particle.
 */
#ifndef SL_STAGES_COUNTING_GRID_CUH
#define SL_STAGES_COUNTING_GRID_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/selection/flight_score.h"

/* The copy of the counters that the calling block uses. sums: grids->copies times sl_grid_words(grids) words. */
static __device__ __forceinline__ uint64_t *sl_grids_copy(
	const struct sl_grid_set *grids, uint64_t *sums)
{
	return sums + (blockIdx.x & (grids->copies - 1)) * sl_grid_words(grids);
}

/* Adds particle i to each grid. fate must be less than SL_FATE_COUNT. */
static __device__ __forceinline__ void sl_grids_count_one(const struct sl_grid_set *grids,
	const struct sl_columns *c, uint64_t i, uint8_t fate, float weight, float weight_scale,
	uint64_t *sum)
{
	float square = weight * grids->square_scale;

	for (uint32_t g = 0; g < grids->n; g++) {
		uint32_t at = sl_grid_find(&grids->grid[g], grids->edge, c, i, fate);

		if (at == SL_NO_GRID_COUNTER || grids->grid[g].score != SL_SCORE_ENDS)
			continue;
		atomicAdd(&sum[at], (uint64_t)1);
		if (!grids->weighted)
			continue;
		atomicAdd(&sum[grids->n_counters + at], sl_fixed_weight(weight * weight_scale));
		atomicAdd(&sum[2 * (uint64_t)grids->n_counters + at],
			sl_fixed_weight(square * square));
	}
}

/* Adds the pieces of a flight to a score of paths. */
static __device__ __forceinline__ void sl_grids_score_track(const struct sl_grid_set *grids,
	const struct sl_grid_rule *g, const struct sl_scored_flight *f, uint64_t *sum)
{
	struct sl_track t = sl_track_begin(g, grids->edge, f);

	while (sl_track_next(g, grids->edge, f, &t)) {
		uint64_t count, fixed = sl_track_fixed(g, f->weight, t.length, &count);

		atomicAdd(&sum[g->base + t.cell], count);
		atomicAdd(&sum[grids->n_counters + g->base + t.cell], fixed);
	}
}

/* Adds a flight to each score of flights. */
static __device__ __forceinline__ void sl_grids_score_flight(
	const struct sl_grid_set *grids, const struct sl_scored_flight *f, uint64_t *sum)
{
	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		struct sl_particle p = {};

		if (g->score == SL_SCORE_TRACK) {
			sl_grids_score_track(grids, g, f, sum);
		} else if (g->score == SL_SCORE_CROSSING && sl_flight_crosses(g, f, &p)) {
			const struct sl_columns columns = sl_columns_of(&p);
			uint32_t at = g->base + sl_grid_cell(g, grids->edge, &columns, 0);

			atomicAdd(&sum[at], (uint64_t)1);
			atomicAdd(&sum[grids->n_counters + at], sl_fixed_weight(f->weight));
		}
	}
}

#endif
