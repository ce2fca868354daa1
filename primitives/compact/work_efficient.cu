/*
 * compact/work_efficient.cu - stream compaction by scan of counts: one count per 32 flags instead
 * of one per flag.
 *
 * Second of the device backends naive -> work_efficient -> tiled -> shared. A warp reads 32 flags
 * and __ballot_sync() turns them into one 32-bit word. The population count of the word is the
 * number of its survivors; only these counts are scanned. The position of a survivor is
 *
 *	survivors before its word + bits set below its own bit.
 *
 * (Harris and Garland, Optimizing parallel prefix operations for the Fermi architecture, 2012.)
 *
 * Against naive: n / 32 items to scan instead of n, by a scan with O(n) instead of O(n log n)
 * additions; and each flag byte is read once, after which it is one bit.
 *
 * Memory per item: the ballot reads 1 byte and writes 1/4; the scan (scan/work_efficient, unless
 * the job names another) handles n / 32 items; the scatter reads 1/4 and writes 4 per survivor.
 * Each column reads 1/4 and the sectors that contain a survivor.
 *
 * Launches: 2, those of the scan, and 1 per column. Scratch: n / 16 words, and the scratch of the
 * scan. Limits: n < 2^32; block is a multiple of 32 up to 1024.
 */
#include "items.h"
#include "primitives/count.cuh"
#include "primitives/scan/scan.h"

enum {
	WORD = 32, /* flags per word, lanes per warp */
	BLOCK_MAX = 1024
};

/* Index of this warp in the grid. */
static __device__ __forceinline__ uint64_t warp_index(void)
{
	return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WORD;
}

/* Warps in the grid: the stride of the loops. */
static __device__ __forceinline__ uint64_t warp_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x / WORD;
}

/*
 * Each warp builds ITEMS words per step. It loads all their flags first, so that ITEMS loads per
 * lane are in flight; lane k then stores word k and its count. Flags past the last count as 0.
 * Blocks are whole warps.
 */
template <uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX) ballot_kernel(const uint8_t *keep,
	struct sl_count flags, uint32_t *ballots, uint32_t *count, uint64_t n_words)
{
	uint64_t n = sl_count_read(flags);
	uint32_t lane = threadIdx.x % WORD;

	for (uint64_t w = warp_index() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
		uint32_t flag[ITEMS], mine = 0;

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint64_t i = (w + k) * WORD + lane;

			flag[k] = i < n ? keep[i] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint32_t word = __ballot_sync(SL_LANES, flag[k] != 0);

			mine = lane == k ? word : mine;
		}
		if (lane < ITEMS && w + lane < n_words) {
			ballots[w + lane] = mine;
			count[w + lane] = (uint32_t)__popc(mine);
		}
	}
}

/*
 * Lane k writes the survivor of bit k of each word. The warp with the last word writes the count.
 */
template <uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX) scatter_kernel(const uint32_t *ballots,
	const uint32_t *position, uint64_t n_words, uint32_t *out, uint32_t *n_out)
{
	uint32_t lane = threadIdx.x % WORD, below = (1u << lane) - 1;

	for (uint64_t w = warp_index() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
		uint32_t word[ITEMS], before[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			word[k] = w + k < n_words ? ballots[w + k] : 0;
			before[k] = w + k < n_words ? position[w + k] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint32_t i = (uint32_t)((w + k) * WORD + lane);

			if (word[k] >> lane & 1)
				out[before[k] + (uint32_t)__popc(word[k] & below)] = i;
			if (w + k == n_words - 1 && lane == 0)
				*n_out = before[k] + (uint32_t)__popc(word[k]);
		}
	}
}

/* The count alone, for jobs that want no indices; one thread. */
static __global__ void count_kernel(
	const uint32_t *ballots, const uint32_t *position, uint64_t n_words, uint32_t *n_out)
{
	*n_out = position[n_words - 1] + (uint32_t)__popc(ballots[n_words - 1]);
}

