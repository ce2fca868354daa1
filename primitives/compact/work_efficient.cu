/*
 * compact/work_efficient.cu - compaction as a scan of counts: one for 32 flags, not for each.
 *
 * A warp looks at 32 flags and votes: __ballot_sync makes a word of 32 bits of them. How many bits
 * of it are set is the count of these flags, and the counts alone are scanned. How many are set
 * below a lane's own is the number of survivors of the word that stand before it, so that
 *
 *	place of a survivor = survivors before its word + bits set below its own.
 *
 * (Harris and Garland, Optimizing parallel prefix operations for the Fermi architecture, 2012.)
 *
 * Over compact/naive: there is a thirty-second of the items to scan, by a scan whose additions grow
 * as n and not as n log n; and a flag is read once, after which it is a bit.
 *
 * Vote: reads 1 byte an item, writes 1/4. Scan: that of scan/work_efficient, unless the job names
 * another, of n / 32 items. Scatter: reads 1/4, writes 4 a survivor. Each column is scattered like
 * the indices: reads 1/4 and its items, of which sectors without a survivor are left alone.
 */
#include "items.h"
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

enum {
	WORD = 32, /* flags of a word, lanes of a warp */
	BLOCK_MOST = 1024
};

/* The number of this warp in the grid, and how many there are: the stride of its words. */
static __device__ __forceinline__ uint64_t warp_number(void)
{
	return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WORD;
}

static __device__ __forceinline__ uint64_t warp_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x / WORD;
}

/*
 * Each warp makes ITEMS words at a time, of flags that are loaded all at once: so many loads a lane
 * are in flight. Lane k writes word k. Flags behind n are votes of no. Blocks are whole warps.
 */
template <uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST) vote_kernel(
	const uint8_t *keep, uint64_t n, uint32_t *votes, uint32_t *count, uint64_t n_words)
{
	uint32_t lane = threadIdx.x % WORD;

	for (uint64_t w = warp_number() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
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
			votes[w + lane] = mine;
			count[w + lane] = (uint32_t)__popc(mine);
		}
	}
}

/* Lane k writes the survivor that is bit k of a word. Whoever has the last word knows the count. */
template <uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST) scatter_kernel(const uint32_t *votes,
	const uint32_t *place, uint64_t n_words, uint32_t *out, uint32_t *n_out)
{
	uint32_t lane = threadIdx.x % WORD, below = (1u << lane) - 1;

	for (uint64_t w = warp_number() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
		uint32_t word[ITEMS], before[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			word[k] = w + k < n_words ? votes[w + k] : 0;
			before[k] = w + k < n_words ? place[w + k] : 0;
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

/* Where no indices are wanted: one thread. */
static __global__ void count_kernel(
	const uint32_t *votes, const uint32_t *place, uint64_t n_words, uint32_t *n_out)
{
	*n_out = place[n_words - 1] + (uint32_t)__popc(votes[n_words - 1]);
}

/* The same for the items of a column. */
template <uint32_t ITEMS, class T>
static __global__ void __launch_bounds__(BLOCK_MOST) move_kernel(const uint32_t *votes,
	const uint32_t *place, uint64_t n_words, const T *__restrict__ from, T *__restrict__ to)
{
	uint32_t lane = threadIdx.x % WORD, below = (1u << lane) - 1;

	for (uint64_t w = warp_number() * ITEMS; w < n_words; w += warp_count() * ITEMS) {
		uint32_t word[ITEMS], before[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			word[k] = w + k < n_words ? votes[w + k] : 0;
			before[k] = w + k < n_words ? place[w + k] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			if (word[k] >> lane & 1)
				to[before[k] + (uint32_t)__popc(word[k] & below)] =
					from[(w + k) * WORD + lane];
	}
}

struct layout {
	uint32_t n_words;
	uint32_t *votes; /* n_words */
	uint32_t *place; /* n_words: survivors in a word, then how many stand before it */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n)
{
	struct layout l;

	l.n_words = (uint32_t)(((uint64_t)n + WORD - 1) / WORD);
	l.votes = (uint32_t *)sl_cut_items(a, l.n_words, sizeof(*l.votes));
	l.place = (uint32_t *)sl_cut_items(a, l.n_words, sizeof(*l.place));
	return l;
}

static const struct sl_backend *scan_of(const struct sl_choice *chosen)
{
	return chosen->backend ? chosen->backend : &SL_NAME(sl_scan_work_efficient);
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};
	struct sl_shape inner = {
		.n = lay_out(&a, most->n).n_words, .type = SL_U32, .tuning = most->scan.tuning};

	sl_cut(&a, sl_scratch(scan_of(&most->scan), &inner));
	return a.used;
}

/* Queues the scatter of a column. */
template <uint32_t ITEMS>
static enum sl_status move_column(
	struct layout l, uint32_t grid, const struct sl_exec *x, const struct sl_compact_column *c)
{
	uint32_t block = x->tuning.block;

	switch (c->bytes) {
#define X(item_bytes, type)                                                                      \
	case item_bytes:                                                                         \
		return SL_LAUNCH((move_kernel<ITEMS, type>), grid, block, 0, x->stream, l.votes, \
			l.place, l.n_words, (const type *)c->from, (type *)c->to);
		SL_COMPACT_ITEMS(X)
#undef X
	}
	return SL_OK;
}

template <uint32_t ITEMS>
static enum sl_status compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct layout l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {.in = l.place, .out = l.place, .n = l.n_words, .type = SL_U32};
	uint32_t block = x->tuning.block;
	uint32_t grid = sl_grid(job->n, block * ITEMS);

	SL_TRY(SL_LAUNCH(vote_kernel<ITEMS>, grid, block, 0, x->stream, job->keep, job->n, l.votes,
		l.place, l.n_words));
	inner.tuning = job->scan.tuning;
	SL_TRY(sl_scan(scan_of(&job->scan), &inner, &sum));
	if (job->out)
		SL_TRY(SL_LAUNCH(scatter_kernel<ITEMS>, grid, block, 0, x->stream, l.votes, l.place,
			l.n_words, job->out, job->n_out));
	else
		SL_TRY(SL_LAUNCH(
			count_kernel, 1, 1, 0, x->stream, l.votes, l.place, l.n_words, job->n_out));
	for (uint32_t k = 0; k < job->n_columns; k++)
		SL_TRY(move_column<ITEMS>(l, grid, x, &job->column[k]));
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	if (job->n == 0)
		return sl_fill(job->n_out, 0, sizeof(*job->n_out), x->stream);
	switch (x->tuning.items) {
	case 1:
		return compact<1>(x, job);
	case 2:
		return compact<2>(x, job);
	case 4:
		return compact<4>(x, job);
	default:
		return compact<8>(x, job);
	}
}

const struct sl_backend SL_NAME(sl_compact_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "warps vote, and their counts are scanned by the work-efficient scan, or any other",
	.uses_scan = true,
	/* loads of one byte a lane: all that can be in flight are needed */
	.tunable = {.block = 256,
		.block_step = WORD,
		.block_most = BLOCK_MOST,
		.items = 8,
		.items_can = {1, 2, 4, 8}},
	.scratch = scratch,
	.compact = run,
};
