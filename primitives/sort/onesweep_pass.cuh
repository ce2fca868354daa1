/*
 * onesweep_pass.cuh - the kernel of one pass of sort/shared: blocks take tiles, sort each by one
 * digit and write it to its global offsets. shared.cu explains the algorithm.
 */
#ifndef SL_PRIMITIVES_SORT_ONESWEEP_PASS_CUH
#define SL_PRIMITIVES_SORT_ONESWEEP_PASS_CUH

#include "tile_sort.cuh"

/* Arguments of the kernel for one pass, by value. */
template <typename K> struct onesweep_pass {
	struct pairs<K> from, to; /* to.key is NULL if only the index is wanted */
	struct sl_count n;
	struct digit_field digit;
	struct digit_offset_table table;
	uint32_t *ticket; /* tickets taken: 0 for the table, k + 1 for tile k */
};

/* Writes the sorted tile to its global offsets; n pairs of it if not FULL. */
template <bool FULL, typename K, bool INDEXED, int BLOCK, int ITEMS>
static __device__ __forceinline__ void write_tile(const struct onesweep_pass<K> &p, uint32_t n,
	const struct tile_memory<K, INDEXED, BLOCK, ITEMS> *s)
{
	SL_UNROLL
	for (int i = 0; i < ITEMS; i++) {
		uint32_t at = threadIdx.x + (uint32_t)i * BLOCK;

		if (FULL || at < n) {
			K key = s->key[at];
			uint32_t to = s->output_delta[digit_in(key, p.digit)] + at;

			if (!INDEXED || p.to.key)
				p.to.key[to] = key;
			if (INDEXED)
				p.to.index[to] = s->index[at];
		}
	}
}

/* Loads the keys of a tile; past the last tile it loads nothing. */
template <int BLOCK, typename K, int ITEMS>
static __device__ __forceinline__ void load_keys(
	const struct onesweep_pass<K> &p, uint32_t n, uint32_t tile, K (&key)[ITEMS])
{
	uint32_t items = BLOCK * ITEMS;
	uint64_t first = (uint64_t)tile * items, left = first < n ? n - first : 0;

	if (left >= items)
		warp_striped<true>(ITEMS, items).load(p.from.key + first, key);
	else
		warp_striped<false>(ITEMS, (uint32_t)left).load(p.from.key + first, key);
}

/*
 * Sorts a tile of n pairs (or a FULL one) whose keys are already in registers and whose counters
 * are 0. Takes the next tile, loads its keys into key, and returns its number. The order hides
 * latencies: indices are loaded after the keys are ranked, offsets are polled once before they are
 * needed, and the next keys are loaded before the tile is written.
 */
template <bool FULL, typename K, bool INDEXED, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t sort_tile(const struct onesweep_pass<K> &p,
	uint32_t tile, uint32_t n, K (&key)[ITEMS], struct tile_memory<K, INDEXED, BLOCK, ITEMS> *s)
{
	const struct warp_striped<FULL> r(ITEMS, n);
	uint32_t *s_count = s->count[warp_index()];
	uint32_t index[INDEXED ? ITEMS : 1], start, polled = 0, next;
	const struct digit_field d = p.digit;
	tile_ranks<ITEMS> ranks = {};

	count_digits(r, key, d, s_count);
	__syncthreads();
	start = scan_warp_counts(&p.table, tile, s);
	__syncthreads();
	ranks = rank_keys(r, key, d, s_count);
	if (threadIdx.x < DIGITS)
		polled = poll_offset(p.table, tile, threadIdx.x);
	scatter_to_shared(r, key, ranks, s->key);
	if constexpr (INDEXED)
		r.load(p.from.index + (uint64_t)tile * s->items, index);
	if (threadIdx.x < DIGITS)
		s->output_delta[threadIdx.x] =
			wait_for_offset(p.table, tile, threadIdx.x, polled) - start;
	if (threadIdx.x == 0)
		s->ticket = atomicAdd(p.ticket, 1);
	if constexpr (INDEXED)
		scatter_to_shared(r, index, ranks, s->index);
	__syncthreads();
	next = s->ticket - 1;
	load_keys<BLOCK>(p, s->n, next, key);
	clear_counts(s_count);
	write_tile<FULL>(p, n, s);
	return next;
}

/* The next ticket, for the whole block: 0 is the table, the tiles follow. */
template <typename K, class Memory>
static __device__ __forceinline__ uint32_t take_ticket(const struct onesweep_pass<K> &p, Memory *s)
{
	__syncthreads(); /* all threads have read the previous ticket */
	if (threadIdx.x == 0)
		s->ticket = atomicAdd(p.ticket, 1);
	__syncthreads();
	return s->ticket;
}

/*
 * Blocks take the table and then tiles until none is left. Any number of blocks is correct; blocks
 * that find no tile return.
 */
template <typename K, bool INDEXED, int BLOCK, int ITEMS>
static __global__ void __launch_bounds__(BLOCK, 1) pass_kernel(struct onesweep_pass<K> p)
{
	using memory = struct tile_memory<K, INDEXED, BLOCK, ITEMS>;
	SL_SHARED_DYNAMIC(memory, s);
	uint32_t items = BLOCK * ITEMS, tile;
	K key[ITEMS];

	clear_counts(s->count[warp_index()]);
	sl_wait_for_previous();
	sl_trigger_next();
	if (threadIdx.x == 0)
		s->n = sl_count_read(p.n);
	tile = take_ticket(p, s);
	if (tile == 0) {
		if (threadIdx.x < DIGITS)
			fill_table(p.table, s->n / items + (s->n % items > 0), threadIdx.x);
		tile = take_ticket(p, s);
	}
	tile--;
	load_keys<BLOCK>(p, s->n, tile, key);
	while ((uint64_t)(tile + 1) * items <= s->n)
		tile = sort_tile<true>(p, tile, items, key, s);
	if ((uint64_t)tile * items < s->n)
		sort_tile<false>(p, tile, s->n - tile * items, key, s);
}

#endif
