/*
 * grid.cuh - adds one particle to the tallies, by atomic additions in global memory, and the pieces
 * and crossings of flights, to the counters of the batch or of a block (collision_score.cuh).
 *
 * Additions of many threads to the same word are done one after another. Where the particles of a
 * run come close together, most of them add to few cells. A small grid therefore has several copies
 * of its counters, which the blocks of threads use in turn, and which are added up after the last
 * particle.
 */
#ifndef SL_STAGES_COUNTING_GRID_CUH
#define SL_STAGES_COUNTING_GRID_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/selection/flight_score.h"

/* The copy of the counters that the calling block uses. */
static __device__ __forceinline__ uint64_t *sl_grids_copy(
	const struct sl_grid_set *grids, uint64_t *sums)
{
	return sums + (blockIdx.x & (grids->copies - 1)) * sl_grid_words(grids);
}

/*
 * Adds particle i to each tally of a score, a constant, that blocks do not count: of ends, or of the
 * steps of a filter, which have no weights. fate must be less than SL_FATE_COUNT.
 */
static __device__ __forceinline__ void sl_grids_count_one(const struct sl_grid_set *grids,
	enum sl_score score, const struct sl_columns *c, uint64_t i, uint8_t fate, float weight,
	float weight_scale, float square_scale, uint64_t *sum)
{
	for (uint32_t number = 0; number < grids->n; number++) {
		const struct sl_grid_rule *g = &grids->grid[number];
		uint32_t at = g->first[fate];
		uint64_t *to;

		if (g->in_block || g->score != score || at == SL_NO_GRID_COUNTER)
			continue;
		to = sum + g->words + at + sl_grid_cell(g, grids->edge, c, i);
		atomicAdd(to, (uint64_t)1);
		if (!grids->weighted || score != SL_SCORE_ENDS)
			continue;
		atomicAdd(to + g->stride, sl_fixed_weight(weight * weight_scale));
		atomicAdd(to + 2 * (uint64_t)g->stride, sl_fixed_square(weight * square_scale));
	}
}

/* Adds a flight to each score of crossings. */
template <class Counters>
static __device__ __forceinline__ void sl_grids_score_crossings(
	const struct sl_grid_set *grids, const struct sl_scored_flight *f, const Counters &counters)
{
	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		struct sl_particle p = {};

		if (g->score == SL_SCORE_CROSSING && sl_flight_crosses(g, f, &p)) {
			const struct sl_columns columns = sl_columns_of(&p);

			counters.add_pieces(g->base + sl_grid_cell(g, grids->edge, &columns, 0), 1,
				sl_fixed_weight(f->weight));
		}
	}
}

/* A flight that is added, piece by piece, to one score of paths after the other. */
struct sl_track_work {
	struct sl_scored_flight flight;
	struct sl_track track;
	uint32_t grid; /* the number of the score */
	bool has_piece;

	/* Begins with the first score of paths from number k on. */
	__device__ __forceinline__ void begin_score(const struct sl_grid_set *grids, uint32_t k)
	{
		while (k < grids->n && grids->grid[k].score != SL_SCORE_TRACK)
			k++;
		grid = k;
		has_piece = k < grids->n;
		if (has_piece)
			track = sl_track_begin(&grids->grid[k], grids->edge, &flight);
	}

	/* Adds the crossings of the flight, and begins with its pieces. */
	template <class Collisions, class Counters>
	__device__ __forceinline__ void begin(
		const Collisions &, const struct sl_grid_set *grids, const Counters &counters)
	{
		sl_grids_score_crossings(grids, &flight, counters);
		begin_score(grids, 0);
	}

	/* Adds the next piece. */
	template <class Collisions, class Counters>
	__device__ __forceinline__ void add_piece(
		const Collisions &, const struct sl_grid_set *grids, const Counters &counters)
	{
		const struct sl_grid_rule *g = &grids->grid[grid];

		if (sl_track_next(g, grids->edge, &flight, &track)) {
			uint64_t count, fixed = sl_track_fixed(g->score_scale, flight.weight,
						track.length, &count);

			counters.add_pieces(g->base + track.cell, count, fixed);
		}
		if (track.ended)
			begin_score(grids, grid + 1);
	}
};

#endif
