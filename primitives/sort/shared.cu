/*
 * sort/shared.cu - radix sort by digits of 8 bits, each moved in one pass: Onesweep.
 *
 * One read of the keys tells where the first key of each digit goes, in every pass. Then a pass is
 * one kernel: a block takes a tile, counts its digits and publishes the counts; ranks the keys in
 * the tile, which sorts it in shared memory; learns by look-back how many keys of each digit the
 * tiles before it have; and writes the sorted tile out, each digit a run. (Adinets and Merrill,
 * Onesweep: a faster least significant digit radix sort for GPUs, 2022.)
 *
 * Moves 4 bytes a pair of u32 keys, then 16 a pass: 68 for 32 bits.
 *
 * What it changes over work_efficient: twice the bits a pass; no read of the keys just to count
 * them, no table and no scan of it, as tiles pass their counts on while they move; and writes that
 * leave the block in 256 runs, so that a line of memory is written by one or two warps.
 */
#include "digits.cuh"
#include "look_back.cuh"
#include "rows.cuh"

/* 80 registers a thread: two blocks of the default size on a multiprocessor of 65536. */
enum { BLOCK_MOST = 768 };

/* What a pass is told. */
template <typename K> struct pass {
	struct pairs<K> from, to;
	uint64_t n;
	struct digit_place digit;
	const uint32_t *place; /* DIGITS: where the first key of each goes */
	struct digit_look_back look_back;
	uint32_t *ticket; /* tiles that have been taken */
};

/*
 * The shared memory of a block. What stands behind is first counts[warp][digit]: how many keys of
 * it the warp has, then where the next of them goes in the sorted tile; then the sorted keys; then
 * the sorted indices.
 */
struct block_memory {
	uint32_t count[DIGITS]; /* keys of the tile with that digit */
	uint32_t start[DIGITS]; /* where they begin in the sorted tile */
	uint32_t tile;
	uint32_t unused[3];

	__device__ __forceinline__ uint32_t *counts_of(uint32_t warp)
	{
		return reinterpret_cast<uint32_t *>(this + 1) + warp * DIGITS;
	}

	template <typename T> __device__ __forceinline__ T *sorted()
	{
		return reinterpret_cast<T *>(this + 1);
	}
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

/* The calling warp's digits. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ void count_digits(
	const struct rows<FULL> &r, const K (&key)[ITEMS], struct digit_place d, uint32_t *s_count)
{
	for (uint32_t digit = lane_number(); digit < DIGITS; digit += WARP)
		s_count[digit] = 0;
	__syncwarp();
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		atomicAdd(&s_count[r.digit_of(key[row], row, d)], 1);
	}
}

/* counts[warp] become sums over the warps before; the tile's own counts are published at once. */
template <typename K>
static __device__ __forceinline__ void sum_warps(
	const struct pass<K> &p, uint32_t tile, struct block_memory *s)
{
	for (uint32_t digit = threadIdx.x; digit < DIGITS; digit += blockDim.x) {
		uint32_t sum = 0;

		for (uint32_t warp = 0; warp < blockDim.x / WARP; warp++) {
			uint32_t *at = &s->counts_of(warp)[digit], own = *at;

			*at = sum;
			sum += own;
		}
		s->count[digit] = sum;
		publish(p.look_back, tile, digit, tile == 0 ? SL_KNOWN_ALL : SL_KNOWN_OWN, sum);
	}
}

/* s_count is the warp's own: no other touches it. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ tile_ranks<ITEMS> rank_keys(const struct rows<FULL> &r,
	const K (&key)[ITEMS], struct digit_place d, const uint32_t *s_start, uint32_t *s_count)
{
	tile_ranks<ITEMS> ranks = {};

	for (uint32_t digit = lane_number(); digit < DIGITS; digit += WARP)
		s_count[digit] += s_start[digit];
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		uint32_t digit = r.digit_of(key[row], row, d), equal, before, rank;

		if (r.is_past(row))
			break;
		equal = lanes_with(vote<DIGIT_BITS>(digit), digit);
		before = count_below(equal);
		__syncwarp(); /* what the row before has written */
		rank = s_count[digit] + before;
		__syncwarp(); /* all have read */
		if (before == 0)
			s_count[digit] = rank + (uint32_t)__popc(equal);
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

/* start becomes what to add to a place in the sorted tile to have that in all. */
template <typename K>
static __device__ __forceinline__ void place_tile(
	const struct pass<K> &p, uint32_t tile, struct block_memory *s)
{
	for (uint32_t digit = threadIdx.x; digit < DIGITS; digit += blockDim.x) {
		uint32_t before = count_before(p.look_back, tile, digit);

		publish(p.look_back, tile, digit, SL_KNOWN_ALL, before + s->count[digit]);
		s->start[digit] = p.place[digit] + before - s->start[digit];
	}
}

/*
 * Sorts tile, of n keys if it is not FULL. Barriers: every one but the first and the third is there
 * because what stands behind *s is used for something else from then on.
 */
template <typename K, int ITEMS, bool FULL>
static __device__ __forceinline__ void sort_tile(
	const struct pass<K> &p, uint32_t tile, uint32_t n, struct block_memory *s)
{
	uint64_t tile_first = (uint64_t)tile * blockDim.x * ITEMS;
	const struct rows<FULL> r(ITEMS, n);
	uint32_t *s_count = s->counts_of(warp_number());
	uint32_t index[ITEMS], to[ITEMS];
	tile_ranks<ITEMS> ranks = {};
	K key[ITEMS];

	r.load(p.from.key + tile_first, key);
	count_digits(r, key, p.digit, s_count);
	__syncthreads();
	sum_warps(p, tile, s);
	__syncthreads();
	if (warp_number() == 0)
		sum_digits(s->count, s->start);
	__syncthreads();
	ranks = rank_keys(r, key, p.digit, s->start, s_count);
	__syncthreads();
	put_sorted(r, key, ranks, s->sorted<K>());
	r.load(p.from.index + tile_first, index);
	place_tile(p, tile, s);
	__syncthreads();
	SL_UNROLL
	for (int i = 0; i < ITEMS; i++) {
		uint32_t at = threadIdx.x + (uint32_t)i * blockDim.x;
		bool has = FULL || at < n;
		K sorted = has ? s->sorted<K>()[at] : 0;

		to[i] = s->start[digit_in(sorted, p.digit)] + at;
		if (has)
			p.to.key[to[i]] = sorted;
	}
	__syncthreads();
	put_sorted(r, index, ranks, s->sorted<uint32_t>());
	__syncthreads();
	SL_UNROLL
	for (int i = 0; i < ITEMS; i++) {
		uint32_t at = threadIdx.x + (uint32_t)i * blockDim.x;

		if (FULL || at < n)
			p.to.index[to[i]] = s->sorted<uint32_t>()[at];
	}
}

/* A block a tile; tiles are taken in the order in which blocks begin, as look-back must have it. */
template <typename K, int ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST) pass_kernel(struct pass<K> p)
{
	SL_SHARED_DYNAMIC(struct block_memory, s);
	uint32_t tile_items = blockDim.x * ITEMS, tile;
	uint64_t left;

	if (threadIdx.x == 0)
		s->tile = atomicAdd(p.ticket, 1);
	__syncthreads();
	tile = s->tile;
	left = p.n - (uint64_t)tile * tile_items;
	if (left >= tile_items)
		sort_tile<K, ITEMS, true>(p, tile, tile_items, s);
	else
		sort_tile<K, ITEMS, false>(p, tile, (uint32_t)left, s);
}

