/*
 * scan/look_ahead.cuh - the scan for large n on devices from Hopper on: one pass over tiles, joined
 * by look-ahead.
 *
 * One block a multiprocessor stays for the whole scan, and its warps have trades:
 *
 *	a loader takes the next tile by a ticket and asks for it in one bulk load, into the next of
 *	         a ring of stages in shared memory, as soon as that stage is empty
 *	summers  sum up each tile as soon as it has come, and publish the sum to all blocks
 *	a looker keeps the sum of all tiles before the block's last one; for the next it adds those
 *	         that lie between the two, which other blocks publish
 *	scanners scan the tile from shared memory and write it
 *
 * What a stage has reached they tell each other by its gates (bulk.cuh). So loads are on their way
 * all the time and no thread waits for them with registers in its hands, which is what holds the
 * kernel of one tile a block back (shared.cu): its blocks load, wait for others, and write in turn.
 * After the decoupled look-ahead of CCCL's scan for Blackwell (NVIDIA/cccl, pull request 6811).
 *
 * It ends, however many blocks run at a time. A ticket is taken when there is room for its tile, by
 * a block that runs; from then on nothing but the load and the summers stands between tile and
 * published sum. Summers wait for loads alone, never for the looker, the scanners, or another
 * block. So each tile that has a ticket is published in the end, in whatever order; a looker waits
 * for tiles with lower tickets alone, all given out; so each tile is scanned, its stage is empty
 * again, and the next ticket is taken. One block alone would take them all. (Were a ticket taken
 * before there is room, its tile would wait for the block's earlier scans, these for the tickets of
 * others, and all blocks would go in step.)
 *
 * An item is read once and written once. Tiles begin where memory has a multiple of 16 bytes, which
 * must be the same places for in and out; a vector that is not in's altogether, the first or the
 * last, is read and written by items.
 */
#ifndef SL_PRIMITIVES_SCAN_LOOK_AHEAD_CUH
#define SL_PRIMITIVES_SCAN_LOOK_AHEAD_CUH

#include <string.h>

#include "primitives/kernel/bulk.cuh"
#include "primitives/kernel/look_back.cuh"
#include "primitives/primitives.h"
#include "warp.cuh"

/* What a block is made of: warps of two trades, vectors a lane of a scanner, stages. */
template <uint32_t SCANNERS, uint32_t SUMMERS, uint32_t VECTORS, uint32_t STAGES>
struct look_ahead_plan {
	static constexpr uint32_t scanners = SCANNERS, summers = SUMMERS, vectors = VECTORS,
				  stages = STAGES;
	static constexpr uint32_t warps = scanners + summers + 2; /* a looker, a loader */
	static constexpr uint32_t part_vectors = LANES * vectors; /* of a scanner */
	static constexpr uint32_t tile_vectors = scanners * part_vectors;
	static constexpr uint32_t tile_bytes = tile_vectors * VECTOR_BYTES;

	static_assert(scanners % summers == 0, "each summer has as many parts");
	static_assert(scanners <= LANES, "a warp adds up the sums of all parts");
};

template <typename T> struct look_ahead_job {
	static constexpr uint32_t width = VECTOR_BYTES / sizeof(T); /* items a vector */

	const T *in;
	T *out;
	uint32_t off; /* items that the first tile would have before in */
	uint64_t end; /* off + n: places are counted from that tile's begin */
	bool inclusive;
	struct sl_look_back<T> sums; /* of tiles: nothing but each one's own is published */
};

/* A place for a tile in shared memory, beside its items. Gates open in this order. */
template <typename T, class P> struct stage {
	struct sl_gate full;   /* the tile has come */
	struct sl_gate summed; /* and all its parts are summed up */
	struct sl_gate known;  /* and the sum of all tiles before is there, beside those of parts */
	struct sl_gate empty;  /* and no thread needs anything of it any more */
	uint32_t tile;
	T before;            /* sum of all tiles before */
	T part[P::scanners]; /* sums of its parts */
};

/* The tile of a stage when all tiles have been taken. */
static constexpr uint32_t NO_TILE = ~0u;

/* Tiles that the looker asks for at a time, a lane: with 5, those that a Hopper's other 131 blocks
 * may have taken since its last one are one question. */
static constexpr uint32_t ASKED = 5;

