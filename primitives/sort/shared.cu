/*
 * sort/shared.cu - radix sort with 8-bit digits, one pass over the pairs per digit: Onesweep with a
 * table of digit offsets instead of look-back.
 *
 * Last of the device backends naive -> work_efficient -> tiled -> shared. One read of the keys
 * takes the digit histograms of all passes (digit_histogram.cuh). Each pass is then one kernel. A
 * block takes a tile, counts its digits and publishes the counts; ranks the keys within the tile
 * and thereby sorts it in shared memory (tile_sort.cuh); reads the global offset of each digit from
 * the table (digit_offset_table.cuh); and writes the sorted tile, one contiguous run per digit. The
 * keys of its next tile are loaded while it writes (onesweep_pass.cuh). (Adinets and Merrill,
 * Onesweep: A faster least significant digit radix sort for GPUs, 2022.)
 *
 * Against work_efficient: twice as many bits per pass; no separate read of the keys for counting,
 * no scan of a table between kernels, because tiles publish their counts while the pass runs; and
 * the tile is written in 256 runs, so that one or two warps write each cache line.
 *
 * Memory: 4 bytes per pair of u32 keys for the histograms and 16 per pass, 68 for 32 bits; keys
 * only 4 and 8, 36 for 32 bits. On an H200: 2^27 u32 pairs 3.42 ms, 1.09 times the speed of CUB
 * 3.0.1; keys only 2.55 ms, 1.25 times. Barriers between the steps of a tile limit it: one block
 * per multiprocessor, 30 % of the issue slots used, DRAM at 50 %.
 *
 * For keys only, this file chooses the tile and ignores the tuning. Up to 4096 items are sorted by
 * all digits in one block, in one launch.
 *
 * Scratch: a second buffer of n pairs, two tables of 2 KiB per tile, the histograms. Limits: n <
 * 2^32; block 256 or 512; items per thread 4, 8, 16, 24 or 32, as shared memory allows.
 */
#include "onesweep_pass.cuh"

/* --- few items -------------------------------------------------------------------------------- */

enum { SINGLE_BLOCK = BLOCK_MAX, SINGLE_ITEMS = 8, SINGLE_TILE_MAX = SINGLE_BLOCK * SINGLE_ITEMS };

/* Arguments of the kernel for up to SINGLE_TILE_MAX pairs, by value. */
template <typename K> struct single_tile {
	struct pairs<K> from, to;
	struct sl_count n;
	uint32_t begin_bit, end_bit;
};

template <typename K, bool INDEXED>
using single_tile_memory = tile_memory<K, INDEXED, SINGLE_BLOCK, SINGLE_ITEMS>;

/* One block sorts by all digits; the tile stays in registers and shared memory between passes. */
template <typename K, bool INDEXED>
static __global__ void __launch_bounds__(SINGLE_BLOCK, 1)
	single_tile_kernel(struct single_tile<K> p)
{
	using memory = single_tile_memory<K, INDEXED>;
	SL_SHARED_DYNAMIC(memory, s);
	const struct warp_striped<false> r(SINGLE_ITEMS, sl_count_read(p.n));
	uint32_t *s_count = s->count[warp_index()], index[SINGLE_ITEMS];
	K key[SINGLE_ITEMS];

	r.load(p.from.key, key);
	if (INDEXED)
		r.load(p.from.index, index);
	for (uint32_t bit = p.begin_bit; bit < p.end_bit; bit += DIGIT_BITS) {
		struct digit_field d = digit_at(bit, p.end_bit, DIGIT_BITS);
		tile_ranks<SINGLE_ITEMS> ranks;

		clear_counts(s_count);
		count_digits(r, key, d, s_count);
		__syncthreads();
		scan_warp_counts(nullptr, 0, s);
		__syncthreads();
		ranks = rank_keys(r, key, d, s_count);
		scatter_to_shared(r, key, ranks, s->key);
		if (INDEXED)
			scatter_to_shared(r, index, ranks, s->index);
		__syncthreads();
		r.load(s->key, key);
		if (INDEXED)
			r.load(s->index, index);
	}
	if (!INDEXED || p.to.key)
		r.store(key, p.to.key);
	if (INDEXED)
		r.store(index, p.to.index);
}

/* Output of the last pass: without keys if only the index is wanted. */
template <typename K>
static struct pairs<K> last_pass_output(const struct sl_sort_job *job, struct pairs<K> to) {
	return {job->key_spent && job->index ? nullptr : to.key, to.index};
}

/* Queues the sort of up to SINGLE_TILE_MAX items: one launch. */
template <typename K>
static enum sl_status sort_single_tile(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct single_tile<K> p = {
		{(K *)job->key, job->index}, last_pass_output(job, output_of<K>(job)),
			sl_count_of(job), job->begin_bit, job->end_bit
	};

	if (job->index)
		return SL_LAUNCH((single_tile_kernel<K, true>), 1, SINGLE_BLOCK,
			sizeof(single_tile_memory<K, true>), x->stream, p);
	return SL_LAUNCH((single_tile_kernel<K, false>), 1, SINGLE_BLOCK,
		sizeof(single_tile_memory<K, false>), x->stream, p);
}

