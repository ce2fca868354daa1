/*
 * score.cu - stage advance on a device of a model with scores, one thread per particle. Compiled for
 * each model; without scores, the file is empty.
 *
 * The steps are those of advance.cu. After each step a thread adds its collision and its flight to
 * the counters of the scores, which are in shared memory if they fit (collision_score.cuh).
 *
 * Particles take different numbers of steps. A lane whose particle takes no further step therefore
 * takes the next particle of its warp, instead of waiting until those of all lanes have ended: of
 * photons in a cube of 60 mean free paths, 11 of 32 lanes were busy on average without that.
 */
#include "stages/counting/even_track.cuh"
#include "stages/counting/grid.cuh"
#include "stages/counting/sums.cuh"
#include "stages/models/rules.h"

#if SL_MODEL_FACT(SCORED)

enum {
	BLOCK = 256,
	SHARED_LEFT = 1024, /* bytes of shared memory for the variables of the kernel */
	FREE_LANES = 8      /* of a warp that take their next particles at the same time */
};

/* The columns of a particle that are stored. */
static constexpr sl_column_set set = SL_STORED(SL_MODEL_FACT(COLUMNS));

/*
 * The scores of a batch as a kernel has them. Collisions: sl_collision_scores or sl_even_scores, or
 * sl_even_track for pieces of flights alone.
 */
template <class Collisions> struct score_rules {
	const Collisions &collisions;
	const struct sl_grid_set *grids; /* device memory */
};

/* How the pieces of a flight are added. step_lanes: of a warp, have none left when they take a step. */
template <class Collisions> struct pieces_of {
	using work = struct sl_track_work;
	static constexpr int blocks = 2, shared_block = 512, step_lanes = 20;
};

template <> struct pieces_of<struct sl_even_track> {
	using work = struct sl_even_track_work;
	static constexpr int blocks = 3, shared_block = 768, step_lanes = 26;
};

/* --- the particles of a warp ------------------------------------------------------------------ */

/* The particles of a launch. */
struct scored_particles {
	uint64_t seed, first_id;
	const struct sl_active_set &l;
	const struct sl_columns &batch;
	uint8_t *keep; /* is set to whether a particle is alive afterwards, unless it is NULL */
};

/*
 * The numbers of the particles of a warp that no lane has taken; none are left from end on. All its
 * lanes have the same.
 */
struct warp_queue {
	uint32_t next, end;
};