/* As scatter_kernel(), for the items of a column. A lane without a survivor loads nothing. */
template <uint32_t ITEMS, class T>
static __global__ void __launch_bounds__(BLOCK_MAX) scatter_column_kernel(const uint32_t *ballots,
	const uint32_t *position, uint64_t n_words, const T *__restrict__ from, T *__restrict__ to)
{
	uint32_t lane = threadIdx.x % WORD, below = (1u << lane) - 1;

	for (uint64_t w = warp_index() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
		uint32_t word[ITEMS], before[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			word[k] = w + k < n_words ? ballots[w + k] : 0;
			before[k] = w + k < n_words ? position[w + k] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			if (word[k] >> lane & 1)
				to[before[k] + (uint32_t)__popc(word[k] & below)] =
					from[(w + k) * WORD + lane];
	}
}

/* Scratch of one call. */
struct compact_work_efficient_scratch {
	uint32_t n_words;
	uint32_t *ballots;  /* n_words; bit k of word w: flag 32 w + k */
	uint32_t *position; /* n_words; the count of a word, then the survivors before it */
};

static struct compact_work_efficient_scratch lay_out(struct sl_arena *a, uint32_t n)
{
	struct compact_work_efficient_scratch l;

	l.n_words = (uint32_t)(((uint64_t)n + WORD - 1) / WORD);
	l.ballots = (uint32_t *)sl_cut_items(a, l.n_words, sizeof(*l.ballots));
	l.position = (uint32_t *)sl_cut_items(a, l.n_words, sizeof(*l.position));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_inner_scan_cut(
		&a, &shape->scan, &SL_NAME(sl_scan_work_efficient), lay_out(&a, shape->n).n_words);
	return a.used;
}

/* Queues the scatter of one column. */
template <uint32_t ITEMS>
static enum sl_status scatter_column(struct compact_work_efficient_scratch l, uint32_t grid,
	const struct sl_exec *x, const struct sl_compact_column *c)
{
	uint32_t block = x->tuning.block;

	switch (c->bytes) {
#define X(item_bytes, type)                                                                       \
	case item_bytes:                                                                          \
		return SL_LAUNCH((scatter_column_kernel<ITEMS, type>), grid, block, 0, x->stream, \
			l.ballots, l.position, l.n_words, (const type *)c->from, (type *)c->to);
		SL_COMPACT_ITEMS(X)
#undef X
	}
	return SL_OK;
}

/*
 * Queues ballot, scan and scatters on the stream. The scan works in place on the positions, with
 * the rest of the arena as its scratch.
 */
template <uint32_t ITEMS>
static enum sl_status compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct compact_work_efficient_scratch l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {
		.in = l.position, .out = l.position, .n = l.n_words, .type = SL_U32};
	uint32_t block = x->tuning.block;
	uint32_t grid = sl_grid(job->n, block * ITEMS);

	SL_TRY(SL_LAUNCH(ballot_kernel<ITEMS>, grid, block, 0, x->stream, job->keep,
		sl_count_of(job), l.ballots, l.position, l.n_words));
	SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_work_efficient), &sum));
	if (job->out)
		SL_TRY(SL_LAUNCH(scatter_kernel<ITEMS>, grid, block, 0, x->stream, l.ballots,
			l.position, l.n_words, job->out, job->n_out));
	else
		SL_TRY(SL_LAUNCH(count_kernel, 1, 1, 0, x->stream, l.ballots, l.position, l.n_words,
			job->n_out));
	for (uint32_t k = 0; k < job->n_columns; k++)
		SL_TRY(scatter_column<ITEMS>(l, grid, x, &job->column[k]));
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	return sl_with_items<1, 2, 4, 8>(
		x->tuning.items, [=](auto items) { return compact<items>(x, job); });
}

const struct sl_backend SL_NAME(sl_compact_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "warp ballots, scan of a count per 32 flags, scatter; scan/work_efficient unless "
		"the job names another scan",
	.uses_scan = true,
	/* each lane loads single bytes: as many loads in flight as possible */
	.tunable = {.block = 256,
		.block_step = WORD,
		.block_most = BLOCK_MAX,
		.items = 8,
		.items_can = {1, 2, 4, 8}},
	.takes_n_on_device = true,
	.scratch = scratch,
	.compact = run,
};
