/*
 * order_pass.cuh - the single-pass scan of f32 and f64 in the order of order.h: tiles in shared
 * memory, joined by the published sums of nodes.
 *
 * A decoupled look-back adds the sums of tiles in an order that depends on which ones are known, so
 * its rounding differs from run to run. Here each block publishes the sum of each of its tiles, and
 * the warp with the last tile of a node also that of the node; and a block adds exactly the
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

/* Threads, items and levels of a tile. */
static constexpr uint32_t TILE_THREADS = RADIX * RADIX, TILE_ITEMS = TILE_THREADS * RADIX,
			  TILE_LEVELS = 3;

/* Tiles per multiprocessor up to which blocks have one tile. */
static constexpr uint32_t SINGLE_TILES_MOST = 16;

/* What the threads exchange for a tile: sums of 16 items, of 256 and of the tile. */
template <typename T> struct order_sums {
	T strip[TILE_THREADS], group[RADIX], tile;
};

/*
 * The sum of the siblings before node i, whose sums are in shared memory. Adding 0 instead of the
 * others changes nothing, as a sum that starts with 0 is never -0; so each step of the chain is one
 * addition.
 */
template <typename T> static __device__ __forceinline__ T sum_siblings(const T *sums, uint32_t i)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < RADIX - 1; k++) {
		sum += k < i % RADIX ? sums[i / RADIX * RADIX + k] : 0;
	}
	return sum;
}

/* What a thread adds to the sums within its 16 items, level by level. */
template <typename T> struct order_before {
	T strip, group;
};

/*
 * For a block: own is the sum of the thread's 16 items. Also sets s->tile. Ends with a barrier.
 */
template <typename T>
static __device__ __forceinline__ struct order_before<T> sum_tile(struct order_sums<T> *s, T own) {
	uint32_t strip = threadIdx.x, group = strip / RADIX;
	struct order_before<T> before;

	s->strip[strip] = own;
	__syncthreads();
	before.strip = sum_siblings(s->strip, strip);
	if (strip % RADIX == RADIX - 1)
		s->group[group] = before.strip + own;
	__syncthreads();
	before.group = sum_siblings(s->group, group);
	if (strip == TILE_THREADS - 1)
		s->tile = before.group + s->group[group];
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

/* What one warp finds out for a tile. */
template <typename T> struct order_found {
	T sibling[RADIX];     /* the sums of the siblings before the node of a level */
	T level[PASS_LEVELS]; /* their sum, of level TILE_LEVELS + k */
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
 * By one thread, level by level: the sum before the node of this level that has the tile. *end is
 * the end of the nodes that end with the tile, and *sum the sum of the one below; both are for the
 * levels that follow. Publishes the node that ends here.
 */
template <typename T>
static __device__ inline void finish_level(const struct order_job<T> &job, uint32_t level,
	uint32_t digit, struct order_found<T> *found, uint32_t *end, T *sum)
{
	T before = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < RADIX - 1; k++)
		before += k < digit ? found->sibling[k] : 0;
	found->level[level] = before;
	*sum = before + *sum;
	if (*end % RADIX == 0 && level + 1 < PASS_LEVELS && TILE_LEVELS + level + 1 < job.levels)
		publish_node(job, level + 1, *end / RADIX - 1, *sum);
	*end = *end % RADIX == 0 ? *end / RADIX : 1; /* 1: nothing else ends here */
}

/*
 * By all lanes of a warp: finds the sums before a tile, whose sum is own. A lane first reads its
 * siblings of all levels; for those that are not published yet it waits when their level comes.
 */
template <typename T>
static __device__ inline void find_before(
	const struct order_job<T> &job, uint32_t tile, T own, struct order_found<T> *found)
{
	constexpr uint32_t AT_ONCE = LANES / RADIX, READS = (PASS_LEVELS + AT_ONCE - 1) / AT_ONCE;
	const uint32_t lane = threadIdx.x % LANES, k = lane % RADIX;
	uint32_t end = tile + 1;
	bool is_read[READS];
	T sibling[READS], sum = own;

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
			finish_level(job, level, node % RADIX, found, &end, &sum);
		__syncwarp();
	}
}