/* --- tiles ------------------------------------------------------------------------------------ */

/* Compiled tiles for pairs: threads per block, items per thread. */
#define TILES(X)  \
	X(256, 4) \
	X(256, 8) \
	X(256, 16) X(256, 24) X(256, 32) X(512, 4) X(512, 8) X(512, 16) X(512, 24) X(512, 32)

/* Compiled tiles for keys only, in blocks of KEYS_BLOCK threads: type, items per thread. */
#define KEY_TILES(X)    \
	X(uint32_t, 32) \
	X(uint32_t, 16) X(uint32_t, 8) X(uint64_t, 24) X(uint64_t, 16) X(uint64_t, 8)

enum { DEFAULT_BLOCK = 512, KEYS_BLOCK = 512, DEFAULT_ITEMS = 32, BLOCK_MIN = 256, ITEMS_MIN = 4 };

/* What is sorted. */
struct sort_kind {
	enum sl_type type;
	bool keys_only;
};

template <typename K> using pass_function = void (*)(struct onesweep_pass<K> p);

/* The compiled kernel for a tuning. */
template <typename K>
static pass_function<K> pass_kernel_of(struct sl_tuning tuning, bool keys_only)
{
#define X(block_, items_)                                                   \
	if (!keys_only && tuning.block == block_ && tuning.items == items_) \
		return pass_kernel<K, true, block_, items_>;
	TILES(X)
#undef X
#define X(type_, items_)                                 \
	if constexpr (sizeof(K) == sizeof(type_))        \
		if (keys_only && tuning.items == items_) \
			return pass_kernel<K, false, KEYS_BLOCK, items_>;
	KEY_TILES(X)
#undef X
	return nullptr;
}

/* Dynamic shared memory of a block; 0 for a combination that is not compiled. */
static size_t block_bytes(struct sl_tuning tuning, struct sort_kind kind)
{
	size_t key_bytes = sl_type_bytes(kind.type);

#define X(block_, items_)                                                                   \
	if (!kind.keys_only && tuning.block == block_ && tuning.items == items_)            \
		return key_bytes == sizeof(uint32_t)                                        \
		               ? sizeof(struct tile_memory<uint32_t, true, block_, items_>) \
		               : sizeof(struct tile_memory<uint64_t, true, block_, items_>);
	TILES(X)
#undef X
#define X(type_, items_)                                                            \
	if (kind.keys_only && key_bytes == sizeof(type_) && tuning.items == items_) \
		return sizeof(struct tile_memory<type_, false, KEYS_BLOCK, items_>);
	KEY_TILES(X)
#undef X
	return 0;
}

/* True if the tuning is the default, which choose() may replace. */
static bool is_default(struct sl_tuning tuning)
{
	return tuning.block == DEFAULT_BLOCK && tuning.items == DEFAULT_ITEMS;
}

/*
 * The default stands for the whole range of choose(), so only its smallest tile must fit the
 * device.
 */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	const struct sl_tuning least = {BLOCK_MIN, ITEMS_MIN};

	return block_bytes(is_default(tuning) ? least : tuning, {type, false});
}

/*
 * Items per thread that choose() tries for [pairs, keys only][u32, u64], from many items to few; 0
 * ends a list.
 */
static constexpr uint32_t default_items[2][2][6] = {
	{{DEFAULT_ITEMS, 24, 16, 8, ITEMS_MIN}, {24, 16, 8, ITEMS_MIN}},
	{{32, 16, 8}, {24, 16, 8}},
};

/*
 * Replaces the default tuning: the largest tile that shared memory has room for, as long as there
 * is one tile for every third multiprocessor. On an H200 16384 u32 keys are best: a digit's run of
 * 64 keys fills two cache lines.
 */
static struct sl_tuning choose(
	struct sl_tuning tuning, uint32_t n, struct sort_kind kind, const struct sl_limits *limits)
{
	if (!kind.keys_only && !is_default(tuning))
		return tuning;
	tuning.block = kind.keys_only ? KEYS_BLOCK : DEFAULT_BLOCK;
	for (uint32_t items : default_items[kind.keys_only][kind.type]) {
		if (items == 0)
			break;
		tuning.items = items;
		if (block_bytes(tuning, kind) <= limits->shared_bytes &&
			3 * (uint64_t)n >= (uint64_t)tuning.block * items * limits->multiprocessors)
			return tuning;
	}
	if (block_bytes(tuning, kind) > limits->shared_bytes)
		tuning.block = BLOCK_MIN;
	return tuning;
}

/* --- host ------------------------------------------------------------------------------------- */

/* Words that must be 0 before the first pass. */
struct counters {
	uint32_t ticket[PASSES_MAX];
	uint32_t digit[PASSES_MAX][DIGITS];
};

/* Scratch of one call. */
struct sort_shared_scratch {
	struct pair_buffer other;
	struct counters *counters;
	uint32_t *table[2];  /* the first one directly after the counters */
	size_t zeroed_bytes; /* the counters and the first table, cleared together */
};

