/*
 * order_tile.cuh - the lowest three levels of order.h in the shared memory of a block: tiles of
 * 16^3 = 4096 items, 16 of them for each of 256 threads. For the backends tiled and shared.
 */
#ifndef SL_PRIMITIVES_SCAN_ORDER_TILE_CUH
#define SL_PRIMITIVES_SCAN_ORDER_TILE_CUH

#include "order_levels.cuh"

/* Threads, items and levels of a tile; a block has whole tiles, one after the other. */
static constexpr uint32_t TILE_THREADS = RADIX * RADIX, TILE_ITEMS = TILE_THREADS * RADIX,
			  TILE_LEVELS = 3, BLOCK_THREADS_MAX = 512,
			  BLOCK_TILES_MAX = BLOCK_THREADS_MAX / TILE_THREADS;

/* What the threads of a block exchange: sums of 16 items, of 256 and of each tile. */
template <typename T> struct order_sums {
	T strip[BLOCK_THREADS_MAX], group[BLOCK_THREADS_MAX / RADIX], tile[BLOCK_TILES_MAX];
};

/* The sum of the siblings before node i, whose sums are in shared memory. */
template <typename T> static __device__ __forceinline__ T sum_siblings(const T *sums, uint32_t i)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < RADIX - 1; k++) {
		T other = sums[i / RADIX * RADIX + k];

		sum = k < i % RADIX ? sum + other : sum;
	}
	return sum;
}

/* What a thread adds to the sums within its 16 items, level by level. */
template <typename T> struct order_before {
	T strip, group;
};

/*
 * For a block: own is the sum of the thread's 16 items. Also sets s->tile[]. Ends with a barrier.
 */
template <typename T>
static __device__ __forceinline__ struct order_before<T> sum_tiles(struct order_sums<T> *s, T own) {
	uint32_t strip = threadIdx.x, group = strip / RADIX;
	struct order_before<T> before;

	s->strip[strip] = own;
	__syncthreads();
	before.strip = sum_siblings(s->strip, strip);
	if (strip % RADIX == RADIX - 1)
		s->group[group] = before.strip + own;
	__syncthreads();
	before.group = sum_siblings(s->group, group);
	if (strip % TILE_THREADS == TILE_THREADS - 1)
		s->tile[strip / TILE_THREADS] = before.group + s->group[group];
	__syncthreads();
	return before;
}

/* --- tiled: a kernel for the sums of the tiles, and one for the items ------------------------- */

/* Item i of a tile in shared memory: an unused one follows every 16, against bank conflicts. */
static __host__ __device__ __forceinline__ uint32_t tile_slot(uint32_t i)
{
	return i + i / RADIX;
}

/* One block of TILE_THREADS per tile. sums: one per tile; NULL: only the items are scanned. */
template <typename T>
static __global__ void __launch_bounds__(TILE_THREADS) order_tile_kernel(const T *in, T *out,
	struct order_arrays<T> before, T *tile_sums, uint64_t n, bool inclusive)
{
	SL_SHARED_DYNAMIC(T, items);
	SL_SHARED(struct order_sums<T>, sums);
	uint64_t first = (uint64_t)blockIdx.x * TILE_ITEMS;
	uint32_t mine = threadIdx.x * RADIX;
	T sum = 0;

	for (uint32_t i = threadIdx.x; i < TILE_ITEMS; i += TILE_THREADS)
		items[tile_slot(i)] = first + i < n ? in[first + i] : 0;
	__syncthreads();
	for (uint32_t k = 0; k < RADIX; k++)
		sum += items[tile_slot(mine + k)];
	struct order_before<T> own = sum_tiles(&sums, sum);
	if (tile_sums) {
		if (threadIdx.x == 0)
			tile_sums[blockIdx.x] = sums.tile[0];
		return;
	}
	sum = 0;
	for (uint32_t k = 0; k < RADIX; k++) {
		T item = items[tile_slot(mine + k)], result = inclusive ? sum + item : sum;

		result = own.group + (own.strip + result);
		for (uint32_t level = TILE_LEVELS; level < before.levels; level++)
			result += before.level[level][first >> (SL_ORDER_BITS * level)];
		items[tile_slot(mine + k)] = order_result(result);
		sum += item;
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < TILE_ITEMS && first + i < n; i += TILE_THREADS)
		out[first + i] = items[tile_slot(i)];
}

template <typename T>
static inline enum sl_status order_tiled(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct order_arrays<T> sums = order_cut<T>(&a, job->n, TILE_LEVELS);
	uint32_t tiles = sl_order_nodes(job->n, TILE_LEVELS);
	size_t bytes = tile_slot(TILE_ITEMS) * sizeof(T);
	T *tile_sums = sums.level[TILE_LEVELS];

	if (tiles > 1) {
		SL_TRY(SL_LAUNCH(order_tile_kernel<T>, tiles, TILE_THREADS, bytes, x->stream,
			(const T *)job->in, (T *)job->out, sums, tile_sums, job->n,
			job->inclusive));
		SL_TRY(order_sum(x, &sums, (const T *)tile_sums, job->n, TILE_LEVELS + 1));
		SL_TRY(order_chain(x, &sums, job->n, TILE_LEVELS));
	}
	return SL_LAUNCH(order_tile_kernel<T>, tiles, TILE_THREADS, bytes, x->stream,
		(const T *)job->in, (T *)job->out, sums, (T *)nullptr, job->n, job->inclusive);
}

#endif
