/*
 * sort/shared.cu - radix sort by digits of 8 bits, each moved in one pass: Onesweep, with a book.
 *
 * One read of the keys tells where the first key of each digit goes, in every pass. Then a pass is
 * one kernel: a block takes a tile, counts its digits and writes the counts in the book; ranks the
 * keys in the tile, which sorts it in shared memory; reads from the book (book.cuh) how many keys
 * of each digit the tiles before it have; and writes the sorted tile out, each digit a run. The
 * keys of its next tile are on their way while it writes. (Adinets and Merrill, Onesweep: a faster
 * least significant digit radix sort for GPUs, 2022.)
 *
 * Moves 4 bytes a pair of u32 keys, then 16 a pass: 68 for 32 bits.
 *
 * What it changes over work_efficient: twice the bits a pass; no read of the keys just to count
 * them, no table and no scan of it, as tiles pass their counts on while they move; and writes that
 * leave the block in 256 runs, so that a line of memory is written by one or two warps.
 */
#include "book.cuh"
#include "rows.cuh"

/* 512 threads of 128 registers each: room for all items of a thread, and no spill. */
static constexpr uint32_t BLOCK_MOST = 512;

/* Threads of a block come in shares of one a digit. */
static constexpr uint32_t SHARE = DIGITS, SHARE_WARPS = SHARE / WARP;

/* What a pass is told. */
template <typename K> struct pass {
	struct pairs<K> from, to;
	uint64_t n;
	struct digit_place digit;
	struct book book;
	uint32_t *ticket; /* the book and tiles that have been taken */
};

/* The shared memory of a block. */
template <typename K, int BLOCK, int ITEMS> struct tile_memory {
	static constexpr int warps = BLOCK / WARP, shares = BLOCK / SHARE, items = BLOCK * ITEMS;

	K key[items]; /* the sorted tile */
	uint32_t index[items];
	/* keys of a digit that the warp has; then where the next of them goes in the sorted tile */
	uint32_t count[warps][DIGITS];
	uint32_t to[DIGITS]; /* what to add to a place in the sorted tile to have that in all */
	uint32_t in_share[shares][DIGITS];
	uint32_t in_warp[warps];
	uint32_t ticket;
};

/* Where the caller's keys go in the sorted tile, two to a register. */
template <int ITEMS> struct tile_ranks {
	static_assert(BLOCK_MOST * ITEMS <= 1 << 16, "places of a tile have 16 bits");
	uint32_t two[(ITEMS + 1) / 2];

	/* Even rows before odd ones. */
	__device__ __forceinline__ void put(int row, uint32_t rank)
	{
		two[row / 2] = row % 2 ? two[row / 2] | rank << 16 : rank;
	}

	__device__ __forceinline__ uint32_t of(int row) const
	{
		return row % 2 ? two[row / 2] >> 16 : two[row / 2] & 0xffff;
	}
};

/* For a warp: its counters begin at 0. */
static __device__ __forceinline__ void clear_counts(uint32_t *s_count)
{
	SL_UNROLL
	for (uint32_t digit = lane_number(); digit < DIGITS; digit += WARP)
		s_count[digit] = 0;
	__syncwarp();
}

/* The calling warp's digits, in counters that are 0. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ void count_digits(
	const struct rows<FULL> &r, const K (&key)[ITEMS], struct digit_place d, uint32_t *s_count)
{
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		atomicAdd(&s_count[r.digit_of(key[row], row, d)], 1);
	}
}

/* Where the first key of the calling thread's digit goes in the sorted tile: a sum in each share.
 */
static __device__ __forceinline__ uint32_t start_of_digit(uint32_t count, uint32_t *s_in_warp)
{
	uint32_t warp = warp_number(), up_to = sum_up_to_lane(count), start = up_to - count;

	if (lane_number() == WARP - 1)
		s_in_warp[warp] = up_to;
	__syncthreads();
	SL_UNROLL
	for (uint32_t w = 0; w < SHARE_WARPS; w++)
		start += w < warp % SHARE_WARPS ? s_in_warp[warp / SHARE_WARPS * SHARE_WARPS + w]
		                                : 0;
	return start;
}

/*
 * count[warp][digit] become the place of the warp's first key of that digit in the sorted tile. A
 * share has the counts of 8 warps. The tile's own are written in the book at once. Gives the start
 * of the calling thread's digit.
 */
