/*
 * score.cu - stage advance on a device of a model with scores, one thread per particle.
 *
 * The steps are those of advance.cu. After each step a thread adds its collision and its flight to
 * the counters of the scores. If the counters fit, they are in shared memory (collision_score.cuh).
 */
#include "stages/counting/score.h"

#include <type_traits>

#include "stages/counting/collision_score.cuh"
#include "stages/counting/grid.cuh"
#include "stages/counting/sums.cuh"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum {
	BLOCK = 256,
	SHARED_LEFT = 1024, /* bytes of shared memory for the variables of the kernel */
	STEP_LANES = 8      /* of a warp that take a step while others add pieces of flights */
};

/*
 * Threads of the only block of a multiprocessor whose counters are in shared memory: 64 registers
 * each, or 128.
 */
template <bool flights> static constexpr int SHARED_BLOCK = flights ? 512 : 1024;

/*
 * Blocks per multiprocessor: they limit the compiler to 48 registers, or to 128 if flights are
 * scored. 48 are enough for collisions alone. One kernel for both would use 96 in every run with
 * scores.
 */
template <bool flights> static constexpr int BLOCKS_PER_MULTIPROCESSOR = flights ? 2 : 5;

/* The functions of the models with scores (model.h), by their rules: media(), medium_at(), ... */
#define FUNCTION(function, name)                                               \
	template <class... Arguments>                                          \
	SL_HD_PART auto function(const struct sl_##name *r, Arguments... more) \
	{                                                                      \
		return sl_##name##_##function(r, more...);                     \
	}
#define MODEL(name)
#define SCORED_MODEL(name)          \
	FUNCTION(media, name)       \
	FUNCTION(max_steps, name)   \
	FUNCTION(medium_at, name)   \
	FUNCTION(step_in, name)     \
	FUNCTION(slowness_in, name) \
	FUNCTION(deposit_in, name)  \
	FUNCTION(fluence_in, name)
#include "stages/models/models.def"
#undef MODEL
#undef FUNCTION

/* The scores of a batch as a kernel has them. Collisions: sl_collision_scores or sl_even_scores. */
template <class Collisions> struct score_rules {
	const Collisions &collisions;
	const struct sl_grid_set *grids; /* device memory */
};

/*
 * Advances p by at most n steps, and adds each collision. All lanes of a warp call it, also with a
 * p that is not alive, and take their steps at the same time: without the votes the compiler let
 * lanes run ahead, and the warp ran their steps one after another.
 */
template <class Rules, class Collisions, class Counters>
static __device__ __forceinline__ void score_collisions(const Rules *rules, uint32_t most,
	uint64_t seed, struct sl_particle *p, uint32_t n,
	const struct score_rules<Collisions> &scores, const Counters &counters)
{
	uint32_t i = medium_at(rules, most, p);

	for (; n > 0 && __any_sync(SL_LANES, p->fate == SL_FATE_alive); n--) {
		const float weight = p->weight;
		uint32_t next = i;
		uint32_t collides = 0;
		float deposit, fluence = 0;

		if (p->fate == SL_FATE_alive) {
			struct sl_flight flight;

			next = step_in(rules, most, i, seed, p, &flight);
			collides = flight.collides;
		}
		__syncwarp();
		deposit = deposit_in(rules, most, next, p, weight);
		if (scores.collisions.need_fluence())
			fluence = fluence_in(rules, most, next, weight);
		sl_score_collision(scores.collisions, scores.grids->edge, collides, p, deposit,
			fluence, counters);
		__syncwarp();
		i = next;
	}
}

/* The particles of a launch, in the way that a thread takes them: i, i + stride, ... */
struct scored_particles {
	uint64_t seed, first_id;
	const struct sl_active_set &l;
	const struct sl_columns &batch;
	uint8_t *keep; /* is set to whether a particle is alive afterwards, unless it is NULL */
	uint64_t stride;
};

/* Does particle i take steps? Sets *p to it then. */
template <sl_column_set set>
static __device__ __forceinline__ bool load(
	const struct scored_particles &from, uint64_t i, struct sl_particle *p)
{
	if (from.l.columns.fate[i] != SL_FATE_alive)
		return false;
	*p = sl_active_set_load(&from.l, set, from.first_id, (uint32_t)i);
	return true;
}

/* Stores particle i if it has taken steps. Returns whether it is alive. */
template <sl_column_set set>
static __device__ __forceinline__ bool store(const struct scored_particles &to, uint64_t i,
	bool takes_steps, const struct sl_particle *p)
{
	const bool is_alive =
		takes_steps && sl_active_set_store(&to.l, set, &to.batch, (uint32_t)i, p);

	if (to.keep)
		to.keep[i] = is_alive;
	return is_alive;
}

/*
 * Advances the particles of a thread, and adds their collisions. All lanes of a warp call it.
 * Returns how many are alive afterwards.
 */
template <class Rules, sl_column_set set, class Collisions, class Counters>
static __device__ __forceinline__ uint64_t advance_all(const Rules &rules,
	const struct scored_particles &particles, uint64_t i,
	const struct score_rules<Collisions> &scores, const Counters &counters)
{
	uint64_t alive = 0;

	for (uint64_t first = i - threadIdx.x; first < particles.l.n;
		first += particles.stride, i += particles.stride) {
		const bool exists = i < particles.l.n;
		struct sl_particle p = {};
		bool takes_steps;

		p.fate = SL_FATE_max_steps; /* not alive */
		takes_steps = exists && load<set>(particles, i, &p);
		SL_BY_MEDIA(media(&rules), score_collisions, &rules, particles.seed, &p,
			particles.l.steps, scores, counters);
		alive += exists && store<set>(particles, i, takes_steps, &p);
	}
	return alive;
}

/* --- flights ---------------------------------------------------------------------------------- */

/* A particle that a lane advances, and the flight of its last step. */
struct lane_work {
	struct sl_particle p;
	uint32_t medium, steps_left;
	uint64_t i; /* the number of the particle; the next one if there is none */
	bool has_particle;
	struct sl_track_work pieces;
};

/* Ends with the particle of a lane that takes no further step. Returns whether it is alive. */
template <sl_column_set set>
static __device__ __forceinline__ bool end_particle(
	const struct scored_particles &particles, struct lane_work *w)
{
	if (!w->has_particle || (w->steps_left > 0 && w->p.fate == SL_FATE_alive))
		return false;

	const bool is_alive = store<set>(particles, w->i, true, &w->p);

	w->has_particle = false;
	w->i += particles.stride;
	return is_alive;
}

/* Takes the next particle, if a lane has none. One that takes no steps is done at once. */
template <class Rules, sl_column_set set>
static __device__ __forceinline__ void begin_particle(
	const Rules &rules, const struct scored_particles &particles, struct lane_work *w)
{
	if (w->has_particle || w->i >= particles.l.n)
		return;
	w->has_particle = load<set>(particles, w->i, &w->p);
	if (!w->has_particle) {
		(void)store<set>(particles, w->i, false, &w->p);
		w->i += particles.stride;
		return;
	}
	w->medium = medium_at(&rules, UINT32_MAX, &w->p);
	w->steps_left = particles.l.steps;
}

/* A step: adds its collision and its crossings, and begins with the pieces of its flight. */
template <class Rules, class Collisions, class Counters>
static __device__ __forceinline__ void take_step(const Rules &rules, uint64_t seed,
	const struct score_rules<Collisions> &scores, const Counters &counters, struct lane_work *w)
{
	struct sl_scored_flight *flown = &w->pieces.flight;
	const uint32_t most = UINT32_MAX, i = w->medium;
	struct sl_flight flight;

#define X(name) flown->name = w->p.name;
	SL_FLIGHT_COLUMNS(X)
#undef X
	w->steps_left--;
	w->medium = step_in(&rules, most, i, seed, &w->p, &flight);
	flown->slowness = slowness_in(&rules, most, i);
	flown->length = flight.length;
	flown->end_z = w->p.z;
	sl_score_collision(scores.collisions, scores.grids->edge, flight.collides, &w->p,
		deposit_in(&rules, most, w->medium, &w->p, flown->weight),
		fluence_in(&rules, most, w->medium, flown->weight), counters);
	sl_grids_score_crossings(scores.grids, flown, counters);
	w->pieces.begin(scores.grids, 0);
}

/*
 * As advance_all(), and adds each flight too. Flights have different numbers of pieces, and
 * particles different numbers of steps. So each lane goes on by itself: a lane without pieces takes
 * a step, and a lane whose particle takes no further step takes the next particle. It waits until
 * STEP_LANES lanes do so, or no lane has a piece, while the others add pieces.
 */
template <class Rules, sl_column_set set, class Collisions, class Counters>
static __device__ __forceinline__ uint64_t advance_flights(const Rules &rules,
	const struct scored_particles &particles, uint64_t i,
	const struct score_rules<Collisions> &scores, const Counters &counters)
{
	struct lane_work w = {};
	uint64_t alive = 0;

	w.i = i;
	w.pieces.grid = scores.grids->n;
	for (;;) {
		const bool has_piece = w.pieces.is_left(scores.grids),
			   has_step = !has_piece && (w.has_particle || w.i < particles.l.n);
		const uint32_t pieces = __ballot_sync(SL_LANES, has_piece),
			       steps = __ballot_sync(SL_LANES, has_step);

		if ((pieces | steps) == 0)
			return alive;
		if (has_step && (pieces == 0 || __popc(steps) >= STEP_LANES)) {
			alive += end_particle<set>(particles, &w);
			begin_particle<Rules, set>(rules, particles, &w);
			if (w.has_particle)
				take_step(rules, particles.seed, scores, counters, &w);
		}
		__syncwarp();
		if (w.pieces.is_left(scores.grids))
			w.pieces.add_piece(scores.grids, counters);
		__syncwarp();
	}
}

/*
 * Advances the particles of a thread from number i on, and adds to the scores. Returns how many
 * stay alive.
 */
template <bool flights, class Rules, sl_column_set set, class Collisions, class Counters>
static __device__ __forceinline__ uint64_t advance(const Rules &rules,
	const struct scored_particles &particles, uint64_t i,
	const struct score_rules<Collisions> &scores, const Counters &counters)
{
	if constexpr (flights)
		return advance_flights<Rules, set>(rules, particles, i, scores, counters);
	else
		return advance_all<Rules, set>(rules, particles, i, scores, counters);
}

/* --- kernels ---------------------------------------------------------------------------------- */

template <class Rules, sl_column_set set, bool flights>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR<flights>)
	scored_kernel(const SL_GRID_CONSTANT Rules rules, uint64_t seed, uint64_t first_id,
		const SL_GRID_CONSTANT struct sl_active_set l,
		const SL_GRID_CONSTANT struct sl_columns batch, uint8_t *keep,
		const SL_GRID_CONSTANT struct sl_collision_scores collisions,
		const struct sl_grid_set *grids, uint64_t *sums, uint64_t *alive)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, lives[1];
	uint64_t *sum = sl_grids_copy(grids, sums) + grids->part[0].words;

	lives[0] = advance<flights, Rules, set>(rules,
		scored_particles{seed, first_id, l, batch, alive ? keep : NULL, l.n}, i,
		score_rules<struct sl_collision_scores>{collisions, grids},
		sl_batch_scores{sum, sum + collisions.n_counters});
	if (alive)
		sl_block_add<sl_words_of<1>>(lives, alive);
}

