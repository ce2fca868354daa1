/*
 * sort/shared.cu - radix sort by digits of 8 bits, each moved in one pass: Onesweep, with a book.
 *
 * One read of the keys tells how many have each digit, in every pass. Then a pass is one kernel: a
 * block takes a tile, counts its digits and writes the counts in the book; ranks the keys in the
 * tile, which sorts it in shared memory; reads from the book (book.cuh) how many keys of each digit
 * the tiles before it have; and writes the sorted tile out, each digit a run. The keys of its next
 * tile are on their way while it writes. (Adinets and Merrill, Onesweep: a faster least significant
 * digit radix sort for GPUs, 2022.)
 *
 * Moves 4 bytes a pair of u32 keys, then 16 a pass: 68 for 32 bits. Keys alone move 8 a pass, 36.
 * They are sorted in tiles of this file's own choice, whatever the tuning. Few keys, of one tile,
 * are sorted by all digits in one block's shared memory.
 *
 * What it changes over work_efficient: twice the bits a pass; no read of the keys just to count
 * them, no table and no scan of it, as tiles pass their counts on while they move; and writes that
 * leave the block in 256 runs, so that a line of memory is written by one or two warps.
 */
#include "tile.cuh"

/* What a pass is told. */
template <typename K> struct pass {
	struct pairs<K> from, to; /* to.key is NULL where the index alone is wanted */
	uint64_t n;
	struct digit_place digit;
	struct book book;
	uint32_t *ticket; /* the book and tiles that have been taken */
};

/* The sorted tile goes out, n pairs of it if it is not FULL. */
template <bool FULL, typename K, bool INDEXED, int BLOCK, int ITEMS>
static __device__ __forceinline__ void write_tile(
	const struct pass<K> &p, uint32_t n, const struct tile_memory<K, INDEXED, BLOCK, ITEMS> *s)
{
	SL_UNROLL
	for (int i = 0; i < ITEMS; i++) {
		uint32_t at = threadIdx.x + (uint32_t)i * BLOCK;

		if (FULL || at < n) {
			K key = s->key[at];
			uint32_t to = s->to[digit_in(key, p.digit)] + at;

			if (!INDEXED || p.to.key)
				p.to.key[to] = key;
			if (INDEXED)
				p.to.index[to] = s->index[at];
		}
	}
}

/* The keys of a tile, if there is such a tile. */
template <int BLOCK, typename K, int ITEMS>
static __device__ __forceinline__ void load_keys(
	const struct pass<K> &p, uint32_t tile, K (&key)[ITEMS])
{
	uint32_t items = BLOCK * ITEMS;
	uint64_t first = (uint64_t)tile * items, left = first < p.n ? p.n - first : 0;

	if (left >= items)
		rows<true>(ITEMS, items).load(p.from.key + first, key);
	else
		rows<false>(ITEMS, (uint32_t)left).load(p.from.key + first, key);
}

/*
 * Sorts tile, of n pairs if it is not FULL, whose keys are loaded and whose counters are 0. Gives
 * the next tile that the block has taken, with its keys.
 */
template <bool FULL, typename K, bool INDEXED, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t sort_tile(const struct pass<K> &p, uint32_t tile,
	uint32_t n, K (&key)[ITEMS], struct tile_memory<K, INDEXED, BLOCK, ITEMS> *s)
{
	const struct rows<FULL> r(ITEMS, n);
	uint32_t *s_count = s->count[warp_number()];
	uint32_t index[INDEXED ? ITEMS : 1], start, asked = 0, next;
	const struct digit_place d = p.digit;
	tile_ranks<ITEMS> ranks = {};

	count_digits(r, key, d, s_count);
	__syncthreads();
	start = place_warps(&p.book, tile, s);
	__syncthreads();
	ranks = rank_keys(r, key, d, s_count);
	if (threadIdx.x < DIGITS)
		asked = ask_place(p.book, tile, threadIdx.x);
	put_sorted(r, key, ranks, s->key);
	if constexpr (INDEXED)
		r.load(p.from.index + (uint64_t)tile * s->items, index);
	if (threadIdx.x < DIGITS)
		s->to[threadIdx.x] = wait_place(p.book, tile, threadIdx.x, asked) - start;
	if (threadIdx.x == 0)
		s->ticket = atomicAdd(p.ticket, 1);
	if constexpr (INDEXED)
		put_sorted(r, index, ranks, s->index);
	__syncthreads();
	next = s->ticket - 1;
	load_keys<BLOCK>(p, next, key);
	clear_counts(s_count);
	write_tile<FULL>(p, n, s);
	return next;
}