template <typename K, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t place_warps(
	const struct book &book, uint32_t tile, struct tile_memory<K, BLOCK, ITEMS> *s)
{
	uint32_t digit = threadIdx.x % SHARE, share = threadIdx.x / SHARE;
	uint32_t own[SHARE_WARPS], in_share = 0, in_tile = 0, before = 0, start;

	SL_UNROLL
	for (uint32_t w = 0; w < SHARE_WARPS; w++) {
		own[w] = s->count[share * SHARE_WARPS + w][digit];
		in_share += own[w];
	}
	s->in_share[share][digit] = in_share;
	__syncthreads();
	SL_UNROLL
	for (uint32_t k = 0; k < s->shares; k++) {
		uint32_t of_k = s->in_share[k][digit];

		before += k < share ? of_k : 0;
		in_tile += of_k;
	}
	if (share == 0)
		write_count(book, tile, digit, in_tile);
	start = start_of_digit(in_tile, s->in_warp);
	before += start;
	SL_UNROLL
	for (uint32_t w = 0; w < SHARE_WARPS; w++) {
		s->count[share * SHARE_WARPS + w][digit] = before;
		before += own[w];
	}
	return start;
}

/* s_count is the warp's own: no other touches it. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ tile_ranks<ITEMS> rank_keys(
	const struct rows<FULL> &r, const K (&key)[ITEMS], struct digit_place d, uint32_t *s_count)
{
	tile_ranks<ITEMS> ranks = {};

	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		uint32_t digit = r.digit_of(key[row], row, d), equal, before, rank;

		if (r.is_past(row))
			break;
		equal = sl_lanes_alike<DIGIT_BITS>(digit);
		before = count_below(equal);
		rank = s_count[digit] + before;
		__syncwarp(); /* all have read */
		if (before == 0)
			s_count[digit] = rank + (uint32_t)__popc(equal);
		__syncwarp(); /* for the next row */
		ranks.put(row, rank);
	}
	return ranks;
}

/* Through shared memory: every item goes to its place in the sorted tile. */
template <bool FULL, typename T, int ITEMS>
static __device__ __forceinline__ void put_sorted(const struct rows<FULL> &r,
	const T (&item)[ITEMS], const tile_ranks<ITEMS> &ranks, T *s_sorted)
{
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		s_sorted[ranks.of(row)] = item[row];
	}
}

