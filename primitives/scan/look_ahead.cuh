/*
 * scan/look_ahead.cuh - the scan of many items on Hopper and later: persistent, warp-specialised
 * blocks, joined by decoupled look-ahead.
 *
 * One block per multiprocessor stays for the whole scan. Its warps have four roles, which form a
 * pipeline over a ring of stages in shared memory:
 *
 *	load warp        takes the next tile by a ticket and issues one bulk load into the next
 *	                 stage, as soon as that stage is empty
 *	reduce warps     sum each tile as soon as it has arrived and publish the sum to all blocks
 *	look-ahead warp  keeps the sum of all tiles before the block's previous tile; for the next
 *	                 tile it adds the published sums of the tiles between the two
 *	scan warps       scan the tile from shared memory and write it
 *
 * Each stage has four mbarriers (bulk.cuh), with which one role passes the stage on to the next.
 * Loads are always in flight and no thread waits for them with registers in use. That wait is what
 * limits the kernel of one tile per block (shared.cu): its blocks load, wait for their predecessors
 * and write in sequence. On an H200 a scan of 2^27 u32 items takes 0.265 ms: 1.31 times the speed
 * of CUB 3.0.1 and 96 % of the copy speed; one tile per block with look-back takes 0.366 ms.
 * Source: the decoupled look-ahead scan of CCCL for Blackwell (NVIDIA/cccl, pull request 6811).
 *
 * Progress does not depend on the number of resident blocks. A ticket is taken only when a stage is
 * free for its tile, by a running block; after that, only its load warp and its reduce warps have
 * to run until the sum of the tile is published. Reduce warps wait for loads alone, never for the
 * other roles or for another block. So each tile with a ticket is eventually published. A
 * look-ahead warp waits only for tiles with lower tickets, which have all been taken; so each tile
 * is scanned, its stage becomes empty, and the next ticket is taken. Even a single block completes
 * all tiles. (If a ticket were taken before a stage is free, its tile would wait for the block's
 * earlier scans, and these for tickets of other blocks: all blocks would advance in lockstep.)
 *
 * Memory: each item is read once and written once; one state of 8 bytes (u32) or 16 bytes (u64) per
 * tile of 32 KiB. Tiles begin at multiples of 16 bytes of in. The first and the last vector may be
 * incomplete; they are read and written item by item. If the multiples of 16 bytes of out are at
 * other items, a second instance of the kernel assembles each vector of out from those of two
 * neighbouring lanes (look_ahead_output.cuh).
 */
#ifndef SL_PRIMITIVES_SCAN_LOOK_AHEAD_CUH
#define SL_PRIMITIVES_SCAN_LOOK_AHEAD_CUH

#include "look_ahead_output.cuh"
#include "primitives/kernel/bulk.cuh"
#include "primitives/kernel/look_back.cuh"

/* Shape of a block: warps per role, vectors per lane of a scan warp, stages of the ring. */
template <uint32_t SCANNERS, uint32_t REDUCERS, uint32_t VECTORS, uint32_t STAGES>
struct look_ahead_config {
	static constexpr uint32_t scanners = SCANNERS, reducers = REDUCERS, vectors = VECTORS,
				  stages = STAGES;
	static constexpr uint32_t warps = scanners + reducers + 2; /* + look-ahead, load */
	static constexpr uint32_t part_vectors = LANES * vectors;  /* of one scan warp */
	static constexpr uint32_t tile_vectors = scanners * part_vectors;
	static constexpr uint32_t tile_bytes = tile_vectors * VECTOR_BYTES;

	static_assert(scanners % reducers == 0, "each reduce warp has the same number of parts");
	static_assert(scanners <= LANES, "one warp adds up the sums of all parts");
};

/*
 * One slot of the ring: the state of a tile in shared memory; its items are in a separate array.
 * The mbarriers complete in this order in each phase.
 */
template <typename T, class P> struct stage {
	struct sl_mbarrier full;    /* the tile has arrived */
	struct sl_mbarrier reduced; /* and part_sum[] is complete */
	struct sl_mbarrier ready;   /* and prefix is set */
	struct sl_mbarrier empty;   /* and no thread reads the stage any more */
	uint32_t tile;
	T prefix;                /* sum of all items of all tiles before */
	T part_sum[P::scanners]; /* sums of the parts, one per scan warp */
};

/* Value of stage.tile that tells all warps to stop: all tiles have been taken. */
static constexpr uint32_t NO_TILE = ~0u;

/*
 * Tile states that each lane of the look-ahead warp reads at a time. With 5, one step covers the
 * 160 tiles that the other 131 blocks of an H200 may have taken since this block's previous tile.
 */
static constexpr uint32_t READS_IN_FLIGHT = 5;