/* The same with the counters of a block in shared memory. Blocks stride over the particles. */
template <class Rules, sl_column_set set, bool flights, class Collisions>
static __global__ void __launch_bounds__(SHARED_BLOCK<flights>, 1)
	scored_in_blocks_kernel(const SL_GRID_CONSTANT Rules rules, uint64_t seed,
		uint64_t first_id, const SL_GRID_CONSTANT struct sl_active_set l,
		const SL_GRID_CONSTANT struct sl_columns batch, uint8_t *keep,
		const SL_GRID_CONSTANT Collisions collisions, const struct sl_grid_set *grids,
		uint64_t *sums, uint64_t *alive)
{
	SL_SHARED_DYNAMIC(struct sl_block_counter, counter);
	const uint32_t n = collisions.n_counters;
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, lives[1];
	uint64_t *sum = sl_grids_copy(grids, sums) + grids->part[0].words;
	const struct sl_block_scores counters = {counter, n, {sum, sum + n}};

	counters.clear();
	__syncthreads();
	lives[0] = advance<flights, Rules, set>(rules,
		scored_particles{seed, first_id, l, batch, alive ? keep : NULL,
			(uint64_t)gridDim.x * blockDim.x},
		i, score_rules<Collisions>{collisions, grids}, counters);
	__syncthreads();
	counters.add_to_batch();
	if (alive)
		sl_block_add<sl_words_of<1>>(lives, alive);
}

