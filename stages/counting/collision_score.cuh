/*
 * collision_score.cuh - adds collisions to the scores of a batch.
 *
 * The counters are those of the batch, in global memory, or those of a thread block, in shared memory, which are
 * added to the counters of the batch when the block ends. Where each collision scores, that is faster.
 */
#ifndef SL_STAGES_COUNTING_COLLISION_SCORE_CUH
#define SL_STAGES_COUNTING_COLLISION_SCORE_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/selection/grid.h"

/*
 * The scores of collisions. Kernels have them as a parameter, from which a read costs no load; the edges, which
 * threads read at different places, stay in device memory.
 */
struct sl_collision_scores {
	uint32_t n, n_counters; /* n_counters: of all grids of the batch */
	struct sl_grid_rule grid[SL_GRIDS_MAX];
};

static inline struct sl_collision_scores sl_collision_scores_of(const struct sl_grid_set *grids)
{
	struct sl_collision_scores scores = {0, grids->n_counters, {}};

	for (uint32_t k = 0; k < grids->n; k++)
		if (sl_scores_collisions(&grids->grid[k]))
			scores.grid[scores.n++] = grids->grid[k];
	return scores;
}

static inline bool sl_collision_scores_are_even(const struct sl_collision_scores *scores)
{
	for (uint32_t k = 0; k < scores->n; k++)
		for (uint32_t axis = 0; axis < scores->grid[k].n_axes; axis++)
			if (scores->grid[k].axis[axis].spacing != SL_SPACING_EVEN)
				return false;
	return true;
}

/* Counters of the batch: counts, then sums. */
struct sl_batch_scores {
	uint64_t *count, *sum;

	__device__ __forceinline__ void add(uint32_t at, uint64_t score) const
	{
		atomicAdd(&count[at], (uint64_t)1);
		if (score != 0) /* with analogue absorption most collisions deposit nothing */
			atomicAdd(&sum[at], score);
	}
};

/* Bytes of each counter in shared memory. */
enum { SL_BLOCK_SCORE_BYTES = 3 * sizeof(uint32_t) };

/* Counters of a thread block: counts, and both halves of the sums, because shared memory adds words of 32 bits. */
struct sl_block_scores {
	uint32_t *count, *low, *high, n;

	/* All threads of the block call it, and then synchronise. */
	__device__ __forceinline__ void clear() const
	{
		for (uint32_t k = threadIdx.x; k < 3 * n; k += blockDim.x)
			count[k] = 0;
	}

	/* score is at most 2^32. */
	__device__ __forceinline__ void add(uint32_t at, uint64_t score) const
	{
		uint32_t part = (uint32_t)score, carry = (uint32_t)(score >> 32);

		atomicAdd(&count[at], 1u);
		if (score == 0)
			return;
		carry += atomicAdd(&low[at], part) > ~part;
		if (carry != 0)
			atomicAdd(&high[at], carry);
	}

	/* Adds the counters to those of the batch. All threads of the block call it, after synchronising. */
	__device__ __forceinline__ void add_to(const struct sl_batch_scores &batch) const
	{
		for (uint32_t k = threadIdx.x; k < n; k += blockDim.x) {
			uint64_t sum = (uint64_t)high[k] << 32 | low[k];

			if (count[k] == 0)
				continue;
			atomicAdd(&batch.count[k], (uint64_t)count[k]);
			if (sum != 0)
				atomicAdd(&batch.sum[k], sum);
		}
	}
};

/* The value of a column that can be an axis of a score of collisions. */
static __device__ __forceinline__ float sl_collision_value(
	const struct sl_particle *p, float r, enum sl_column column)
{
	float value = p->time;

	value = column == SL_COLUMN_x ? p->x : value;
	value = column == SL_COLUMN_y ? p->y : value;
	value = column == SL_COLUMN_z ? p->z : value;
	return column == SL_COLUMN_r ? r : value;
}

/* The counter within the row, as sl_grid_cell(). */
static __device__ __forceinline__ uint32_t sl_collision_cell(
	const struct sl_grid_rule *g, const float *edge, const struct sl_particle *p, float r)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < g->n_axes; k++) {
		const struct sl_grid_axis_rule *a = &g->axis[k];
		uint32_t bin =
			sl_grid_bin_of_float(a, edge, sl_collision_value(p, r, a->even.column));

		if (!sl_grid_add_bin(g, k, bin, &cell))
			return cell;
	}
	return cell + 1;
}

/*
 * The same if all axes are EVEN: without branches, and with the rules as operands of instructions, which is half of
 * the instructions. The first axis that has no bin for p decides whether p is below or above.
 */
static __device__ __forceinline__ uint32_t sl_collision_cell_even(
	const struct sl_grid_rule *g, const struct sl_particle *p, float r)
{
	bool below = false, above = false;
	uint32_t cell = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < SL_GRID_AXES_MAX; k++) {
		if (k == g->n_axes)
			break;

		const struct sl_histogram_rule *a = &g->axis[k].even;
		float value = sl_collision_value(p, r, a->column);
		uint32_t bin = sl_bin_within(a, fminf(fmaxf(value, a->lo), a->hi));

		below |= !above & !(value >= a->lo);
		above |= !below & (value > a->hi);
		cell = cell * a->bins + bin;
	}
	return below ? 0 : above ? g->cells + 1 : cell + 1;
}

template <bool even, class Counters>
static __device__ __forceinline__ void sl_score_one(const struct sl_grid_rule *g, const float *edge,
	bool collides, const struct sl_particle *p, float r, float deposit, float fluence,
	const Counters &counters)
{
	const uint32_t cell =
		even ? sl_collision_cell_even(g, p, r) : sl_collision_cell(g, edge, p, r);

	if (collides)
		counters.add(g->base + cell, sl_score_fixed(g, deposit, fluence));
}

/*
 * Adds p to each score if it has collided. even: all axes are EVEN; the loop then is unrolled, because only constant
 * places in the parameters of a kernel are operands of instructions.
 */
template <bool even, class Counters>
static __device__ __forceinline__ void sl_score_collision(const struct sl_collision_scores &scores,
	const float *edge, bool collides, const struct sl_particle *p, float deposit, float fluence,
	const Counters &counters)
{
	const float r = sl_grid_radius(p->x, p->y);

	if (even) {
		SL_UNROLL
		for (uint32_t k = 0; k < SL_GRIDS_MAX; k++) {
			if (k == scores.n)
				break;
			sl_score_one<true>(
				&scores.grid[k], edge, collides, p, r, deposit, fluence, counters);
		}
	} else {
		for (uint32_t k = 0; k < scores.n; k++)
			sl_score_one<false>(
				&scores.grid[k], edge, collides, p, r, deposit, fluence, counters);
	}
}

#endif