/* The items a thread that are built. */
#define ITEMS_CAN(ITEMS) ITEMS(4) ITEMS(8) ITEMS(12) ITEMS(16) ITEMS(20) ITEMS(24)

template <typename K> using pass_function = void (*)(struct pass<K> p);

template <typename K> static pass_function<K> pass_kernel_of(uint32_t items)
{
	switch (items) {
#define ITEMS(n) \
	case n:  \
		return pass_kernel<K, n>;
		ITEMS_CAN(ITEMS)
#undef ITEMS
	}
	return nullptr;
}

/* Shared memory of a block; no other is asked for. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	size_t counts = tuning.block / WARP * DIGITS * sizeof(uint32_t);
	size_t keys = (size_t)tuning.block * tuning.items *
	              (type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t));

	return sizeof(struct block_memory) + (counts > keys ? counts : keys);
}

/* What a sort begins with as 0. */
struct counters {
	uint32_t ticket[PASSES_MOST];
	uint32_t digit[PASSES_MOST][DIGITS];
};

struct layout {
	struct other_pairs other;
	struct counters *counters;
	uint64_t *words;     /* of the look-back, right behind the counters */
	size_t zeroed_bytes; /* counters and words */
	uint32_t tiles;
};

static struct layout lay_out(
	struct sl_arena *a, uint32_t n, enum sl_type type, const struct sl_tuning *tuning)
{
	struct layout l;

	l.tiles = (uint32_t)sl_ceil_div(n, (uint64_t)tuning->block * tuning->items);
	l.zeroed_bytes = sizeof(*l.counters) + (size_t)l.tiles * DIGITS * sizeof(*l.words);
	l.other = cut_other(a, n, type);
	l.counters = (struct counters *)sl_cut(a, l.zeroed_bytes);
	l.words = l.counters ? (uint64_t *)(l.counters + 1) : nullptr;
	return l;
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	lay_out(&a, most->n, most->type, &most->tuning);
	return a.used;
}

template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch;
	struct layout l = lay_out(&a, job->n, job->type, &x->tuning);

	SL_TRY(sl_fill(l.counters, 0, l.zeroed_bytes, x->stream));
	SL_TRY(place_digits<K>(x, job, l.counters->digit));
	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t number, struct digit_place d, struct pairs<K> from,
			struct pairs<K> to) {
			struct pass<K> p = {
				from, to, job->n, d, l.counters->digit[number], {l.words, number},
					&l.counters->ticket[number]
			};

			return sl_launch("pass_kernel", pass_kernel_of<K>(x->tuning.items), l.tiles,
				x->tuning.block, shared_bytes(x->tuning, job->type), x->stream, p);
		});
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	if (job->n < 2 || job->begin_bit == job->end_bit)
		return SL_OK;
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

#define ITEMS(n) n,
const struct sl_backend SL_NAME(sl_sort_shared) = {
	.name = "shared",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "Onesweep: 8 bits a pass, each one read and one write of the pairs, with look-back",
	/* 61 KiB with u64 keys: within the 64 of compute capability 7.5 */
	.tunable = {.block = 384,
		.block_step = WARP,
		.block_most = BLOCK_MOST,
		.items = 20,
		.items_can = {ITEMS_CAN(ITEMS)},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.sort = run,
};