/* The next ticket, for the whole block: 0 is the book, and tiles follow. */
template <typename K, class Memory>
static __device__ __forceinline__ uint32_t take(const struct pass<K> &p, Memory *s)
{
	__syncthreads(); /* the one before has been read */
	if (threadIdx.x == 0)
		s->ticket = atomicAdd(p.ticket, 1);
	__syncthreads();
	return s->ticket;
}

/*
 * Blocks take the book and then tiles, until there are none, in the order in which they come: any
 * number of blocks is right.
 */
template <typename K, bool INDEXED, int BLOCK, int ITEMS>
static __global__ void __launch_bounds__(BLOCK, 1) pass_kernel(struct pass<K> p)
{
	using memory = struct tile_memory<K, INDEXED, BLOCK, ITEMS>;
	SL_SHARED_DYNAMIC(memory, s);
	uint32_t items = BLOCK * ITEMS, tile;
	K key[ITEMS];

	clear_counts(s->count[warp_number()]);
	sl_wait_for_last();
	sl_let_next_begin();
	tile = take(p, s);
	if (tile == 0) {
		if (threadIdx.x < DIGITS)
			keep_book(p.book, threadIdx.x);
		tile = take(p, s);
	}
	tile--;
	load_keys<BLOCK>(p, tile, key);
	while ((uint64_t)(tile + 1) * items <= p.n)
		tile = sort_tile<true>(p, tile, items, key, s);
	if (tile < p.book.tiles)
		sort_tile<false>(p, tile, (uint32_t)(p.n - (uint64_t)tile * items), key, s);
}

/* --- few -------------------------------------------------------------------------------------- */

enum { BLOCK_FEW = BLOCK_MOST, ITEMS_FEW = 8, FEW = BLOCK_FEW * ITEMS_FEW };

/* What the kernel for up to FEW pairs is told. */
template <typename K> struct few {
	struct pairs<K> from, to;
	uint32_t n, begin_bit, end_bit;
};

template <typename K, bool INDEXED>
using few_memory = tile_memory<K, INDEXED, BLOCK_FEW, ITEMS_FEW>;

