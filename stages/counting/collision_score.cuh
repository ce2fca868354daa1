/*
 * collision_score.cuh - adds collisions to the scores of a batch.
 *
 * If the counters fit, a thread block has its own in shared memory, which are added to those of the
 * batch when the block ends: sl_block_scores. Otherwise it has some there, of the cells that it has
 * met first, and adds to the others in global memory: sl_cached_scores. Those of a beam are among
 * the first, and additions of all blocks to them would be done one after another.
 */
#ifndef SL_STAGES_COUNTING_COLLISION_SCORE_CUH
#define SL_STAGES_COUNTING_COLLISION_SCORE_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/selection/grid.h"

/*
 * The scores of collisions. Kernels have them as a parameter, from which a read costs no load; the
 * edges, which threads read at different places, stay in device memory.
 */
struct sl_collision_scores {
	uint32_t n, n_counters; /* n_counters: of the part of the batch that has the scores */
	bool fluence;           /* some score is one of the fluence */
	struct sl_grid_rule grid[SL_GRIDS_MAX];

	__device__ __forceinline__ bool need_fluence() const
	{
		return fluence;
	}
};

static inline struct sl_collision_scores sl_collision_scores_of(const struct sl_grid_set *grids)
{
	struct sl_collision_scores scores = {0, grids->part[1].counters, false, {}};

	for (uint32_t k = 0; k < grids->n; k++) {
		if (!sl_scores_collisions(&grids->grid[k]))
			continue;
		scores.grid[scores.n++] = grids->grid[k];
		scores.fluence |= grids->grid[k].score == SL_SCORE_FLUENCE;
	}
	return scores;
}

/*
 * A score whose axes are EVEN, in the form that takes the fewest instructions to find a cell:
 * without branches, and with the rules as operands of instructions.
 */
struct sl_even_axis {
	float lo, hi, scale, width; /* as those of its rule */
	uint32_t last;              /* the number of the last bin */
	uint32_t stride;            /* counters from a bin to the next */
	uint32_t x, y, z, time, r;  /* masks: UINT32_MAX for the column of the axis, 0 for others */
};

struct sl_even_score {
	uint32_t n_axes;
	struct sl_even_axis axis[SL_GRID_AXES_MAX]; /* the last axis of the grid comes first */
	uint32_t below, above; /* their counters; those of the cells are between */
	uint32_t is_deposit;   /* otherwise it is the fluence */
	float units;           /* of the sum per unit of the score: a power of 2 */
	float exact;           /* scores from here on are whole numbers of units */
};

/*
 * kind: SL_SCORE_DEPOSIT or SL_SCORE_FLUENCE for one score, of this kind, in bins of r and z, the
 * most common ones: the kernel then takes fewer instructions. SL_SCORE_COUNT for all others.
 */
template <enum sl_score kind> struct sl_even_scores {
	static constexpr bool in_r_z = kind != SL_SCORE_COUNT;
	uint32_t n, n_counters;
	bool fluence; /* some score is one of the fluence */
	struct sl_even_score score[SL_GRIDS_MAX];

	__device__ __forceinline__ bool need_fluence() const
	{
		return in_r_z ? kind == SL_SCORE_FLUENCE : fluence;
	}
};

static inline struct sl_even_axis sl_even_axis_of(
	const struct sl_grid_axis_rule *axis, uint32_t stride)
{
	const struct sl_even_rule *rule = &axis->even;
	struct sl_even_axis a = {
		rule->lo, rule->hi, rule->scale, axis->width, rule->bins - 1, stride};

	a.x = rule->column == SL_COLUMN_x ? UINT32_MAX : 0;
	a.y = rule->column == SL_COLUMN_y ? UINT32_MAX : 0;
	a.z = rule->column == SL_COLUMN_z ? UINT32_MAX : 0;
	a.time = rule->column == SL_COLUMN_time ? UINT32_MAX : 0;
	a.r = rule->column == SL_COLUMN_r ? UINT32_MAX : 0;
	return a;
}

/* Returns false if an axis is not EVEN. */
static inline bool sl_even_score_of(const struct sl_grid_rule *g, struct sl_even_score *s)
{
	uint32_t stride = 1;

	s->n_axes = g->n_axes;
	for (uint32_t axis = 0; axis < g->n_axes; axis++) {
		const struct sl_grid_axis_rule *a = &g->axis[g->n_axes - 1 - axis];

		if (a->spacing != SL_SPACING_EVEN)
			return false;
		s->axis[axis] = sl_even_axis_of(a, stride);
		stride *= a->even.bins;
	}
	s->below = g->base;
	s->above = g->base + g->cells + 1;
	s->is_deposit = g->score == SL_SCORE_DEPOSIT;
	s->units = g->score_scale * SL_WEIGHT_UNITS;
	s->exact = SL_WEIGHT_EXACT / g->score_scale;
	return true;
}