/* Waits for the block's k-th tile. */
template <typename T, class P>
static __device__ inline uint32_t come(struct stage<T, P> *ring, uint32_t k)
{
	struct stage<T, P> *s = &ring[k % P::stages];

	sl_gate_wait(&s->full, k / P::stages);
	return s->tile;
}

/* --- the loader ------------------------------------------------------------------------------- */

/* Items from .. end - 1 of the tile that begins at first, one by one; 0 before the first of all. */
template <typename T>
static __device__ inline void load_edge(
	const struct look_ahead_job<T> &job, uint64_t first, uint32_t from, uint32_t end, T *to)
{
	for (uint32_t i = from; i < end; i++)
		to[i] = first + i < job.off ? 0 : job.in[first + i - job.off];
}

template <typename T, class P>
static __device__ inline void load_tile(
	const struct look_ahead_job<T> &job, uint32_t tile, T *to, struct sl_gate *full)
{
	constexpr uint32_t width = look_ahead_job<T>::width, items = P::tile_vectors * width;
	uint64_t first = (uint64_t)tile * items, left = job.end - first;
	uint32_t end = left < items ? (uint32_t)left : items, whole_end = end / width * width;
	uint32_t whole = tile == 0 && job.off > 0 && whole_end > 0 ? width : 0;

	if (whole > 0) {
		load_edge(job, first, 0, whole, to);
		sl_bulk_order(); /* before the loads of later rounds */
	}
	load_edge(job, first, whole_end, end, to);
	if (whole < whole_end) {
		uint32_t bytes = (whole_end - whole) * (uint32_t)sizeof(T);

		sl_gate_announce(full, bytes);
		sl_bulk_load(to + whole, job.in + (first + whole - job.off), bytes, full);
	} else {
		sl_gate_arrive(full);
	}
}

/* One thread. */
template <typename T, class P>
static __device__ inline void load_tiles(
	const struct look_ahead_job<T> &job, struct stage<T, P> *ring, struct vector<T> *items)
{
	for (uint32_t k = 0;; k++) {
		uint32_t at = k % P::stages;
		struct stage<T, P> *s = &ring[at];

		if (k >= P::stages)
			sl_gate_wait(&s->empty, k / P::stages - 1);
		uint32_t tile = sl_look_back_next(job.sums);
		s->tile = tile < job.sums.tiles ? tile : NO_TILE;
		if (s->tile == NO_TILE) {
			sl_gate_arrive(&s->full);
			return;
		}
		load_tile<T, P>(job, tile, (items + at * P::tile_vectors)->item, &s->full);
	}
}

/* --- the summers ------------------------------------------------------------------------------ */

template <typename T> static __device__ inline T sum_vector(const struct vector<T> &x)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t i = 0; i < VECTOR_BYTES / sizeof(T); i++)
		sum += x.item[i];
	return sum;
}

/* For a warp: the sum of a part. */
template <typename T, class P>
static __device__ inline T sum_part(const struct vector<T> *part, uint32_t lane)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++)
		sum += sum_vector(part[v * LANES + lane]);
	return sum_warp(sum);
}

/* The i-th summer has a share of each tile's parts; they take turns at publishing. */
template <typename T, class P>
static __device__ inline void sum_tiles(const struct look_ahead_job<T> &job,
	struct stage<T, P> *ring, const struct vector<T> *items, uint32_t i)
{
	constexpr uint32_t share = P::scanners / P::summers;
	uint32_t lane = threadIdx.x % LANES, tile;

	for (uint32_t k = 0; (tile = come(ring, k)) != NO_TILE; k++) {
		uint32_t at = k % P::stages;
		struct stage<T, P> *s = &ring[at];

		SL_UNROLL
		for (uint32_t p = i * share; p < (i + 1) * share; p++) {
			T sum = sum_part<T, P>(
				items + at * P::tile_vectors + p * P::part_vectors, lane);

			if (lane == 0)
				s->part[p] = sum;
		}
		if (lane == 0) {
			sl_gate_arrive(&s->summed);
			sl_gate_arrive(&s->known);
		}
		if (k % P::summers == i) {
			sl_gate_wait(&s->summed, k / P::stages);
			T sum = sum_warp(lane < P::scanners ? s->part[lane] : 0);
			if (lane == 0)
				sl_look_back_publish(job.sums, tile, SL_KNOWN_OWN, sum);
		}
		sl_gate_arrive(&s->empty);
	}
}