/* Waits until the block's k-th tile has arrived, and returns its number. */
template <typename T, class P>
static __device__ inline uint32_t wait_for_tile(struct stage<T, P> *ring, uint32_t k)
{
	struct stage<T, P> *s = &ring[k % P::stages];

	sl_mbarrier_wait(&s->full, k / P::stages);
	return s->tile;
}

/* --- load warp -------------------------------------------------------------------------------- */

/*
 * Copies items from .. end - 1 of the tile that starts at position first; items before in[0] are 0.
 */
template <typename T>
static __device__ inline void load_partial(
	const struct look_ahead_job<T> &job, uint64_t first, uint32_t from, uint32_t end, T *to)
{
	for (uint32_t i = from; i < end; i++)
		to[i] = first + i < job.lead ? 0 : job.in[first + i - job.lead];
}

/*
 * Loads one tile into a stage: one bulk load for its complete vectors, item loads for an incomplete
 * first or last vector. Completes a phase of full in both cases.
 */
template <typename T, class P>
static __device__ inline void load_tile(
	const struct look_ahead_job<T> &job, uint32_t tile, T *to, struct sl_mbarrier *full)
{
	constexpr uint32_t width = look_ahead_job<T>::width, items = P::tile_vectors * width;
	uint64_t first = (uint64_t)tile * items, left = job.end - first;
	uint32_t end = left < items ? (uint32_t)left : items, whole_end = end / width * width;
	uint32_t whole_begin = tile == 0 && job.lead > 0 && whole_end > 0 ? width : 0;

	if (whole_begin > 0) {
		load_partial(job, first, 0, whole_begin, to);
		sl_bulk_fence(); /* orders these stores before the bulk loads of later phases */
	}
	load_partial(job, first, whole_end, end, to);
	if (whole_begin < whole_end) {
		uint32_t bytes = (whole_end - whole_begin) * (uint32_t)sizeof(T);

		sl_mbarrier_arrive_expect(full, bytes);
		sl_bulk_load(
			to + whole_begin, job.in + (first + whole_begin - job.lead), bytes, full);
	} else {
		sl_mbarrier_arrive(full);
	}
}

/*
 * The loop of the load warp, by its first lane. Reuses a stage after its previous phase is empty.
 */
template <typename T, class P>
static __device__ inline void load_tiles(
	const struct look_ahead_job<T> &job, struct stage<T, P> *ring, struct vector<T> *items)
{
	for (uint32_t k = 0;; k++) {
		uint32_t at = k % P::stages;
		struct stage<T, P> *s = &ring[at];

		if (k >= P::stages)
			sl_mbarrier_wait(&s->empty, k / P::stages - 1);
		uint32_t tile = sl_look_back_next(job.sums);
		bool has_items = (uint64_t)tile * P::tile_vectors * job.width < job.end;
		s->tile = has_items ? tile : NO_TILE;
		if (s->tile == NO_TILE) {
			sl_mbarrier_arrive(&s->full);
			return;
		}
		load_tile<T, P>(job, tile, (items + at * P::tile_vectors)->item, &s->full);
	}
}

/* --- reduce warps ----------------------------------------------------------------------------- */

/* Sum of the items of a vector. */
template <typename T> static __device__ inline T sum_vector(const struct vector<T> &x)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t i = 0; i < VECTOR_BYTES / sizeof(T); i++)
		sum += x.item[i];
	return sum;
}

/* For a warp: the sum of one part of a tile. */
template <typename T, class P>
static __device__ inline T reduce_part(const struct vector<T> *part, uint32_t lane)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++)
		sum += sum_vector(part[v * LANES + lane]);
	return sum_warp(sum);
}

/*
 * The loop of reduce warp i. It sums its share of the tile's parts; the reduce warps take turns at
 * adding up the parts and publishing the tile's sum.
 */
template <typename T, class P>
static __device__ inline void reduce_tiles(const struct look_ahead_job<T> &job,
	struct stage<T, P> *ring, const struct vector<T> *items, uint32_t i)
{
	constexpr uint32_t share = P::scanners / P::reducers;
	uint32_t lane = threadIdx.x % LANES, tile;

	for (uint32_t k = 0; (tile = wait_for_tile(ring, k)) != NO_TILE; k++) {
		uint32_t at = k % P::stages;
		struct stage<T, P> *s = &ring[at];

		SL_UNROLL
		for (uint32_t p = i * share; p < (i + 1) * share; p++) {
			T sum = reduce_part<T, P>(
				items + at * P::tile_vectors + p * P::part_vectors, lane);

			if (lane == 0)
				s->part_sum[p] = sum;
		}
		if (lane == 0) {
			sl_mbarrier_arrive(&s->reduced);
			sl_mbarrier_arrive(&s->ready);
		}
		if (k % P::reducers == i) {
			sl_mbarrier_wait(&s->reduced, k / P::stages);
			T sum = sum_warp(lane < P::scanners ? s->part_sum[lane] : 0);
			if (lane == 0)
				sl_look_back_publish(job.sums, tile, SL_TILE_AGGREGATE, sum);
		}
		sl_mbarrier_arrive(&s->empty);
	}
}