/* Cuts or measures the scratch of a sort of n items in so many tiles. */
static struct sort_shared_scratch lay_out(
	struct sl_arena *a, uint32_t n, struct sort_kind kind, uint32_t tiles)
{
	struct sort_shared_scratch l;

	l.zeroed_bytes = sizeof(*l.counters) + table_words(tiles) * sizeof(*l.table[0]);
	l.other = cut_pair_buffer(a, n, kind.type, kind.keys_only);
	l.counters = (struct counters *)sl_cut(a, l.zeroed_bytes);
	l.table[0] = l.counters ? (uint32_t *)(l.counters + 1) : nullptr;
	l.table[1] = (uint32_t *)sl_cut_items(a, table_words(tiles), sizeof(*l.table[1]));
	return l;
}

/* Tiles of n items. */
static uint32_t tiles_for(uint32_t n, struct sl_tuning tuning)
{
	return (uint32_t)sl_ceil_div(n, (uint64_t)tuning.block * tuning.items);
}

/*
 * The scratch of the largest job is also enough for smaller ones: these may have smaller tiles, but
 * then less than two per multiprocessor, because choose() would otherwise take larger tiles.
 */
static size_t scratch(const struct sl_shape *shape)
{
	const struct sort_kind kind = {shape->type, shape->keys_only};
	struct sl_limits limits = {};
	struct sl_arena a = {};
	uint32_t tiles;

	if (sl_device_limits(&limits) != SL_OK)
		limits.multiprocessors = 1; /* no device: no call can run */
	tiles = tiles_for(shape->n, choose(shape->tuning, shape->n, kind, &limits));
	if ((kind.keys_only || is_default(shape->tuning)) && tiles < 2 * limits.multiprocessors)
		tiles = 2 * limits.multiprocessors;
	lay_out(&a, shape->n, kind, tiles);
	return a.used;
}

/*
 * Blocks of a pass: two small tiles fit on a multiprocessor; with large tiles the excess blocks
 * find none and return.
 */
static uint32_t blocks_for(uint32_t tiles, const struct sl_limits *limits)
{
	uint32_t most = 2 * limits->multiprocessors;

	return tiles + 1 < most ? tiles + 1 : most;
}

/*
 * True if passes are launched early, so that a pass's launch overlaps with the previous pass. With
 * many tiles this costs more than it hides: 5 % of 2^27 pairs on an H200.
 */
static bool is_early(uint32_t tiles, const struct sl_limits *limits)
{
	return tiles < 2 * limits->multiprocessors;
}

/* True if the default tuning may sort the job in a single tile. */
template <typename K>
static bool is_single_tile(
	const struct sl_sort_job *job, struct sl_tuning tuning, const struct sl_limits *limits)
{
	return (!job->index || is_default(tuning)) && job->n <= SINGLE_TILE_MAX &&
	       sizeof(single_tile_memory<K, true>) <= limits->shared_bytes;
}

/* Queues the clearing of counters and first table, the histograms, and one kernel per pass. */
template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct sort_kind kind = {job->type, !job->index};
	struct sl_arena a = x->scratch;
	struct sl_limits limits;
	struct sl_tuning tuning;
	struct sort_shared_scratch l;
	uint32_t tiles;

	SL_TRY(sl_device_limits(&limits));
	if (is_single_tile<K>(job, x->tuning, &limits))
		return sort_single_tile<K>(x, job);
	tuning = choose(x->tuning, job->n, kind, &limits);
	tiles = tiles_for(job->n, tuning);
	l = lay_out(&a, job->n, kind, tiles);
	SL_TRY(sl_fill(l.counters, 0, l.zeroed_bytes, x->stream));
	if (job->begin_bit < job->end_bit)
		SL_TRY(count_all_digits<K>(x, job, l.counters->digit));
	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t number, struct digit_field d, struct pairs<K> from,
			struct pairs<K> to) {
			uint32_t *own = l.table[number % 2];
			const struct digit_offset_table table = {own, own + table_words(tiles) / 2,
				l.table[1 - number % 2], l.counters->digit[number], tiles};
			const bool last = number + 1 == passes_of(job, DIGIT_BITS);
			const struct onesweep_pass<K> p = {
				from, last ? last_pass_output(job, to) : to,
					sl_count_of(job), d, table, &l.counters->ticket[number]
			};

			return sl_launch_as("pass_kernel",
				pass_kernel_of<K>(tuning, kind.keys_only), is_early(tiles, &limits),
				blocks_for(tiles, &limits), tuning.block, block_bytes(tuning, kind),
				x->stream, p);
		});
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_sort_shared) = {
	.name = "shared",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "Onesweep: 8 bits per pass, one read and one write of the pairs per pass",
	.tunable = {.block = DEFAULT_BLOCK,
		.block_step = BLOCK_MIN,
		.block_most = BLOCK_MAX,
		.items = DEFAULT_ITEMS,
		.items_can = {4, 8, 16, 24, 32},
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.sort = run,
};