/* --- the looker ------------------------------------------------------------------------------- */

/* The sum of every 32nd of the tiles from .. end - 1, ASKED of them at most. Waits for them. */
template <typename T>
static __device__ inline T look_at(struct sl_look_back<T> tiles, uint32_t from, uint32_t end)
{
	enum sl_known known[ASKED];
	T sum[ASKED], all = 0;

	SL_UNROLL
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t tile = from + i * LANES;

		sum[i] = 0;
		known[i] = tile < end ? sl_look_back_read(tiles, tile, &sum[i]) : SL_KNOWN_OWN;
	}
	SL_UNROLL
	for (uint32_t i = 0; i < ASKED; i++) {
		while (known[i] == SL_KNOWN_NOTHING) {
			sl_backoff(0);
			known[i] = sl_look_back_read(tiles, from + i * LANES, &sum[i]);
		}
		all += sum[i];
	}
	return all;
}

template <typename T, class P>
static __device__ inline void look_ahead(
	const struct look_ahead_job<T> &job, struct stage<T, P> *ring)
{
	uint32_t lane = threadIdx.x % LANES, last = 0, tile;
	T before = 0;

	for (uint32_t k = 0; (tile = come(ring, k)) != NO_TILE; k++) {
		struct stage<T, P> *s = &ring[k % P::stages];
		T sum = 0;

		for (uint32_t from = last + lane; from < tile; from += ASKED * LANES)
			sum += look_at(job.sums, from, tile);
		before += sum_warp(sum);
		last = tile;
		if (lane == 0) {
			s->before = before;
			sl_gate_arrive(&s->known);
		}
		sl_gate_arrive(&s->empty);
	}
}

/* --- the scanners ----------------------------------------------------------------------------- */

/* The items become the sums up to each, or before each; sum is that of all before. */
template <typename T>
static __device__ inline struct vector<T> scan_vector(struct vector<T> x, T sum, bool inclusive) {
	SL_UNROLL
	for (uint32_t i = 0; i < VECTOR_BYTES / sizeof(T); i++) {
		T before = sum;

		sum += x.item[i];
		x.item[i] = inclusive ? sum : before;
	}
	return x;
}

/* Writes the vector that belongs at a place, or, if it is not WHOLE, what of it is out's. */
template <bool WHOLE, typename T>
static __device__ inline void write_vector(
	const struct look_ahead_job<T> &job, uint64_t at, const struct vector<T> &x)
{
	T *to = job.out + (int64_t)(at - job.off);

	if constexpr (WHOLE) {
		uint4 bytes;

		memcpy(&bytes, &x, sizeof(bytes));
		sl_store_vector(to, bytes);
	} else {
		SL_UNROLL
		for (uint32_t i = 0; i < job.width; i++)
			if (at + i >= job.off && at + i < job.end)
				to[i] = x.item[i];
	}
}

/* Scans a lane's vectors, the first of which belongs at a place, and writes them. */
template <bool WHOLE, typename T, uint32_t VECTORS>
static __device__ inline void write_part(const struct look_ahead_job<T> &job, uint64_t at,
	const struct vector<T> (&x)[VECTORS], const T (&before)[VECTORS], T sum)
{
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		write_vector<WHOLE>(job, at + v * LANES * job.width,
			scan_vector(x[v], (T)(sum + before[v]), job.inclusive));
}

/* x = a lane's vectors of a part, before = what of the part stands before each. */
template <typename T, class P>
static __device__ inline void read_part(
	const struct vector<T> *part, uint32_t lane, struct vector<T> *x, T *before)
{
	T all = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++) {
		x[v] = part[v * LANES + lane];
		before[v] = sum_vector(x[v]);
	}
	SL_UNROLL
	for (uint32_t v = 0; v < P::vectors; v++) {
		T through = scan_warp(before[v], lane);

		before[v] = all + through - before[v];
		all += __shfl_sync(SL_LANES, through, LANES - 1);
	}
}

/* The i-th scanner has the i-th part of each tile. */
template <typename T, class P>
static __device__ inline void scan_tiles(const struct look_ahead_job<T> &job,
	struct stage<T, P> *ring, const struct vector<T> *items, uint32_t i)
{
	constexpr uint32_t width = look_ahead_job<T>::width;
	uint32_t lane = threadIdx.x % LANES, tile;