/* --- look-ahead warp -------------------------------------------------------------------------- */

/*
 * Sum of the published sums of tiles from, from + 32, ... before end, at most READS_IN_FLIGHT of
 * them. Issues all reads first, then polls those that are not published yet.
 */
template <typename T>
static __device__ inline T sum_strided(struct sl_look_back<T> tiles, uint32_t from, uint32_t end)
{
	enum sl_tile_status known[READS_IN_FLIGHT];
	T sum[READS_IN_FLIGHT], total = 0;

	SL_UNROLL
	for (uint32_t i = 0; i < READS_IN_FLIGHT; i++) {
		uint32_t tile = from + i * LANES;

		sum[i] = 0;
		known[i] = tile < end ? sl_look_back_read(tiles, tile, &sum[i]) : SL_TILE_AGGREGATE;
	}
	SL_UNROLL
	for (uint32_t i = 0; i < READS_IN_FLIGHT; i++) {
		while (known[i] == SL_TILE_INVALID) {
			sl_backoff(0);
			known[i] = sl_look_back_read(tiles, from + i * LANES, &sum[i]);
		}
		total += sum[i];
	}
	return total;
}

/*
 * The loop of the look-ahead warp. The running prefix stays in registers: each step adds only the
 * tiles since the block's previous tile, in a fixed order of reads.
 */
template <typename T, class P>
static __device__ inline void look_ahead(
	const struct look_ahead_job<T> &job, struct stage<T, P> *ring)
{
	uint32_t lane = threadIdx.x % LANES, last = 0, tile;
	T prefix = 0;

	for (uint32_t k = 0; (tile = wait_for_tile(ring, k)) != NO_TILE; k++) {
		struct stage<T, P> *s = &ring[k % P::stages];
		T sum = 0;

		for (uint32_t from = last + lane; from < tile; from += READS_IN_FLIGHT * LANES)
			sum += sum_strided(job.sums, from, tile);
		prefix += sum_warp(sum);
		last = tile;
		if (lane == 0) {
			s->prefix = prefix;
			sl_mbarrier_arrive(&s->ready);
		}
		sl_mbarrier_arrive(&s->empty);
	}
}

/* --- scan warps ------------------------------------------------------------------------------- */

/*
 * Reads a lane's vectors of a part into x and sets prefix[v] = sum of the items of the part before
 * x[v].
 */
template <typename T, class P>
static __device__ inline void read_part(
	const struct vector<T> *part, uint32_t lane, struct vector<T> *x, T *prefix)
{
	T total = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++) {
		x[v] = part[v * LANES + lane];
		prefix[v] = sum_vector(x[v]);
	}
	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++) {
		T lane_scan = scan_warp(prefix[v], lane);

		prefix[v] = total + lane_scan - prefix[v];
		total += __shfl_sync(SL_LANES, lane_scan, LANES - 1);
	}
}

/*
 * The loop of scan warp i, which owns part i of each tile. It leaves the stage as soon as its items
 * are in registers and the prefix is read; the writes overlap with the next load.
 */
template <typename T, class P, bool REALIGN>
static __device__ inline void scan_tiles(const struct look_ahead_job<T> &job,
	struct stage<T, P> *ring, const struct vector<T> *items, uint32_t i)
{
	constexpr uint32_t width = look_ahead_job<T>::width;
	uint32_t lane = threadIdx.x % LANES, tile;

	for (uint32_t k = 0; (tile = wait_for_tile(ring, k)) != NO_TILE; k++) {
		uint32_t at = k % P::stages, part = i * P::part_vectors;
		struct stage<T, P> *s = &ring[at];
		struct vector<T> x[P::vectors];
		T prefix[P::vectors];

		read_part<T, P>(items + at * P::tile_vectors + part, lane, x, prefix);
		sl_mbarrier_wait(&s->ready, k / P::stages);
		T sum = s->prefix + sum_warp(lane < i ? s->part_sum[lane] : 0);
		sl_mbarrier_arrive(&s->empty);

		uint64_t first = ((uint64_t)tile * P::tile_vectors + part) * width;
		uint64_t at_lane = first + lane * width;
		bool whole = first >= job.lead && first + P::part_vectors * width <= job.end;
		if constexpr (REALIGN) {
			if (whole)
				write_part_realigned<true>(job, at_lane, x, prefix, sum);
			else
				write_part_realigned<false>(job, at_lane, x, prefix, sum);
		} else {
			if (whole)
				write_part<true>(job, at_lane, x, prefix, sum);
			else
				write_part<false>(job, at_lane, x, prefix, sum);
		}
	}
}