/* One block: a tile stays in registers and shared memory through all passes. */
template <typename K, bool INDEXED>
static __global__ void __launch_bounds__(BLOCK_FEW, 1) few_kernel(struct few<K> p)
{
	using memory = few_memory<K, INDEXED>;
	SL_SHARED_DYNAMIC(memory, s);
	const struct rows<false> r(ITEMS_FEW, p.n);
	uint32_t *s_count = s->count[warp_number()], index[ITEMS_FEW];
	K key[ITEMS_FEW];

	r.load(p.from.key, key);
	if (INDEXED)
		r.load(p.from.index, index);
	for (uint32_t bit = p.begin_bit; bit < p.end_bit; bit += DIGIT_BITS) {
		struct digit_place d = digit_at(bit, p.end_bit, DIGIT_BITS);
		tile_ranks<ITEMS_FEW> ranks;

		clear_counts(s_count);
		count_digits(r, key, d, s_count);
		__syncthreads();
		place_warps(nullptr, 0, s);
		__syncthreads();
		ranks = rank_keys(r, key, d, s_count);
		put_sorted(r, key, ranks, s->key);
		if (INDEXED)
			put_sorted(r, index, ranks, s->index);
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

/* Where a last pass writes to. */
template <typename K>
static struct pairs<K> wanted(const struct sl_sort_job *job, struct pairs<K> to) {
	return {job->key_spent && job->index ? nullptr : to.key, to.index};
}

template <typename K>
static enum sl_status sort_few(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct few<K> p = {
		{(K *)job->key, job->index},
			wanted(job, home_of<K>(job)), job->n, job->begin_bit, job->end_bit
	};

	if (job->index)
		return SL_LAUNCH((few_kernel<K, true>), 1, BLOCK_FEW, sizeof(few_memory<K, true>),
			x->stream, p);
	return SL_LAUNCH(
		(few_kernel<K, false>), 1, BLOCK_FEW, sizeof(few_memory<K, false>), x->stream, p);
}

/* --- tiles ------------------------------------------------------------------------------------ */

/* The tiles that are built, of pairs: threads a block, items a thread. */
#define TILES(X)  \
	X(256, 4) \
	X(256, 8) \
	X(256, 16) X(256, 24) X(256, 32) X(512, 4) X(512, 8) X(512, 16) X(512, 24) X(512, 32)

/* Of keys alone, in blocks of BLOCK_KEYS: type, items a thread. */
#define KEY_TILES(X)    \
	X(uint32_t, 32) \
	X(uint32_t, 16) X(uint32_t, 8) X(uint64_t, 24) X(uint64_t, 16) X(uint64_t, 8)

enum { BLOCK_OWN = 512, BLOCK_KEYS = 512, ITEMS_OWN = 32, BLOCK_LEAST = 256, ITEMS_LEAST = 4 };

/* What is sorted. */
struct kind {
	enum sl_type type;
	bool keys_only;
};

template <typename K> using pass_function = void (*)(struct pass<K> p);

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
			return pass_kernel<K, false, BLOCK_KEYS, items_>;
	KEY_TILES(X)
#undef X
	return nullptr;
}

/* Shared memory of a block; no other is asked for. */
static size_t block_bytes(struct sl_tuning tuning, struct kind kind)
{
	size_t key_bytes = kind.type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);

#define X(block_, items_)                                                                   \
	if (!kind.keys_only && tuning.block == block_ && tuning.items == items_)            \
		return key_bytes == sizeof(uint32_t)                                        \
		               ? sizeof(struct tile_memory<uint32_t, true, block_, items_>) \
		               : sizeof(struct tile_memory<uint64_t, true, block_, items_>);
	TILES(X)
#undef X
#define X(type_, items_)                                                            \
	if (kind.keys_only && key_bytes == sizeof(type_) && tuning.items == items_) \
		return sizeof(struct tile_memory<type_, false, BLOCK_KEYS, items_>);
	KEY_TILES(X)
#undef X
	return 0;
}

static bool is_own(struct sl_tuning tuning)
{
	return tuning.block == BLOCK_OWN && tuning.items == ITEMS_OWN;
}

/* The backend's own choice stands for all down to the least: so it can be had on any device. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	const struct sl_tuning least = {BLOCK_LEAST, ITEMS_LEAST};

	return block_bytes(is_own(tuning) ? least : tuning, {type, false});
}

/* Own choices, of pairs and of keys alone, from the best for many items to the best for few. */
static constexpr uint32_t own_items[2][2][6] = {
	{{ITEMS_OWN, 24, 16, 8, ITEMS_LEAST}, {24, 16, 8, ITEMS_LEAST}},
	{{32, 16, 8}, {24, 16, 8}},
};

/*
 * Own choice: the largest tiles that shared memory has room for, as long as there is one
 * for every third multiprocessor. 16384 keys of u32 are best on an H200: their runs of 64
 * fill lines of memory.
 */
static struct sl_tuning choose(
	struct sl_tuning tuning, uint32_t n, struct kind kind, const struct sl_limits *limits)
{
	if (!kind.keys_only && !is_own(tuning))
		return tuning;
	tuning.block = kind.keys_only ? BLOCK_KEYS : BLOCK_OWN;
	for (uint32_t items : own_items[kind.keys_only][kind.type]) {
		if (items == 0)
			break;
		tuning.items = items;
		if (block_bytes(tuning, kind) <= limits->shared_bytes &&
			3 * (uint64_t)n >= (uint64_t)tuning.block * items * limits->multiprocessors)
			return tuning;
	}
	if (block_bytes(tuning, kind) > limits->shared_bytes)
		tuning.block = BLOCK_LEAST;
	return tuning;
}

/* --- host ------------------------------------------------------------------------------------- */

/* What a sort begins with as 0. */
struct counters {
	uint32_t ticket[PASSES_MOST];
	uint32_t digit[PASSES_MOST][DIGITS];
};

