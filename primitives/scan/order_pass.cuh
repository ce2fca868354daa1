/*
 * order_pass.cuh - the single-pass scan of f32 and f64 in the order of order.h: tiles in shared
 * memory, joined by the published sums of nodes.
 *
 * A decoupled look-back adds the sums of tiles in an order that depends on which ones are known, so
 * its rounding differs from run to run. Here each block publishes the sum of each of its tiles, and
 * the block with the last tile of a node also that of the node; and a block adds exactly the
 * siblings before each of its nodes, at most 15 sums for each of 5 levels. So each item gets the
 * same additions in any order of the blocks, and no chain goes from tile to tile: the longest one
 * has one wait per level.
 *
 * The lowest three levels are added in shared memory: a tile has 16^3 = 4096 items, 16 of them for
 * each of 256 threads.
 *
 * Tiles are taken by a ticket, and a block publishes the sums of its tiles before it waits. It
 * waits for sums that blocks with lower tickets publish, so the wait ends.
 *
 * Memory: each item is read once and written once, and a state of 8 bytes (f32) or 16 bytes (f64)
 * per node from level 3 on.
 */
#ifndef SL_PRIMITIVES_SCAN_ORDER_PASS_CUH
#define SL_PRIMITIVES_SCAN_ORDER_PASS_CUH

#include "order_levels.cuh"
#include "primitives/kernel/look_back.cuh"
#include "warp_part.cuh"

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

/* The word in which the sum of a node is published. */
template <typename T>
struct order_word;
template <> struct order_word<float> {
	using type = uint32_t;
};
template <> struct order_word<double> {
	using type = uint64_t;
};

/* Levels of nodes that blocks publish. */
static constexpr uint32_t PASS_LEVELS = SL_ORDER_LEVELS - TILE_LEVELS;

/* Arguments of the kernel, by value. first_node[k]: the state of node 0 of level TILE_LEVELS + k. */
template <typename T> struct order_job {
	using word = typename order_word<T>::type;

	const T *in;
	T *out;
	uint64_t n;
	bool inclusive;
	uint32_t levels;
	uint32_t first_node[PASS_LEVELS];
	struct sl_look_back<word> nodes;
};

/* What one warp finds out for the block. */
template <typename T> struct order_found {
	T sibling[RADIX];        /* the sums of the siblings before the node of a level */
	T level[PASS_LEVELS];    /* their sum; of level TILE_LEVELS for the first tile */
	T tile[BLOCK_TILES_MAX]; /* of level TILE_LEVELS for each tile of the block */
};

template <typename T>
static __device__ inline void publish_node(
	const struct order_job<T> &job, uint32_t level, uint32_t node, T sum)
{
	typename order_job<T>::word bits;

	memcpy(&bits, &sum, sizeof(bits));
	sl_look_back_publish(job.nodes, job.first_node[level] + node, SL_TILE_AGGREGATE, bits);
}

/* Reads the sum of a node; false if it is not published. */
template <typename T>
static __device__ inline bool read_node(
	const struct order_job<T> &job, uint32_t level, uint32_t node, T *sum)
{
	typename order_job<T>::word bits;

	if (sl_look_back_read(job.nodes, job.first_node[level] + node, &bits) == SL_TILE_INVALID)
		return false;
	memcpy(sum, &bits, sizeof(*sum));
	return true;
}

/*
 * By one thread, level by level: the sum before the node of this level, which has the block's tiles,
 * and before each tile. *end is the end of the tiles, and then of the nodes that end with them, and
 * *sum their sum; both are for the levels that follow. Publishes the node that ends here.
 */