/* --- kernel ----------------------------------------------------------------------------------- */

/*
 * P::warps warps per block; dynamic shared memory for the items of P::stages tiles. REALIGN: for
 * shift > 0.
 */
template <typename T, class P, bool REALIGN>
static __global__ void __launch_bounds__(P::warps *LANES, 1)
	look_ahead_kernel(struct look_ahead_job<T> job)
{
	using ring_of_stages = struct {
		struct stage<T, P> at[P::stages];
	};
	SL_SHARED_DYNAMIC(struct vector<T>, items);
	SL_SHARED(ring_of_stages, stages);
	struct stage<T, P> *ring = stages.at;
	uint32_t warp = threadIdx.x / LANES;

	sl_wait_for_previous();
	job.end = job.lead + (uint64_t)sl_count_read(job.count);
	for (uint32_t s = threadIdx.x; s < P::stages; s += P::warps * LANES) {
		sl_mbarrier_init(&ring[s].full, 1);
		sl_mbarrier_init(&ring[s].reduced, P::reducers);
		sl_mbarrier_init(&ring[s].ready, P::reducers + 1); /* + 1: the look-ahead warp */
		sl_mbarrier_init(
			&ring[s].empty, (P::warps - 1) * LANES); /* all but the load warp */
	}
	__syncthreads();
	if (warp < P::scanners)
		scan_tiles<T, P, REALIGN>(job, ring, items, warp);
	else if (warp < P::scanners + P::reducers)
		reduce_tiles<T, P>(job, ring, items, warp - P::scanners);
	else if (warp == P::scanners + P::reducers)
		look_ahead<T, P>(job, ring);
	else if (threadIdx.x % LANES == 0)
		load_tiles<T, P>(job, ring, items);
}

/* --- host ------------------------------------------------------------------------------------- */

/*
 * The fastest configuration on an H200 among 8 to 16 scan warps, 4 to 8 reduce warps and 3 to 8
 * vectors: tiles of 32 KiB, 6 stages in 192 of the 227 KiB that a block can have.
 */
using look_ahead_default = struct look_ahead_config<8, 4, 8, 6>;

/* The distance of an array from the previous multiple of 16 bytes, in items. */
static uint32_t items_before(const void *items, size_t item_bytes)
{
	return (uint32_t)((uintptr_t)items % VECTOR_BYTES / item_bytes);
}

/* Items of the first tile before in[0]. */
static uint32_t look_ahead_lead(const struct sl_scan_job *job, size_t item_bytes)
{
	return items_before(job->in, item_bytes);
}

template <class P> static uint32_t look_ahead_tiles(uint64_t n, uint32_t lead, size_t item_bytes)
{
	return (uint32_t)(((n + lead) * item_bytes + P::tile_bytes - 1) / P::tile_bytes);
}

/* Cuts or measures the tile states for any job of up to n items, whatever its alignment. */
template <typename T, class P>
static struct sl_look_back<T> look_ahead_cut(struct sl_arena *a, uint32_t n) {
	constexpr uint32_t most = VECTOR_BYTES / sizeof(T) - 1;

	return sl_look_back_cut<T>(a, look_ahead_tiles<P>(n, most, sizeof(T)));
}

/* Shared memory of a block: the ring of tiles and its stage states. */
template <typename T, class P>
static constexpr size_t look_ahead_shared_bytes(void)
{
	return P::stages * (P::tile_bytes + sizeof(struct stage<T, P>));
}

/* Queues the scan of a job on at most blocks blocks. */
template <typename T, class P>
static enum sl_status look_ahead_run(
	struct sl_exec *x, const struct sl_scan_job *job, uint32_t blocks)
{
	constexpr uint32_t width = look_ahead_job<T>::width;
	struct sl_arena a = x->scratch;
	uint32_t lead = look_ahead_lead(job, sizeof(T));
	uint32_t shift = (lead + width - items_before(job->out, sizeof(T))) % width;
	struct look_ahead_job<T> t = {
		(const T *)job->in, (T *)job->out, lead, sl_count_of(job),
			0, shift, job->inclusive, look_ahead_cut<T, P>(&a, job->n)
	};

	t.sums.tiles = look_ahead_tiles<P>(job->n, lead, sizeof(T));
	SL_TRY(sl_look_back_clear(t.sums, x->stream));
	return sl_launch_early("look_ahead_kernel",
		shift > 0 ? look_ahead_kernel<T, P, true> : look_ahead_kernel<T, P, false>,
		t.sums.tiles < blocks ? t.sums.tiles : blocks, P::warps * LANES,
		P::stages * P::tile_bytes, x->stream, t);
}

#endif
