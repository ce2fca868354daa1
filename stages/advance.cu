/*
 * advance.cu - stage advance on a device, one thread per particle.
 *
 * A particle stays in registers for all its flights; its columns are read and written once. A warp
 * runs as long as the longest of its histories, or at most the steps of a round. Compiled for each
 * model.
 */
#include "primitives/kernel/item_loops.cuh"
#include "stages/batch/batch.h"
#include "stages/counting/sums.cuh"
#include "stages/models/rules.h"

/* Models that are recomputed take few registers, and need many threads while loads are under way. */
enum { BLOCK = 256, BLOCKS_PER_MULTIPROCESSOR = SL_MODEL_FACT(RECOMPUTED) ? 6 : 1 };

static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR)
	advance_kernel(sl_rules rules, uint64_t seed, const uint64_t *first_id,
		struct sl_active_set l, struct sl_columns batch, uint8_t *keep, uint64_t *alive)
{
	const sl_column_set set = SL_STORED(SL_MODEL_FACT(COLUMNS));
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, active_set[1] = {};

	if (i < l.n) {
		struct sl_particle p = sl_active_set_load(&l, set, *first_id, (uint32_t)i);

		if (p.fate == SL_FATE_alive) {
			SL_OF_MODEL(advance)(&rules, SL_EVERY_COLUMN, seed, &p, l.steps);
			active_set[0] = sl_active_set_store(&l, set, &batch, (uint32_t)i, &p);
		}
		if (alive)
			keep[i] = (uint8_t)active_set[0];
	}
	if (alive)
		sl_block_add<sl_words_of<1>>(active_set, alive);
}

/* --- filters ---------------------------------------------------------------------------------- */

/* Raises *to to the largest of the values of all threads of a warp, which mostly is below it. */
static __device__ __forceinline__ void warp_max(uint32_t value, uint64_t *to)
{
	for (uint32_t by = 16; by > 0; by /= 2) {
		uint32_t other = __shfl_down_sync(SL_LANES, value, by);

		value = other > value ? other : value;
	}
	if (threadIdx.x % 32 == 0 && value > sl_load_relaxed(to))
		atomicMax((unsigned long long *)to, (unsigned long long)value);
}

/*
 * A step of all particles of a filter, and the largest values of log weight and moments. A thread
 * takes several particles, because the largest values of all threads cost more than a step.
 */
template <uint32_t MOMENTS>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR) filter_step_kernel(
	sl_rules rules, uint64_t seed, const uint64_t *first_id, struct sl_active_set l)
{
	const sl_column_set set = SL_STORED(SL_MODEL_FACT(COLUMNS)) & ~l.zero;
	uint32_t peak = 0, magnitude[MOMENTS] = {};
	sl_column_set unloaded = SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_fate);

	sl_trigger_next();
	sl_wait_for_previous();
	if (!l.peaks.resampled || *l.peaks.resampled != 0)
		unloaded |= SL_BIT(SL_COLUMN_log_weight);
	sl_for_items(l.n, [&](uint64_t i) {
		struct sl_particle p =
			sl_active_set_load(&l, set & ~unloaded, *first_id, (uint32_t)i);
		uint32_t order;

		p.steps += l.taken;
		SL_OF_MODEL(advance)(&rules, SL_EVERY_COLUMN, seed, &p, 1);
		sl_store(&l.columns, set & ~l.unstored, i, &p);
		order = sl_filter_order(p.log_weight);
		peak = order > peak ? order : peak;
		SL_UNROLL
		for (uint32_t k = 0; k < MOMENTS; k++) {
			const float *moment = l.peaks.moment[k];
			uint32_t most = moment ? sl_filter_magnitude(moment[i]) : 0;

			magnitude[k] = most > magnitude[k] ? most : magnitude[k];
		}
	});
	warp_max(peak, l.peaks.peak);
	SL_UNROLL
	for (uint32_t k = 0; k < MOMENTS; k++)
		if (l.peaks.moment[k])
			warp_max(magnitude[k], l.peaks.magnitude + k);
}

template <uint32_t MOMENTS>
static enum sl_status queue_filter_step(
	const void *rules, uint64_t seed, const struct sl_batch *b, sl_stream s)
{
	struct sl_limits limits;
	uint32_t blocks = sl_grid(b->n, BLOCK), most;

	SL_TRY(sl_device_limits(&limits));
	most = BLOCKS_PER_MULTIPROCESSOR * limits.multiprocessors;
	return sl_launch_as(SL_QUOTED(SL_MODEL_NAME) "_kernel", filter_step_kernel<MOMENTS>,
		blocks <= most, blocks < most ? blocks : most, BLOCK, 0, s,
		*(const sl_rules *)rules, seed, b->first_id_on_device, b->active_set);
}

/* filters: the model has log weights. */
template <bool filters>
static enum sl_status queue_advance(
	const void *rules, uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s)
{
	if constexpr (filters) {
		if (b->active_set.peaks.moment[1])
			return queue_filter_step<SL_FILTER_MOMENTS_MAX>(rules, seed, b, s);
		if (b->active_set.peaks.peak)
			return queue_filter_step<1>(rules, seed, b, s);
	}
	return sl_launch(SL_QUOTED(SL_MODEL_NAME) "_kernel", advance_kernel,
		sl_grid(b->active_set.n, BLOCK), BLOCK, 0, s, *(const sl_rules *)rules, seed,
		b->first_id_on_device, b->active_set, b->columns, b->keep, alive);
}

enum sl_status SL_RULE_KERNEL(advance)(
	const void *rules, uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s)
{
	return queue_advance<SL_HAS(SL_MODEL_FACT(COLUMNS), SL_COLUMN_log_weight) != 0>(
		rules, seed, b, alive, s);
}