template <typename T>
static __device__ inline void finish_level(const struct order_job<T> &job, uint32_t level,
	uint32_t digit, uint32_t tiles, const T *own, struct order_found<T> *found, uint32_t *end,
	T *sum)
{
	T before = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < RADIX - 1; k++)
		before = k < digit ? before + found->sibling[k] : before;
	found->level[level] = before;
	*sum = before + *sum;
	if (level == 0) {
		*sum = before;
		for (uint32_t k = 0; k < tiles; k++) {
			found->tile[k] = *sum;
			*sum += own[k];
		}
	}
	if (*end % RADIX == 0 && level + 1 < PASS_LEVELS && TILE_LEVELS + level + 1 < job.levels)
		publish_node(job, level + 1, *end / RADIX - 1, *sum);
	*end = *end % RADIX == 0 ? *end / RADIX : 1; /* 1: nothing else ends here */
}

/*
 * By all lanes of a warp: finds the sums before the block's tiles. A lane first reads its siblings
 * of all levels; for those that are not published yet it waits when their level comes.
 */
template <typename T>
static __device__ inline void find_before(const struct order_job<T> &job, uint32_t tile,
	uint32_t tiles, const T *own, struct order_found<T> *found)
{
	constexpr uint32_t AT_ONCE = LANES / RADIX, READS = (PASS_LEVELS + AT_ONCE - 1) / AT_ONCE;
	const uint32_t lane = threadIdx.x % LANES, k = lane % RADIX;
	uint32_t end = tile + tiles;
	bool is_read[READS];
	T sibling[READS], sum = 0;

	SL_UNROLL
	for (uint32_t i = 0; i < READS; i++) {
		uint32_t level = i * AT_ONCE + lane / RADIX, node = tile >> (SL_ORDER_BITS * level);

		is_read[i] = level >= PASS_LEVELS || k >= node % RADIX ||
		             read_node(job, level, node / RADIX * RADIX + k, &sibling[i]);
	}
	SL_UNROLL
	for (uint32_t level = 0; level < PASS_LEVELS; level++) {
		uint32_t i = level / AT_ONCE, node = tile >> (SL_ORDER_BITS * level), pause = 0;

		if (lane / RADIX == level % AT_ONCE && k < node % RADIX) {
			while (!is_read[i]) {
				sl_backoff(pause);
				pause = pause < 128 ? pause + 16 : pause;
				is_read[i] = read_node(
					job, level, node / RADIX * RADIX + k, &sibling[i]);
			}
			found->sibling[k] = sibling[i];
		}
		__syncwarp();
		if (lane == 0)
			finish_level(job, level, node % RADIX, tiles, own, found, &end, &sum);
		__syncwarp();
	}
}

/* Scans the lane's 16 items in place; what precedes them is added level by level. */
template <typename T, uint32_t VECTORS>
static __device__ inline void order_items(const struct order_job<T> &job, struct part<T, VECTORS> p,
	struct order_before<T> before, T before_tile, const T *level)
{
	struct vector<T> x[VECTORS];
	T sum = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		x[v] = *vector_of(p, p.lane * VECTORS + v);
	SL_UNROLL
	for (uint32_t i = 0; i < RADIX; i++) {
		T &item = x[i / p.width].item[i % p.width], up_to = sum + item;

		item = before_tile +
		       (before.group + (before.strip + (job.inclusive ? up_to : sum)));
		sum = up_to;
	}
	for (uint32_t k = 1; k < PASS_LEVELS && TILE_LEVELS + k < job.levels; k++) {
		T above = level[k];

		SL_UNROLL
		for (uint32_t i = 0; i < RADIX; i++)
			x[i / p.width].item[i % p.width] += above;
	}
	SL_UNROLL
	for (uint32_t i = 0; i < RADIX; i++)
		x[i / p.width].item[i % p.width] = order_result(x[i / p.width].item[i % p.width]);
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		*vector_of(p, p.lane * VECTORS + v) = x[v];
}

/*
 * One block per 1 or 2 tiles; dynamic shared memory for their items. The largest blocks have 64 KiB
 * of f64 items, or 32 KiB of f32 items, of which three fit the registers of a multiprocessor.
 */