static inline bool sl_is_score_in_r_z(const struct sl_collision_scores *scores, enum sl_score kind)
{
	const struct sl_grid_rule *g = &scores->grid[0];

	return scores->n == 1 && g->score == kind && g->n_axes == 2 &&
	       g->axis[0].even.column == SL_COLUMN_r && g->axis[1].even.column == SL_COLUMN_z;
}

/* Returns false if the scores are others. */
template <enum sl_score kind>
static inline bool sl_even_scores_of(
	const struct sl_collision_scores *scores, struct sl_even_scores<kind> *even)
{
	*even = {scores->n, scores->n_counters, scores->fluence, {}};
	if (even->in_r_z && !sl_is_score_in_r_z(scores, kind))
		return false;
	for (uint32_t k = 0; k < scores->n; k++)
		if (!sl_even_score_of(&scores->grid[k], &even->score[k]))
			return false;
	return true;
}

/* Counters of the batch: counts, then sums. */
struct sl_batch_scores {
	uint64_t *count, *sum;

	/* A collision, or pieces of flights, which count several times if they are long. */
	__device__ __forceinline__ void add_pieces(
		uint32_t at, uint64_t pieces, uint64_t score) const
	{
		sl_add_global(&count[at], pieces);
		if (score != 0) /* with analogue absorption most collisions deposit nothing */
			sl_add_global(&sum[at], score);
	}
};

/*
 * A counter of a thread block: both halves of the sum, because shared memory adds words of 32 bits.
 */
struct sl_block_counter {
	uint32_t count, low, high;

	__device__ __forceinline__ void add_score(uint64_t score)
	{
		const uint32_t part = (uint32_t)score, carry = (uint32_t)(score >> 32);
		bool overflows;

		if ((part | carry) == 0)
			return;
		overflows = atomicAdd(&low, part) > ~part;
		if (overflows || carry != 0)
			atomicAdd(&high, carry + overflows);
	}

	/* batch: the counter of the batch, which gets 2^32 of the pieces if count overflows. */
	__device__ __forceinline__ void add_pieces(uint64_t pieces, uint64_t score, uint64_t *batch)
	{
		const uint32_t part = (uint32_t)pieces;

		if (atomicAdd(&count, part) > ~part)
			sl_add_global(batch, UINT64_C(1) << 32);
		add_score(score);
	}

	__device__ __forceinline__ void add_to_batch(
		uint32_t at, const struct sl_batch_scores &batch)
	{
		const uint64_t sum = (uint64_t)high << 32 | low;

		if (count != 0)
			sl_add_global(&batch.count[at], count);
		if (sum != 0)
			sl_add_global(&batch.sum[at], sum);
	}
};

struct sl_block_scores {
	struct sl_block_counter *counter;
	uint32_t n;
	struct sl_batch_scores batch;

	static __device__ __forceinline__ struct sl_block_scores of(
		void *shared, uint32_t n, const struct sl_batch_scores &batch)
	{
		return {(struct sl_block_counter *)shared, n, batch};
	}

	/* All threads of the block call it, and then synchronise. */
	__device__ __forceinline__ void clear() const
	{
		for (uint32_t k = threadIdx.x; k < n; k += blockDim.x)
			counter[k] = {};
	}

	/* A collision: a block has less than 2^32. */
	__device__ __forceinline__ void add(uint32_t at, uint64_t score) const
	{
		atomicAdd(&counter[at].count, 1u);
		counter[at].add_score(score);
	}

	/* Pieces of flights, of which a block can have more. */
	__device__ __forceinline__ void add_pieces(
		uint32_t at, uint64_t pieces, uint64_t score) const
	{
		counter[at].add_pieces(pieces, score, &batch.count[at]);
	}

	/*
	 * Adds the counters to those of the batch. All threads of the block call it, after
	 * synchronising.
	 */
	__device__ __forceinline__ void add_to_batch() const
	{
		for (uint32_t k = threadIdx.x; k < n; k += blockDim.x)
			counter[k].add_to_batch(k, batch);
	}
};

/* A counter of a thread block for the counter of the batch that has taken it first. */
struct sl_cached_counter {
	uint32_t taken; /* 1 + the number of that counter; 0: none has */
	struct sl_block_counter counter;
};

struct sl_cached_scores {
	enum { BITS = 10, CACHED = 1 << BITS }; /* 16 KiB of shared memory */
	struct sl_cached_counter *cached;
	struct sl_batch_scores batch;

	static __device__ __forceinline__ struct sl_cached_scores of(
		void *shared, uint32_t, const struct sl_batch_scores &batch)
	{
		return {(struct sl_cached_counter *)shared, batch};
	}