	for (uint32_t k = 0; (tile = come(ring, k)) != NO_TILE; k++) {
		uint32_t at = k % P::stages, part = i * P::part_vectors;
		struct stage<T, P> *s = &ring[at];
		struct vector<T> x[P::vectors];
		T before[P::vectors];

		read_part<T, P>(items + at * P::tile_vectors + part, lane, x, before);
		sl_gate_wait(&s->known, k / P::stages);
		T sum = s->before + sum_warp(lane < i ? s->part[lane] : 0);
		sl_gate_arrive(&s->empty);

		uint64_t first = ((uint64_t)tile * P::tile_vectors + part) * width;
		uint64_t at_lane = first + lane * width;
		if (first >= job.off && first + P::part_vectors * width <= job.end)
			write_part<true>(job, at_lane, x, before, sum);
		else
			write_part<false>(job, at_lane, x, before, sum);
	}
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* P::warps warps a block; the shared memory of P::stages tiles. */
template <typename T, class P>
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

	sl_wait_for_last();
	for (uint32_t s = threadIdx.x; s < P::stages; s += P::warps * LANES) {
		sl_gate_make(&ring[s].full, 1);
		sl_gate_make(&ring[s].summed, P::summers);
		sl_gate_make(&ring[s].known, P::summers + 1);         /* the looker */
		sl_gate_make(&ring[s].empty, (P::warps - 1) * LANES); /* all but the loader */
	}
	__syncthreads();
	if (warp < P::scanners)
		scan_tiles<T, P>(job, ring, items, warp);
	else if (warp < P::scanners + P::summers)
		sum_tiles<T, P>(job, ring, items, warp - P::scanners);
	else if (warp == P::scanners + P::summers)
		look_ahead<T, P>(job, ring);
	else if (threadIdx.x % LANES == 0)
		load_tiles<T, P>(job, ring, items);
}

/* --- host ------------------------------------------------------------------------------------- */

/*
 * On an H200 the fastest of 8 to 16 scanners, 4 to 8 summers and 3 to 8 vectors: tiles of 32 KiB,
 * of which 6 take 192 of the 227 KiB that a block can have.
 */
using look_ahead_best = struct look_ahead_plan<8, 4, 8, 6>;

/* Items that the first tile has before in. */
static uint32_t look_ahead_off(const struct sl_scan_job *job, size_t item_bytes)
{
	return (uint32_t)((uintptr_t)job->in % VECTOR_BYTES / item_bytes);
}

template <class P> static uint32_t look_ahead_tiles(uint64_t n, uint32_t off, size_t item_bytes)
{
	return (uint32_t)(((n + off) * item_bytes + P::tile_bytes - 1) / P::tile_bytes);
}

/* Measures or cuts what any job of up to n items needs. */
template <typename T, class P>
static struct sl_look_back<T> look_ahead_cut(struct sl_arena *a, uint32_t n) {
	constexpr uint32_t most = VECTOR_BYTES / sizeof(T) - 1;

	return sl_look_back_cut<T>(a, look_ahead_tiles<P>(n, most, sizeof(T)));
}

/* Of a block. */
template <typename T, class P>
static constexpr size_t look_ahead_shared_bytes(void)
{
	return P::stages * (P::tile_bytes + sizeof(struct stage<T, P>));
}

/* Queues a job whose in and out are equally far from a multiple of 16 bytes, for up to so many
 * blocks. */
template <typename T, class P>
static enum sl_status look_ahead_run(
	struct sl_exec *x, const struct sl_scan_job *job, uint32_t blocks)
{
	struct sl_arena a = x->scratch;
	uint32_t off = look_ahead_off(job, sizeof(T));
	struct look_ahead_job<T> t = {
		(const T *)job->in, (T *)job->out, off,
			(uint64_t)off + job->n, job->inclusive, look_ahead_cut<T, P>(&a, job->n)
	};

	t.sums.tiles = look_ahead_tiles<P>(job->n, off, sizeof(T));
	SL_TRY(sl_look_back_clear(t.sums, x->stream));
	return sl_launch_early("look_ahead_kernel", look_ahead_kernel<T, P>,
		t.sums.tiles < blocks ? t.sums.tiles : blocks, P::warps * LANES,
		P::stages * P::tile_bytes, x->stream, t);
}

#endif