/* The sorted tile goes out, n pairs of it if it is not FULL. */
template <bool FULL, typename K, int BLOCK, int ITEMS>
static __device__ __forceinline__ void write_tile(
	const struct pass<K> &p, uint32_t n, const struct tile_memory<K, BLOCK, ITEMS> *s)
{
	SL_UNROLL
	for (int i = 0; i < ITEMS; i++) {
		uint32_t at = threadIdx.x + i * BLOCK;

		if (FULL || at < n) {
			K key = s->key[at];
			uint32_t to = s->to[digit_in(key, p.digit)] + at;

			p.to.key[to] = key;
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
template <bool FULL, typename K, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t sort_tile(const struct pass<K> &p, uint32_t tile,
	uint32_t n, K (&key)[ITEMS], struct tile_memory<K, BLOCK, ITEMS> *s)
{
	const struct rows<FULL> r(ITEMS, n);
	const uint32_t *from_index = p.from.index + (uint64_t)tile * s->items;
	uint32_t *s_count = s->count[warp_number()];
	uint32_t index[ITEMS], start, asked = 0, next;
	tile_ranks<ITEMS> ranks = {};

	count_digits(r, key, p.digit, s_count);
	__syncthreads();
	start = place_warps(p.book, tile, s);
	__syncthreads();
	ranks = rank_keys(r, key, p.digit, s_count);
	if (threadIdx.x < DIGITS)
		asked = ask_place(p.book, tile, threadIdx.x);
	put_sorted(r, key, ranks, s->key);
	r.load(from_index, index);
	if (threadIdx.x < DIGITS)
		s->to[threadIdx.x] = wait_place(p.book, tile, threadIdx.x, asked) - start;
	if (threadIdx.x == 0)
		s->ticket = atomicAdd(p.ticket, 1);
	put_sorted(r, index, ranks, s->index);
	__syncthreads();
	next = s->ticket - 1;
	load_keys<BLOCK>(p, next, key);
	clear_counts(s_count);
	write_tile<FULL>(p, n, s);
	return next;
}

/* The next ticket, for the whole block: 0 is the book, and tiles follow. */
template <typename K, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t take(
	const struct pass<K> &p, struct tile_memory<K, BLOCK, ITEMS> *s)
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
template <typename K, int BLOCK, int ITEMS>
static __global__ void __launch_bounds__(BLOCK, 1) pass_kernel(struct pass<K> p)
{
	using memory = struct tile_memory<K, BLOCK, ITEMS>;
	SL_SHARED_DYNAMIC(memory, s);
	uint32_t items = BLOCK * ITEMS, tile;
	K key[ITEMS];

	clear_counts(s->count[warp_number()]);
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

/* --- host ------------------------------------------------------------------------------------- */

/* The tiles that are built: threads a block, items a thread. */
#define TILES(X)  \
	X(256, 4) \
	X(256, 8) \
	X(256, 16) X(256, 24) X(256, 32) X(512, 4) X(512, 8) X(512, 16) X(512, 24) X(512, 32)

enum { BLOCK_OWN = 512, ITEMS_OWN = 32, ITEMS_OWN_U64 = 24, BLOCK_LEAST = 256, ITEMS_LEAST = 4 };

template <typename K> using pass_function = void (*)(struct pass<K> p);

template <typename K> static pass_function<K> pass_kernel_of(struct sl_tuning tuning)
{
#define X(block_, items_)                                     \
	if (tuning.block == block_ && tuning.items == items_) \
		return pass_kernel<K, block_, items_>;
	TILES(X)
#undef X
	return nullptr;
}

/* Shared memory of a block; no other is asked for. */
static size_t block_bytes(struct sl_tuning tuning, enum sl_type type)
{
#define X(block_, items_)                                                                    \
	if (tuning.block == block_ && tuning.items == items_)                                \
		return type == SL_U32 ? sizeof(struct tile_memory<uint32_t, block_, items_>) \
		                      : sizeof(struct tile_memory<uint64_t, block_, items_>);
	TILES(X)
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

	return block_bytes(is_own(tuning) ? least : tuning, type);
}

/* Own choices, from the best for many items to the best for few. */
static constexpr uint32_t own_items[] = {ITEMS_OWN, 24, 16, 8, ITEMS_LEAST};

/*
 * Own choice: the largest tiles that shared memory has room for, as long as there is one for every
 * third multiprocessor. 16384 pairs of u32 are best on an H200: their runs of 64 fill lines of
 * memory.
 */
static struct sl_tuning choose(
	struct sl_tuning tuning, uint32_t n, enum sl_type type, const struct sl_limits *limits)
{
	if (!is_own(tuning))
		return tuning;
	for (uint32_t items : own_items) {
		tuning.items = items;
		if (type == SL_U64 && items > ITEMS_OWN_U64)
			continue;
		if (block_bytes(tuning, type) <= limits->shared_bytes &&
			3 * (uint64_t)n >= (uint64_t)tuning.block * items * limits->multiprocessors)
			return tuning;
	}
	if (block_bytes(tuning, type) > limits->shared_bytes)
		tuning.block = BLOCK_LEAST;
	return tuning;
}

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

static struct layout lay_out(struct sl_arena *a, uint32_t n, enum sl_type type, uint32_t tiles)
{
	struct layout l;

	l.zeroed_bytes = sizeof(*l.counters) + book_words(tiles) * sizeof(*l.book[0]);
	l.other = cut_other(a, n, type);
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
	struct sl_limits limits = {};
	struct sl_arena a = {};
	uint32_t tiles;

	if (sl_device_limits(&limits) != SL_OK)
		limits.multiprocessors = 1; /* then no call can run */
	tiles = tiles_for(most->n, choose(most->tuning, most->n, most->type, &limits));
	if (is_own(most->tuning) && tiles < 2 * limits.multiprocessors)
		tiles = 2 * limits.multiprocessors;
	lay_out(&a, most->n, most->type, tiles);
	return a.used;
}

/* Two blocks of small tiles fit on a multiprocessor; those of large ones come and find no tile. */
static uint32_t blocks_for(uint32_t tiles, const struct sl_limits *limits)
{
	uint32_t most = 2 * limits->multiprocessors;

	return tiles + 1 < most ? tiles + 1 : most;
}

template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch;
	struct sl_limits limits;
	struct sl_tuning tuning;
	struct layout l;
	uint32_t tiles;

	SL_TRY(sl_device_limits(&limits));
	tuning = choose(x->tuning, job->n, job->type, &limits);
	tiles = tiles_for(job->n, tuning);
	l = lay_out(&a, job->n, job->type, tiles);
	SL_TRY(sl_fill(l.counters, 0, l.zeroed_bytes, x->stream));
	SL_TRY(place_digits<K>(x, job, l.counters->digit));
	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t number, struct digit_place d, struct pairs<K> from,
			struct pairs<K> to) {
			uint32_t *own = l.book[number % 2];
			const struct book book = {own, own + book_words(tiles) / 2,
				l.book[1 - number % 2], l.counters->digit[number], tiles};
			const struct pass<K> p = {
				from, to, job->n, d, book, &l.counters->ticket[number]
			};

			return sl_launch("pass_kernel", pass_kernel_of<K>(tuning),
				blocks_for(tiles, &limits), tuning.block,
				block_bytes(tuning, job->type), x->stream, p);
		});
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	if (job->n < 2 || job->begin_bit == job->end_bit)
		return SL_OK;
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
