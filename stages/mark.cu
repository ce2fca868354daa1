/*
 * mark.cu - stage mark on a device: derived columns, final fates, keep flags and the tally.
 *
 * A thread processes particles in strides of the grid and counts them in registers; sums.cuh adds
 * the counts of all threads. Each fate takes one register for its count, and four for the sums of
 * its weights and of their squares where weights differ.
 *
 * Memory traffic: reads fate, weight, steps and collisions and writes the flag, at most 14 bytes
 * per particle.
 */
#include "stages/mark.h"

#include "primitives/kernel/kernel.cuh"
#include "stages/counting/sums.cuh"

enum {
	BLOCK = 256,
	EACH = 16,         /* particles per thread, at least, to amortise the sum over a block */
	BLOCKS_MOST = 1024 /* about eight per multiprocessor on the largest devices */
};

/* Of whatever model: every fate, but for dropped where nothing is asked; every column. */
template <bool checks>
static constexpr sl_fate_set fates = SL_EVERY_FATE & ~(checks ? 0 : SL_FATE_BIT(SL_FATE_dropped));

/*
 * Blocks per multiprocessor: threads wait for their loads most of the time, so many of them are
 * wanted. The compiler may use 40 registers, 48 or 128: as few as it can without spills.
 */
template <bool checks, bool weighted>
static constexpr int BLOCKS_PER_MULTIPROCESSOR = weighted ? 2
                                                 : checks ? 5
                                                          : 6;

struct mark_job {
	struct sl_columns c;
	const uint64_t *first_id;
	uint32_t n;
	sl_fate_set keep;
	uint64_t common_weight;
	float weight_scale, square_scale;
	struct sl_program condition;
	uint8_t *flag;
	uint64_t *sum;
};

/*
 * Compiled with and without a condition and different weights, so that runs without them do not pay
 * for them.
 */
template <bool checks, bool weighted>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR<checks, weighted>)
	mark_kernel(struct mark_job job)
{
	const struct sl_columns &c = job.c;
	union sl_tally_words mine = {};
	uint32_t count[SL_FATE_COUNT] = {}; /* a thread has less than 2^32 particles */
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.n;
		i += threads) {
		uint8_t fate = c.fate[i];

		if (checks) {
			fate = sl_condition_fate(&job.condition, &c, i, *job.first_id + i, fate);
			c.fate[i] = fate;
		}
		/* a fate that does not exist (the memory is damaged) is not counted */
		job.flag[i] = fate < SL_FATE_COUNT && sl_has_fate(job.keep, fate);
		sl_tally_add(count, fates<checks>, fate, 1);
		if (weighted) {
			sl_tally_add(mine.t.weight, fates<checks>, fate,
				sl_fixed_weight(c.weight[i] * job.weight_scale));
			sl_tally_add(mine.t.square, fates<checks>, fate,
				sl_fixed_square(c.weight[i] * job.square_scale));
		}
		mine.t.steps += c.steps ? c.steps[i] : 0;
		mine.t.collisions += c.collisions ? c.collisions[i] : 0;
	}
	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		mine.t.count[f] = count[f];
		if (!weighted)
			mine.t.weight[f] = count[f] * job.common_weight;
	}
	sl_block_add<sl_tally_used<fates<checks>, SL_EVERY_COLUMN, weighted>>(mine.word, job.sum);
}

/*
 * One thread per particle. Memory traffic: reads the columns of the program, writes the derived
 * ones.
 */
static __global__ void derive_kernel(
	struct sl_program derivation, struct sl_columns c, const uint64_t *first_id, uint32_t n)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sl_derive(&derivation, &c, i, c.id ? c.id[i] : (first_id ? *first_id : 0) + i);
}

enum sl_status SL_NAME(sl_queue_derive)(const struct sl_program *derivation,
	const struct sl_columns *c, const uint64_t *first_id, uint32_t n, sl_stream s)
{
	return SL_LAUNCH(
		derive_kernel, sl_grid(n, BLOCK), BLOCK, 0, s, *derivation, *c, first_id, n);
}

enum sl_status SL_NAME(sl_queue_mark)(sl_fate_set keep, const struct sl_program *condition,
	uint64_t common_weight, float weight_scale, float square_scale, const struct sl_batch *b,
	struct sl_tally *tally, sl_stream s)
{
	uint32_t blocks = sl_grid(b->n, BLOCK * EACH);
	struct mark_job job = {.c = b->columns,
		.first_id = b->first_id_on_device,
		.n = b->n,
		.keep = keep,
		.common_weight = common_weight,
		.weight_scale = weight_scale,
		.square_scale = square_scale,
		.condition = *condition,
		.flag = b->keep,
		.sum = (uint64_t *)tally};

	blocks = blocks < BLOCKS_MOST ? blocks : (uint32_t)BLOCKS_MOST;
	if (condition->n > 0 && square_scale > 0)
		return SL_LAUNCH((mark_kernel<true, true>), blocks, BLOCK, 0, s, job);
	if (condition->n > 0)
		return SL_LAUNCH((mark_kernel<true, false>), blocks, BLOCK, 0, s, job);
	if (square_scale > 0)
		return SL_LAUNCH((mark_kernel<false, true>), blocks, BLOCK, 0, s, job);
	return SL_LAUNCH((mark_kernel<false, false>), blocks, BLOCK, 0, s, job);
}