template <typename T>
static __global__ void __launch_bounds__(BLOCK_THREADS_MAX, sizeof(T) == sizeof(float) ? 3 : 2)
	order_pass_kernel(const SL_GRID_CONSTANT struct order_job<T> job)
{
	constexpr uint32_t vectors_of_lane = RADIX * sizeof(T) / VECTOR_BYTES;
	using warp_part = struct part<T, vectors_of_lane>;
	SL_SHARED_DYNAMIC(struct vector<T>, vectors);
	SL_SHARED(struct order_sums<T>, sums);
	SL_SHARED(struct order_found<T>, found);
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
	uint32_t tiles = blockDim.x / TILE_THREADS;
	sl_wait_for_previous();
	uint32_t turn = gridDim.x > 1 ? sl_look_back_ticket(job.nodes) : 0, tile = turn * tiles;
	uint64_t first = ((uint64_t)turn * warps + warp) * warp_part::items;
	warp_part p = {lane, first, (uint32_t)(first < job.n ? job.n - first : 0),
		vectors + warp * LANES * vectors_of_lane};

	read_part(p, job.in);
	__syncwarp();
	struct order_before<T> before = sum_tiles(&sums, sum_items(p));
	if (warp == 0) {
		if (lane < tiles && gridDim.x > 1 && (tile + lane) * (uint64_t)TILE_ITEMS < job.n)
			publish_node(job, 0, tile + lane, sums.tile[lane]);
		__syncwarp(); /* so that the lanes wait together */
		find_before(job, tile, tiles, sums.tile, &found);
	}
	__syncthreads();
	order_items(job, p, before, found.tile[threadIdx.x / TILE_THREADS], found.level);
	__syncwarp();
	write_part(p, job.out);
}

/* --- host ------------------------------------------------------------------------------------- */

/* Blocks of whole tiles, of a power of two each: the nearest one that is not smaller. */
static inline uint32_t order_block(uint32_t block)
{
	uint32_t tiles = 1;

	while (tiles < BLOCK_TILES_MAX && tiles * TILE_THREADS < block)
		tiles *= 2;
	return tiles * TILE_THREADS;
}

/* Dynamic shared memory of a block. */
static inline size_t order_pass_shared_bytes(uint32_t block, enum sl_type type)
{
	return (size_t)order_block(block) * RADIX * sl_type_bytes(type);
}

/* The states of all nodes that blocks publish. */
template <typename T>
static inline struct order_job<T> order_pass_cut(struct sl_arena *a, uint32_t n) {
	struct order_job<T> job = {
	};
	uint32_t nodes = 0;

	job.levels = sl_order_levels(n);
	for (uint32_t k = 0; k < PASS_LEVELS && TILE_LEVELS + k < job.levels; k++) {
		job.first_node[k] = nodes;
		nodes += sl_order_nodes(n, TILE_LEVELS + k);
	}
	job.nodes = sl_look_back_cut<typename order_job<T>::word>(a, nodes);
	return job;
}

static inline size_t
order_pass_scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	if (shape->type == SL_F32)
		order_pass_cut<float>(&a, shape->n);
	else
		order_pass_cut<double>(&a, shape->n);
	return a.used;
}

/* Clears the states and queues the kernel with an early launch, as scan/shared.cu does. */
template <typename T>
static inline enum sl_status order_pass(
	struct sl_exec *x, const struct sl_scan_job *job, uint32_t threads)
{
	struct sl_arena a = x->scratch;
	struct order_job<T> t = order_pass_cut<T>(&a, job->n);
	uint32_t block = order_block(threads), blocks = sl_grid(job->n, block * RADIX);

	t.in = (const T *)job->in;
	t.out = (T *)job->out;
	t.n = job->n;
	t.inclusive = job->inclusive;
	if (blocks > 1) /* a single block has no predecessor, so no state is read */
		SL_TRY(sl_look_back_clear(t.nodes, x->stream));
	return sl_launch_early("order_pass_kernel", order_pass_kernel<T>, blocks, block,
		order_pass_shared_bytes(block, job->type), x->stream, t);
}

#endif