struct layout {
	struct other_pairs other;
	struct counters *counters;
	uint32_t *book[2];   /* the first right behind the counters */
	size_t zeroed_bytes; /* counters and the first book */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n, struct kind kind, uint32_t tiles)
{
	struct layout l;

	l.zeroed_bytes = sizeof(*l.counters) + book_words(tiles) * sizeof(*l.book[0]);
	l.other = cut_other(a, n, kind.type, kind.keys_only);
	l.counters = (struct counters *)sl_cut(a, l.zeroed_bytes);
	l.book[0] = l.counters ? (uint32_t *)(l.counters + 1) : nullptr;
	l.book[1] = (uint32_t *)sl_cut_items(a, book_words(tiles), sizeof(*l.book[1]));
	return l;
}

static uint32_t tiles_for(uint32_t n, struct sl_tuning tuning)
{
	return (uint32_t)sl_ceil_div(n, (uint64_t)tuning.block * tuning.items);
}

/*
 * Fewer items than the most may be sorted in smaller tiles. Of those there are less than twice as
 * many as multiprocessors, or larger ones would have been chosen.
 */
static size_t scratch(const struct sl_shape *most)
{
	const struct kind kind = {most->type, most->keys_only};
	struct sl_limits limits = {};
	struct sl_arena a = {};
	uint32_t tiles;

	if (sl_device_limits(&limits) != SL_OK)
		limits.multiprocessors = 1; /* then no call can run */
	tiles = tiles_for(most->n, choose(most->tuning, most->n, kind, &limits));
	if ((kind.keys_only || is_own(most->tuning)) && tiles < 2 * limits.multiprocessors)
		tiles = 2 * limits.multiprocessors;
	lay_out(&a, most->n, kind, tiles);
	return a.used;
}

/* Two blocks of small tiles fit on a multiprocessor; those of large ones come and find no tile. */
static uint32_t blocks_for(uint32_t tiles, const struct sl_limits *limits)
{
	uint32_t most = 2 * limits->multiprocessors;

	return tiles + 1 < most ? tiles + 1 : most;
}

/*
 * Passes over few tiles begin early, which hides what a launch takes. Over many it costs more than
 * it hides: 5 % of 2^27 pairs on an H200.
 */
static bool is_early(uint32_t tiles, const struct sl_limits *limits)
{
	return tiles < 2 * limits->multiprocessors;
}

/* For the backend's own choice. Pairs take more memory than keys alone. */
template <typename K>
static bool is_few(
	const struct sl_sort_job *job, struct sl_tuning tuning, const struct sl_limits *limits)
{
	return (!job->index || is_own(tuning)) && job->n <= FEW &&
	       sizeof(few_memory<K, true>) <= limits->shared_bytes;
}

template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct kind kind = {job->type, !job->index};
	struct sl_arena a = x->scratch;
	struct sl_limits limits;
	struct sl_tuning tuning;
	struct layout l;
	uint32_t tiles;

	SL_TRY(sl_device_limits(&limits));
	if (is_few<K>(job, x->tuning, &limits))
		return sort_few<K>(x, job);
	tuning = choose(x->tuning, job->n, kind, &limits);
	tiles = tiles_for(job->n, tuning);
	l = lay_out(&a, job->n, kind, tiles);
	SL_TRY(sl_fill(l.counters, 0, l.zeroed_bytes, x->stream));
	SL_TRY(count_all_digits<K>(x, job, l.counters->digit));
	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t number, struct digit_place d, struct pairs<K> from,
			struct pairs<K> to) {
			uint32_t *own = l.book[number % 2];
			const struct book book = {own, own + book_words(tiles) / 2,
				l.book[1 - number % 2], l.counters->digit[number], tiles};
			const bool last = number + 1 == passes_of(job, DIGIT_BITS);
			const struct pass<K> p = {
				from, last ? wanted(job, to) : to, job->n, d, book,
					&l.counters->ticket[number]
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
	.help = "Onesweep: 8 bits a pass, each one read and one write of the pairs, with a book",
	.tunable = {.block = BLOCK_OWN,
		.block_step = BLOCK_LEAST,
		.block_most = BLOCK_MOST,
		.items = ITEMS_OWN,
		.items_can = {4, 8, 16, 24, 32},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.sort = run,
};