/* Scans the lane's 16 items in place; what precedes them is added level by level. */
template <typename T, uint32_t VECTORS>
static __device__ inline void order_items(const struct order_job<T> &job, struct part<T, VECTORS> p,
	struct order_before<T> before, const T *level)
{
	struct vector<T> x[VECTORS];
	T sum = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		x[v] = *vector_of(p, p.lane * VECTORS + v);
	SL_UNROLL
	for (uint32_t i = 0; i < RADIX; i++) {
		T &item = x[i / p.width].item[i % p.width], up_to = sum + item;

		item = level[0] + (before.group + (before.strip + (job.inclusive ? up_to : sum)));
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

/* Shared memory of a block with TILES tiles, besides their items. */
template <typename T, uint32_t TILES> struct order_shared {
	struct order_sums<T> sums[TILES];
	struct order_found<T> found[TILES];
};

/*
 * A block has one or two tiles. Their items, 16 KiB (f32) or 32 KiB (f64) per tile, are in dynamic
 * shared memory. For each tile, one warp finds the sums before it.
 *
 * Blocks wait for the sums of other blocks most of the time. So the speed depends on how many items
 * the blocks of a multiprocessor hold together. It runs 8 blocks of one tile for f32, because these
 * have all 2048 threads that it can run, and 4 for f64: 128 KiB. Of blocks with two tiles it runs 6
 * or 3: 192 KiB.
 */
template <typename T, uint32_t TILES>
static __global__ void __launch_bounds__(TILE_THREADS, (TILES == 1 ? 32 : 24) / (int)sizeof(T))
	order_pass_kernel(const SL_GRID_CONSTANT struct order_job<T> job)
{
	constexpr uint32_t vectors_of_lane = RADIX * sizeof(T) / VECTOR_BYTES;
	using warp_part = struct part<T, vectors_of_lane>;
	using block_shared = struct order_shared<T, TILES>;
	SL_SHARED_DYNAMIC(struct vector<T>, vectors);
	SL_SHARED(block_shared, s);
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	sl_wait_for_previous();
	uint32_t tile = (gridDim.x > 1 ? sl_look_back_ticket(job.nodes) : 0) * TILES;
	warp_part p[TILES];
	struct order_before<T> before[TILES];

	SL_UNROLL
	for (uint32_t t = 0; t < TILES; t++) {
		uint64_t first = (uint64_t)(tile + t) * TILE_ITEMS + warp * warp_part::items;

		p[t] = {lane, first, (uint32_t)(first < job.n ? job.n - first : 0),
			vectors + (t * (TILE_THREADS / LANES) + warp) * LANES * vectors_of_lane};
		read_part(p[t], job.in);
	}
	__syncwarp();
	SL_UNROLL
	for (uint32_t t = 0; t < TILES; t++)
		before[t] = sum_tile(&s.sums[t], sum_items(p[t]));
	if (warp < TILES && (uint64_t)(tile + warp) * TILE_ITEMS < job.n) {
		if (lane == 0 && job.levels > TILE_LEVELS)
			publish_node(job, 0, tile + warp, s.sums[warp].tile);
		__syncwarp(); /* so that the lanes wait together */
		find_before(job, tile + warp, s.sums[warp].tile, &s.found[warp]);
	}
	__syncthreads();
	SL_UNROLL
	for (uint32_t t = 0; t < TILES; t++)
		order_items(job, p[t], before[t], s.found[t].level);
	__syncwarp();
	SL_UNROLL
	for (uint32_t t = 0; t < TILES; t++)
		write_part(p[t], job.out);
}

/* --- host ------------------------------------------------------------------------------------- */

/* All shared memory of a block with TILES tiles. */
template <typename T, uint32_t TILES>
static constexpr size_t order_shared_bytes = TILES *TILE_ITEMS * sizeof(T) +
                                             sizeof(struct order_shared<T, TILES>);

/* The shared memory that a device must have: that of a block with one tile. */
static inline size_t order_pass_shared_bytes(enum sl_type type)
{
	return type == SL_F32 ? order_shared_bytes<float, 1> : order_shared_bytes<double, 1>;
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

/* Queues the kernel with an early launch, as scan/shared.cu does. */
template <typename T, uint32_t TILES>
static inline enum sl_status queue_order_pass(const struct order_job<T> &job, sl_stream s)
{
	return sl_launch_early("order_pass_kernel", order_pass_kernel<T, TILES>,
		sl_grid(job.n, TILES * TILE_ITEMS), TILE_THREADS, TILES * TILE_ITEMS * sizeof(T), s,
		job);
}

/*
 * Blocks have two tiles if the device has the shared memory for them, and more than
 * SINGLE_TILES_MOST tiles per multiprocessor. With fewer tiles, most blocks run at the same time
 * anyway, and more blocks are faster (bench/notes/scan.md has the times).
 */
template <typename T>
static inline enum sl_status order_pass(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct order_job<T> t = order_pass_cut<T>(&a, job->n);
	struct sl_limits limits;

	t.in = (const T *)job->in;
	t.out = (T *)job->out;
	t.n = job->n;
	t.inclusive = job->inclusive;
	SL_TRY(sl_device_limits(&limits));
	if (job->n > TILE_ITEMS) /* a single tile has no predecessor, so no state is read */
		SL_TRY(sl_look_back_clear(t.nodes, x->stream));
	if (sl_grid(job->n, TILE_ITEMS) > SINGLE_TILES_MOST * limits.multiprocessors &&
		order_shared_bytes<T, 2> <= limits.shared_bytes)
		return queue_order_pass<T, 2>(t, x->stream);
	return queue_order_pass<T, 1>(t, x->stream);
}

#endif
