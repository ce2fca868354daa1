/*
 * even_track.cuh - adds the pieces of flights to the only score of a run, if it is one of paths whose
 * axes are x, y, z or time in bins of equal width, such as [fluence_track, voxel].
 *
 * The pieces, and their bits, are those of flight_score.h. The rule is a parameter of the kernel,
 * and the axes are in registers, so that a piece takes about half of the instructions.
 */
#ifndef SL_STAGES_COUNTING_EVEN_TRACK_CUH
#define SL_STAGES_COUNTING_EVEN_TRACK_CUH

#include "stages/counting/collision_score.cuh"
#include "stages/selection/flight_score.h"

enum { SL_EVEN_TRACK_AXES = 3 };

struct sl_even_track {
	uint32_t n_counters; /* as of sl_collision_scores */
	float score_scale;
	struct sl_even_score score;
};

/*
 * Returns false if the scores are others. Axes that the score does not have are 0: no flight moves
 * on them.
 */
static inline bool sl_even_track_of(const struct sl_grid_set *grids, struct sl_even_track *track)
{
	const struct sl_grid_rule *g = NULL;

	*track = {};
	for (uint32_t k = 0; k < grids->n; k++) {
		if (grids->grid[k].score == SL_SCORE_ENDS)
			continue;
		if (g || grids->grid[k].score != SL_SCORE_TRACK)
			return false;
		g = &grids->grid[k];
	}
	if (!g || g->n_axes > SL_EVEN_TRACK_AXES || !sl_even_score_of(g, &track->score))
		return false;
	track->n_counters = grids->part[1].counters;
	track->score_scale = g->score_scale;
	for (uint32_t k = 0; k < g->n_axes; k++)
		if (track->score.axis[k].r)
			return false;
	return true;
}

/* A flight on one axis: its place is start + rate s after a path s. */
struct sl_even_flight {
	float start, rate;
	uint32_t bin; /* UINT32_MAX: below; the number of bins: above */
	float exit;   /* where the flight leaves the bin */

	/* As sl_track_find_plane(). */
	__device__ __forceinline__ void find_exit(const struct sl_even_axis *a)
	{
		const uint32_t k = rate > 0 ? bin + 1 : bin;
		const float edge = k == a->last + 1 ? a->hi : fmaf((float)k, a->width, a->lo);
		const bool leaves = rate > 0 ? bin + 1 <= a->last + 1 : rate < 0 && bin + 1 > 0;

		exit = leaves ? (edge - start) / rate : SL_TRACK_NEVER;
	}

	__device__ __forceinline__ void begin(const struct sl_even_axis *a, float at, float per_cm)
	{
		const uint32_t k = __float2uint_rz((at - a->lo) * a->scale);

		start = at;
		rate = per_cm;
		bin = k < a->last ? k : a->last;
		bin = at > a->hi ? a->last + 1 : bin;
		bin = at >= a->lo ? bin : UINT32_MAX;
		find_exit(a);
	}
};

/* A flight whose pieces are added one after the other. */
struct sl_even_track_work {
	struct sl_scored_flight flight;
	struct sl_even_flight axis[SL_EVEN_TRACK_AXES];
	float at; /* distance from the beginning */
	bool has_piece;

	template <class Counters>
	__device__ __forceinline__ void begin(
		const struct sl_even_track &track, const struct sl_grid_set *, const Counters &)
	{
		at = 0;
		has_piece = true;
		SL_UNROLL
		for (uint32_t k = 0; k < SL_EVEN_TRACK_AXES; k++) {
			const struct sl_even_axis *a = &track.score.axis[k];
			const struct sl_particle p = {
				.x = flight.x, .y = flight.y, .z = flight.z, .time = flight.time};
			const struct sl_particle per_cm = {.x = flight.u,
				.y = flight.v,
				.z = flight.w,
				.time = flight.slowness};

			axis[k].begin(a, sl_even_value(a, &p, 0), sl_even_value(a, &per_cm, 0));
		}
	}

	/* The counter of the piece, as sl_even_counter(). */
	__device__ __forceinline__ uint32_t counter(const struct sl_even_score &s) const
	{
		const uint32_t none = UINT32_MAX;
		uint32_t cell = s.below + 1, outside = none;

		SL_UNROLL
		for (uint32_t k = 0; k < SL_EVEN_TRACK_AXES; k++) {
			cell += axis[k].bin * s.axis[k].stride;
			outside = axis[k].bin == s.axis[k].last + 1 ? s.above : outside;
			outside = axis[k].bin != UINT32_MAX ? outside : s.below;
		}
		return outside == none ? cell : outside;
	}

	/* Moves on to the next bin of axis k. */
	__device__ __forceinline__ void enter(const struct sl_even_score &s, uint32_t k)
	{
		struct sl_even_flight next = axis[0];
		struct sl_even_axis a = s.axis[0];

		SL_UNROLL
		for (uint32_t i = 1; i < SL_EVEN_TRACK_AXES; i++) {
			next = i == k ? axis[i] : next;
			a = i == k ? s.axis[i] : a;
		}
		next.bin = next.rate > 0 ? next.bin + 1 : next.bin - 1;
		next.find_exit(&a);
		SL_UNROLL
		for (uint32_t i = 0; i < SL_EVEN_TRACK_AXES; i++) {
			axis[i].bin = i == k ? next.bin : axis[i].bin;
			axis[i].exit = i == k ? next.exit : axis[i].exit;
		}
	}

	/* Adds the next piece, as sl_track_next(); one without a length counts only at the end. */
	template <class Counters>
	__device__ __forceinline__ void add_piece(const struct sl_even_track &track,
		const struct sl_grid_set *, const Counters &counters)
	{
		const uint32_t to = counter(track.score);
		uint32_t first = SL_EVEN_TRACK_AXES;
		float end = flight.length, length;
		uint64_t count, fixed;

		SL_UNROLL
		for (uint32_t i = 0; i < SL_EVEN_TRACK_AXES; i++) {
			const uint32_t k = SL_EVEN_TRACK_AXES - 1 - i; /* the first axis first */

			first = axis[k].exit < end ? k : first;
			end = axis[k].exit < end ? axis[k].exit : end;
		}
		end = end > at ? end : at;
		length = end - at;
		at = end;
		has_piece = first < SL_EVEN_TRACK_AXES;
		fixed = sl_track_fixed(track.score_scale, flight.weight, length, &count);
		if (length > 0 || !has_piece)
			counters.add_pieces(to, count, fixed);
		if (has_piece)
			enter(track.score, first);
	}
};

#endif