/*
 * The blocks of scored_in_blocks_kernel(): as many as multiprocessors, or so many that each has
 * less than 2^32 collisions, which its counters can count. 0 if there are too few particles for
 * each multiprocessor, too many steps, or too little shared memory.
 */
static enum sl_status find_blocks(const struct sl_batch *b, uint64_t max_steps,
	const struct sl_grid_set *grids, uint32_t *blocks)
{
	const uint32_t block = grids->flights ? SHARED_BLOCK<true> : SHARED_BLOCK<false>;
	const uint64_t steps = b->active_set.steps < max_steps ? b->active_set.steps : max_steps,
		       tiles = sl_grid(b->active_set.n, block),
		       tiles_most = (UINT32_MAX / block) / (steps > 0 ? steps : 1),
		       shared_bytes =
			       (uint64_t)grids->part[1].counters * sizeof(struct sl_block_counter);
	struct sl_limits limits;
	uint64_t fewest;

	*blocks = 0;
	SL_TRY(sl_device_limits(&limits));
	if (tiles < limits.multiprocessors || tiles_most == 0 ||
		shared_bytes + SHARED_LEFT > limits.shared_bytes)
		return SL_OK;
	fewest = (tiles + tiles_most - 1) / tiles_most;
	*blocks = (uint32_t)(fewest > limits.multiprocessors ? fewest : limits.multiprocessors);
	return SL_OK;
}