	/* As those of sl_block_scores. */
	__device__ __forceinline__ void clear() const
	{
		for (uint32_t k = threadIdx.x; k < CACHED; k += blockDim.x)
			cached[k] = {};
	}

	__device__ __forceinline__ void add_to_batch() const
	{
		for (uint32_t k = threadIdx.x; k < CACHED; k += blockDim.x)
			if (cached[k].taken != 0)
				cached[k].counter.add_to_batch(cached[k].taken - 1, batch);
	}

	/* The place depends on all bits of the number (Knuth, TAOCP 3, 6.4). */
	__device__ __forceinline__ void add_pieces(
		uint32_t at, uint64_t pieces, uint64_t score) const
	{
		struct sl_cached_counter *c = &cached[at * 2654435769u >> (32 - BITS)];
		const uint32_t taken = atomicCAS(&c->taken, 0u, at + 1);

		if (taken == 0 || taken == at + 1)
			c->counter.add_pieces(pieces, score, &batch.count[at]);
		else
			batch.add_pieces(at, pieces, score);
	}

	__device__ __forceinline__ void add(uint32_t at, uint64_t score) const
	{
		add_pieces(at, 1, score);
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

/* Adds p to each score if it has collided. */
template <class Counters>
static __device__ __forceinline__ void sl_score_collision(const struct sl_collision_scores &scores,
	const float *edge, uint32_t collides, const struct sl_particle *p, float deposit,
	float fluence, const Counters &counters)
{
	const float r = sl_grid_radius(p->x, p->y);

	for (uint32_t k = 0; k < scores.n; k++) {
		const struct sl_grid_rule *g = &scores.grid[k];
		const uint32_t cell = sl_collision_cell(g, edge, p, r);

		if (collides)
			counters.add(g->base + cell, sl_score_fixed(g, deposit, fluence));
	}
}

static __device__ __forceinline__ float sl_even_value(
	const struct sl_even_axis *a, const struct sl_particle *p, float r)
{
	return sl_float((sl_bits(p->x) & a->x) | (sl_bits(p->y) & a->y) | (sl_bits(p->z) & a->z) |
			(sl_bits(p->time) & a->time) | (sl_bits(r) & a->r));
}

/*
 * The counter of p. The first axis of the grid that has no bin for p decides whether p is below or
 * above; it is the last one in the loop. in_r_z: the axes are r and z.
 */
template <bool in_r_z>
static __device__ __forceinline__ uint32_t sl_even_counter(
	const struct sl_even_score *s, const struct sl_particle *p, float r)
{
	const uint32_t none = UINT32_MAX;
	uint32_t cell = s->below + 1, outside = none;

	SL_UNROLL
	for (uint32_t k = 0; k < SL_GRID_AXES_MAX; k++) {
		if (k == (in_r_z ? 2 : s->n_axes))
			break;

		const struct sl_even_axis *a = &s->axis[k];
		const float value = !in_r_z ? sl_even_value(a, p, r) : k == 0 ? p->z : r;
		const uint32_t bin = __float2uint_rz((value - a->lo) * a->scale);

		cell += (bin < a->last ? bin : a->last) * a->stride;
		outside = value > a->hi ? s->above : outside;
		outside = value >= a->lo ? outside : s->below;
	}
	return outside == none ? cell : outside;
}

/* As sl_score_fixed(): products with powers of 2 are exact, so one fmaf() can do all of it. */
static __device__ __forceinline__ uint64_t sl_even_fixed(const struct sl_even_score *s, float score)
{
	return (uint64_t)(int64_t)fmaf(score, s->units, score < s->exact ? 0.5f : 0.0f);
}

/*
 * The loop is unrolled, because only constant places in the parameters of a kernel are operands of
 * instructions.
 */
template <enum sl_score kind, class Counters>
static __device__ __forceinline__ void sl_score_collision(const struct sl_even_scores<kind> &scores,
	const float *, uint32_t collides, const struct sl_particle *p, float deposit, float fluence,
	const Counters &counters)
{
	const float r = sl_grid_radius(p->x, p->y);

	SL_UNROLL
	for (uint32_t k = 0; k < SL_GRIDS_MAX; k++) {
		if (k == (scores.in_r_z ? 1 : scores.n))
			break;

		const struct sl_even_score *s = &scores.score[k];
		const bool is_deposit = scores.in_r_z ? kind == SL_SCORE_DEPOSIT : s->is_deposit;
		const uint32_t at = sl_even_counter<sl_even_scores<kind>::in_r_z>(s, p, r);

		if (collides)
			counters.add(at, sl_even_fixed(s, is_deposit ? deposit : fluence));
	}
}

#endif