static __device__ __forceinline__ struct warp_queue queue_of_warp(uint64_t n)
{
	const uint64_t warps = (uint64_t)gridDim.x * (blockDim.x / 32),
		       each = (n + warps - 1) / warps;
	const uint64_t from = ((uint64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * each;

	return {(uint32_t)(from < n ? from : n), (uint32_t)(from + each < n ? from + each : n)};
}

/* A particle that a lane advances. */
struct lane_work {
	struct sl_particle p;
	uint32_t medium, steps_left;
	uint32_t i; /* the number of the particle */
	bool has_particle;

	__device__ __forceinline__ bool is_busy() const
	{
		return has_particle && steps_left > 0 && p.fate == SL_FATE_alive;
	}
};

/* Ends with the particle of a lane that takes no further step. Returns whether it is alive. */
static __device__ __forceinline__ bool end_particle(
	const struct scored_particles &particles, struct lane_work *w)
{
	bool is_alive;

	if (!w->has_particle)
		return false;
	w->has_particle = false;
	is_alive = sl_active_set_store(&particles.l, set, &particles.batch, w->i, &w->p);
	if (particles.keep)
		particles.keep[w->i] = is_alive;
	return is_alive;
}

/* Takes particle i. One that takes no steps is done at once. */
static __device__ __forceinline__ void begin_particle(const sl_rules &rules, uint32_t most,
	const struct scored_particles &particles, uint32_t i, struct lane_work *w)
{
	w->i = i;
	w->has_particle = particles.l.columns.fate[i] == SL_FATE_alive;
	if (w->has_particle) {
		w->p = sl_active_set_load(&particles.l, set, particles.first_id, i);
		w->medium = SL_OF_MODEL(medium_at)(&rules, most, &w->p);
		w->steps_left = particles.l.steps;
	} else if (particles.keep) {
		particles.keep[i] = false;
	}
}

/*
 * In the lanes of ends: ends with the particle, and takes the next one of the warp, if there is
 * one. All lanes of a warp call it. Returns whether the particle that ended is alive.
 */
static __device__ __forceinline__ bool next_particle(const sl_rules &rules, uint32_t most,
	const struct scored_particles &particles, struct warp_queue *queue, uint32_t ends,
	struct lane_work *w)
{
	const uint32_t lane = threadIdx.x % 32,
		       i = queue->next + (uint32_t)__popc(ends & ((1u << lane) - 1));
	const bool is_mine = ends >> lane & 1;
	bool is_alive = false;

	if (is_mine) {
		is_alive = end_particle(particles, w);
		if (i < queue->end)
			begin_particle(rules, most, particles, i, w);
	}
	queue->next += (uint32_t)__popc(ends);
	return is_alive;
}

/* --- collisions ------------------------------------------------------------------------------- */

/*
 * A step of a lane that is busy; adds its collision. All lanes of a warp call it, and take their
 * steps at the same time: where they were not synchronised, the compiler let lanes run ahead, and
 * the warp ran their steps one after another.
 */
template <class Collisions, class Counters>
static __device__ __forceinline__ void score_step(const sl_rules *rules, uint32_t most,
	uint64_t seed, bool is_busy, const struct score_rules<Collisions> &scores,
	const Counters &counters, struct lane_work *w)
{
	const float weight = w->p.weight;
	uint32_t collides = 0;
	float deposit, fluence = 0;

	if (is_busy) {
		struct sl_flight flight;

		w->medium = SL_OF_MODEL(step_in)(rules, most, w->medium, seed, &w->p, &flight);
		w->steps_left--;
		collides = flight.collides;
	}
	__syncwarp();
	deposit = SL_OF_MODEL(deposit_in)(rules, most, w->medium, &w->p, weight);
	if (scores.collisions.need_fluence())
		fluence = SL_OF_MODEL(fluence_in)(rules, most, w->medium, weight);
	sl_score_collision(
		scores.collisions, scores.grids->edge, collides, &w->p, deposit, fluence, counters);
	__syncwarp();
}

/*
 * Advances the particles of a warp, and adds their collisions. Adds to *alive how many of the
 * lane's are alive afterwards.
 */
template <class Collisions, class Counters>
static __device__ __forceinline__ void advance_collisions(const sl_rules *rules, uint32_t most,
	const struct scored_particles &particles, const struct score_rules<Collisions> &scores,
	const Counters &counters, uint64_t *alive)
{
	struct warp_queue queue = queue_of_warp(particles.l.n);
	struct lane_work w = {};

	for (;;) {
		const uint32_t busy = __ballot_sync(SL_LANES, w.is_busy()),
			       has = __ballot_sync(SL_LANES, w.has_particle);
		const bool is_left = queue.next < queue.end;

		if (busy == 0 && has == 0 && !is_left)
			return;
		if (busy == 0 || (is_left && __popc(~busy) >= FREE_LANES))
			*alive += next_particle(*rules, most, particles, &queue, ~busy, &w);
		__syncwarp();
		score_step(rules, most, particles.seed, w.is_busy(), scores, counters, &w);
	}
}

/* --- flights ---------------------------------------------------------------------------------- */

/* Scores of pieces alone have no collisions. */
template <class Counters>
static __device__ __forceinline__ void sl_score_collision(const struct sl_even_track &,
	const float *, uint32_t, const struct sl_particle *, float, float, const Counters &)
{
}

/* A step: adds its collision and its crossings, and begins with the pieces of its flight. */
template <class Collisions, class Counters>
static __device__ __forceinline__ void take_step(const sl_rules &rules, uint64_t seed,
	const struct score_rules<Collisions> &scores, const Counters &counters, struct lane_work *w,
	typename pieces_of<Collisions>::work *pieces)
{
	struct sl_scored_flight *flown = &pieces->flight;
	const uint32_t most = UINT32_MAX, i = w->medium;
	struct sl_flight flight;

#define X(name) flown->name = w->p.name;
	SL_FLIGHT_COLUMNS(X)
#undef X
	w->steps_left--;
	w->medium = SL_OF_MODEL(step_in)(&rules, most, i, seed, &w->p, &flight);
	flown->slowness = SL_OF_MODEL(slowness_in)(&rules, most, i);
	flown->length = flight.length;
	flown->end_z = w->p.z;
	sl_score_collision(scores.collisions, scores.grids->edge, flight.collides, &w->p,
		SL_OF_MODEL(deposit_in)(&rules, most, w->medium, &w->p, flown->weight),
		SL_OF_MODEL(fluence_in)(&rules, most, w->medium, flown->weight), counters);
	pieces->begin(scores.collisions, scores.grids, counters);
}

/*
 * As advance_collisions(), and adds each flight too. Flights have different numbers of pieces: lanes
 * add pieces until step_lanes have none left, and those take the next step.
 */
template <class Collisions, class Counters>
static __device__ __forceinline__ void advance_flights(const sl_rules *rules,
	const struct scored_particles &particles, const struct score_rules<Collisions> &scores,
	const Counters &counters, uint64_t *alive)
{
	struct warp_queue queue = queue_of_warp(particles.l.n);
	struct lane_work w = {};
	typename pieces_of<Collisions>::work pieces = {};
	uint32_t has_piece = 0;

	for (;;) {
		const uint32_t busy = __ballot_sync(SL_LANES, w.is_busy()),
			       has = __ballot_sync(SL_LANES, w.has_particle),
			       ends = ~busy & ~has_piece;
		const bool is_left = queue.next < queue.end;

		if ((has_piece | has) == 0 && !is_left)
			return;
		if ((ends & has) != 0 || (ends != 0 && is_left))
			*alive += next_particle(*rules, UINT32_MAX, particles, &queue, ends, &w);
		if (!pieces.has_piece && w.is_busy())
			take_step(*rules, particles.seed, scores, counters, &w, &pieces);
		do {
			__syncwarp();
			if (pieces.has_piece)
				pieces.add_piece(scores.collisions, scores.grids, counters);
			__syncwarp();
			has_piece = __ballot_sync(SL_LANES, pieces.has_piece);
		} while (__popc(has_piece) > 32 - pieces_of<Collisions>::step_lanes);
	}
}

/* Advances the particles of a warp, and adds to the scores. Returns how many of the lane's are alive. */
template <bool flights, class Collisions, class Counters>
static __device__ __forceinline__ uint64_t advance(const sl_rules &rules,
	const struct scored_particles &particles, const struct score_rules<Collisions> &scores,
	const Counters &counters)
{
	uint64_t alive = 0;

	if constexpr (flights)
		advance_flights(&rules, particles, scores, counters, &alive);
	else
		SL_BY_MEDIA(SL_OF_MODEL(media)(&rules), advance_collisions, &rules, particles,
			scores, counters, &alive);
	return alive;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/*
 * Threads of a block, and blocks of a multiprocessor, of the kernel with these counters. They limit
 * the compiler to 64 registers, which are enough for collisions alone, or to 80 or 128 if flights
 * are scored. One kernel for both would use 96 in every run with scores.
 */
template <bool flights, class Counters, class Collisions> struct launch_of {
	static constexpr int block = BLOCK, blocks = flights ? pieces_of<Collisions>::blocks : 4;
};

template <bool flights, class Collisions>
struct launch_of<flights, struct sl_block_scores, Collisions> {
	static constexpr int block = flights ? pieces_of<Collisions>::shared_block : 1024,
			     blocks = 1;
};

template <bool flights, class Counters, class Collisions>
static __global__ void __launch_bounds__((launch_of<flights, Counters, Collisions>::block),
	(launch_of<flights, Counters, Collisions>::blocks))
	scored_kernel(const SL_GRID_CONSTANT sl_rules rules, uint64_t seed,
		const uint64_t *first_id, const SL_GRID_CONSTANT struct sl_active_set l,
		const SL_GRID_CONSTANT struct sl_columns batch, uint8_t *keep,
		const SL_GRID_CONSTANT Collisions collisions, const struct sl_grid_set *grids,
		uint64_t *sums, uint64_t *alive)
{
	SL_SHARED_DYNAMIC(uint64_t, shared);
	const uint32_t n = collisions.n_counters;
	uint64_t lives[1];
	uint64_t *sum = sl_grids_copy(grids, sums) + grids->part[0].words;
	const Counters counters = Counters::of(shared, n, {sum, sum + n});

	counters.clear();
	__syncthreads();
	lives[0] = advance<flights>(rules,
		scored_particles{seed, *first_id, l, batch, alive ? keep : NULL},
		score_rules<Collisions>{collisions, grids}, counters);
	__syncthreads();
	counters.add_to_batch();
	if (alive)
		sl_block_add<sl_words_of<1>>(lives, alive);
}

/* What all launches have. */
struct scored_launch {
	const sl_rules *rules;
	uint64_t seed;
	const struct sl_batch *b;
	const struct sl_grid_set *grids, *device_grids;
	uint64_t *sums, *alive;
	sl_stream s;
	struct sl_limits limits;
};

/*
 * The blocks of a kernel with sl_block_scores: as many as multiprocessors, or so many that each has
 * less than 2^32 collisions, which its counters can count. 0 if there are too few particles for
 * each multiprocessor, too many steps, or too little shared memory.
 */
template <bool flights, class Collisions> static uint32_t find_blocks(const struct scored_launch &l)
{
	const uint32_t block = launch_of<flights, struct sl_block_scores, Collisions>::block,
		       multiprocessors = l.limits.multiprocessors,
		       max_steps = SL_OF_MODEL(max_steps)(l.rules);
	const struct sl_active_set *active = &l.b->active_set;
	const uint64_t steps = active->steps < max_steps ? active->steps : max_steps,
		       tiles = sl_grid(active->n, block),
		       tiles_most = (UINT32_MAX / block) / (steps > 0 ? steps : 1),
		       shared_bytes = (uint64_t)l.grids->part[1].counters *
	                              sizeof(struct sl_block_counter);
	uint64_t fewest;

	if (tiles < multiprocessors || tiles_most == 0 ||
		shared_bytes + SHARED_LEFT > l.limits.shared_bytes)
		return 0;
	fewest = (tiles + tiles_most - 1) / tiles_most;
	return (uint32_t)(fewest > multiprocessors ? fewest : multiprocessors);
}

template <bool flights, class Counters, class Collisions>
static enum sl_status queue_kernel(const struct scored_launch &l, const char *name, uint32_t grid,
	size_t shared_bytes, const Collisions &scores)
{
	return sl_launch(name, scored_kernel<flights, Counters, Collisions>, grid,
		(uint32_t)launch_of<flights, Counters, Collisions>::block, (uint32_t)shared_bytes,
		l.s, *l.rules, l.seed, l.b->first_id_on_device, l.b->active_set, l.b->columns,
		l.b->keep, scores, l.device_grids, l.sums, l.alive);
}

template <bool flights, class Collisions>
static enum sl_status queue_in_blocks(const struct scored_launch &l, const Collisions &scores)
{
	return queue_kernel<flights, struct sl_block_scores>(l, "scored_in_blocks_kernel",
		find_blocks<flights, Collisions>(l),
		scores.n_counters * sizeof(struct sl_block_counter), scores);
}

/* A kernel with sl_cached_scores has a thread per particle, or as many as fit at a time. */
template <bool flights, class Collisions>
static enum sl_status queue_any(const struct scored_launch &l, const Collisions &scores)
{
	const uint64_t blocks = sl_grid(l.b->active_set.n, BLOCK),
		       most = (uint64_t)l.limits.multiprocessors *
	                      launch_of<flights, struct sl_cached_scores, Collisions>::blocks;

	if (find_blocks<flights, Collisions>(l) > 0)
		return queue_in_blocks<flights>(l, scores);
	return queue_kernel<flights, struct sl_cached_scores>(l, "scored_kernel",
		(uint32_t)(blocks < most ? blocks : most),
		sl_cached_scores::CACHED * sizeof(struct sl_cached_counter), scores);
}

enum sl_status SL_RULE_KERNEL(scored)(const void *of_model, uint64_t seed, const struct sl_batch *b,
	const struct sl_grid_set *grids, const struct sl_grid_set *device_grids, uint64_t *sums,
	uint64_t *alive, sl_stream s)
{
	const struct sl_collision_scores collisions = sl_collision_scores_of(grids);
	struct sl_even_track track;
	struct sl_even_scores<SL_SCORE_DEPOSIT> deposit;
	struct sl_even_scores<SL_SCORE_FLUENCE> fluence;
	struct sl_even_scores<SL_SCORE_COUNT> even;
	struct scored_launch l = {
		(const sl_rules *)of_model, seed, b, grids, device_grids, sums, alive, s, {}};
	bool in_blocks;

	SL_TRY(sl_device_limits(&l.limits));
	if (grids->flights && sl_even_track_of(grids, &track))
		return queue_any<true>(l, track);
	if (grids->flights)
		return queue_any<true>(l, collisions);
	in_blocks = find_blocks<false, struct sl_collision_scores>(l) > 0;
	if (in_blocks && sl_even_scores_of(&collisions, &deposit))
		return queue_in_blocks<false>(l, deposit);
	if (in_blocks && sl_even_scores_of(&collisions, &fluence))
		return queue_in_blocks<false>(l, fluence);
	if (sl_even_scores_of(&collisions, &even))
		return queue_any<false>(l, even);
	return queue_any<false>(l, collisions);
}

#endif