template <class Rules, sl_column_set set>
static enum sl_status queue(const Rules *rules, uint64_t seed, const struct sl_batch *b,
	const struct sl_grid_set *grids, const struct sl_grid_set *device_grids, uint64_t *sums,
	uint64_t *alive, sl_stream s)
{
	const struct sl_collision_scores collisions = sl_collision_scores_of(grids);
	struct sl_even_scores<SL_SCORE_DEPOSIT> deposit;
	struct sl_even_scores<SL_SCORE_FLUENCE> fluence;
	struct sl_even_scores<SL_SCORE_COUNT> even;
	uint32_t blocks;
	const auto queue_in_blocks = [&](auto kernel, int block, const auto &scores) {
		return sl_launch("scored_in_blocks_kernel", kernel, blocks, (uint32_t)block,
			scores.n_counters * (uint32_t)sizeof(struct sl_block_counter), s, *rules,
			seed, b->first_id, b->active_set, b->columns, b->keep, scores, device_grids,
			sums, alive);
	};
	const auto queue_collisions = [&](const auto &scores) {
		using Collisions = std::remove_cvref_t<decltype(scores)>;

		return queue_in_blocks(scored_in_blocks_kernel<Rules, set, false, Collisions>,
			SHARED_BLOCK<false>, scores);
	};

	SL_TRY(find_blocks(b, max_steps(rules), grids, &blocks));
	if (blocks > 0 && grids->flights)
		return queue_in_blocks(
			scored_in_blocks_kernel<Rules, set, true, struct sl_collision_scores>,
			SHARED_BLOCK<true>, collisions);
	if (blocks > 0 && sl_even_scores_of(&collisions, &deposit))
		return queue_collisions(deposit);
	if (blocks > 0 && sl_even_scores_of(&collisions, &fluence))
		return queue_collisions(fluence);
	if (blocks > 0 && sl_even_scores_of(&collisions, &even))
		return queue_collisions(even);
	if (blocks > 0)
		return queue_collisions(collisions);
	return sl_launch("scored_kernel",
		grids->flights ? scored_kernel<Rules, set, true> : scored_kernel<Rules, set, false>,
		sl_grid(b->active_set.n, BLOCK), BLOCK, 0, s, *rules, seed, b->first_id,
		b->active_set, b->columns, b->keep, collisions, device_grids, sums, alive);
}

enum sl_status SL_NAME(sl_queue_scored)(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, const struct sl_grid_set *grids,
	const struct sl_grid_set *device_grids, uint64_t *sums, uint64_t *alive, sl_stream s)
{
	switch (model) {
#define MODEL(name)
#define SCORED_MODEL(name)                                                                   \
	case SL_MODEL_##name:                                                                \
		return queue<struct sl_##name, SL_STORED(SL_COLUMNS_##name)>(                \
			(const struct sl_##name *)rules, seed, b, grids, device_grids, sums, \
			alive, s);
#include "stages/models/models.def"
#undef MODEL
	default: /* without scores: the plan refuses them */
		return SL_OK;
	}
}
