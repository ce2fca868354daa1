/*
 * runs.cu - search and merge of sorted runs on a device.
 *
 * Merge path (O. Green, R. McColl, D. A. Bader, GPU merge path, ICS 2012): the first d pairs of the
 * output are the first i pairs of a and the first d - i of b; a binary search finds i. One thread per tile
 * of the output finds where the tile begins. These searches are a separate kernel: in the merge, all
 * threads of a block would wait for one of them. Then each block reads the pairs of its tile into shared
 * memory, where each thread does the same for its pairs. The boundaries between the parts of two devices are such
 * searches too, each by a whole warp.
 *
 * A run may be in the memory of another device, whose latency is several times that of local memory. Therefore a
 * thread has begun all of its loads before it uses the first pair, and no sector is read twice (tile_loads.cuh).
 *
 * Memory traffic of the merge: each pair is read once and written once; the searches read about 2 log2(n)
 * keys per tile.
 */
#include "primitives/global_sort/runs.h"
#include "primitives/global_sort/tile_loads.cuh"
#include "primitives/kernel/kernel.cuh"

/* EACH is odd, so that the pairs of consecutive threads begin in different banks of shared memory. */
enum { LANES = 32, BLOCK = 256, EACH = 11, TILE = BLOCK * EACH };
static_assert((int)TILE == (int)SL_MERGE_TILE, "the scratch is for this tile");

/* The bits of a key that are compared. */
template <typename K> static __device__ __forceinline__ K part_of(K key, struct sl_key_bits bits)
{
	return (K)(key >> bits.shift) & (K)bits.mask;
}

template <typename Count> static __device__ __forceinline__ Count least(Count a, Count b)
{
	return a < b ? a : b;
}

/* --- search ----------------------------------------------------------------------------------- */

/* The ranks of a value. The two searches share a loop, so that their loads overlap. */
template <typename K>
static __device__ struct sl_run_rank rank_of(
	const K *key, uint32_t n, struct sl_key_bits bits, uint64_t value)
{
	struct sl_run_rank low = {0, 0}, high = {n, n};

	while (low.less < high.less || low.not_more < high.not_more) {
		const uint32_t i = low.less + (high.less - low.less) / 2;
		const uint32_t j = low.not_more + (high.not_more - low.not_more) / 2;
		const uint64_t at_i = part_of(key[least(i, n - 1)], bits);
		const uint64_t at_j = part_of(key[least(j, n - 1)], bits);

		if (low.less < high.less && at_i < value)
			low.less = i + 1;
		else
			high.less = i;
		if (low.not_more < high.not_more && at_j <= value)
			low.not_more = j + 1;
		else
			high.not_more = j;
	}
	return low;
}

/* One thread per value. */
template <typename K>
static __global__ void search_kernel(const K *key, uint32_t n, struct sl_key_bits bits,
	const uint64_t *value, uint32_t n_values, struct sl_run_rank *rank)
{
	uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (k < n_values)
		rank[k] = rank_of(key, n, bits, value[k]);
}

template <typename K>
static enum sl_status search_as(const struct sl_sorted_run *run, struct sl_key_bits bits,
	const uint64_t *value, uint32_t n_values, struct sl_run_rank *rank, sl_stream s)
{
	return SL_LAUNCH(search_kernel<K>, sl_grid(n_values, BLOCK), BLOCK, 0, s,
		(const K *)run->key, run->n, bits, value, n_values, rank);
}

static enum sl_status search(const struct sl_sorted_run *run, enum sl_type type,
	struct sl_key_bits bits, const uint64_t *value, uint32_t n_values, struct sl_run_rank *rank,
	sl_stream s)
{
	return type == SL_U32 ? search_as<uint32_t>(run, bits, value, n_values, rank, s)
	                      : search_as<uint64_t>(run, bits, value, n_values, rank, s);
}

/* --- merge ------------------------------------------------------------------------------------ */

template <typename K> struct merge_job {
	const K *a, *b;
	const uint32_t *a_index, *b_index; /* NULL: keys only */
	uint64_t n_a, n_b;
	struct sl_key_bits bits;
	uint64_t *path; /* for each tile, and for the end: how many pairs before it are from a */
	K *out;
	uint32_t *out_index;
};

/* How many of the first d pairs of the merge of a and b are from a. Of equal keys those of a come first. */
template <typename K, typename Count>
static __device__ Count path_at(
	const K *a, Count n_a, const K *b, Count n_b, Count d, struct sl_key_bits bits)
{
	Count low = d - least(d, n_b), high = least(d, n_a);

	while (low < high) {
		Count middle = low + (high - low) / 2;

		if (part_of(a[middle], bits) <= part_of(b[d - 1 - middle], bits))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The pairs of a tile as they were loaded, and then merged from slot 0 on. */
template <typename K, bool pairs> struct merge_tile {
	alignas(16) K key[tile_loads<K, TILE, BLOCK>::slots];
	alignas(16) uint32_t index[pairs ? tile_loads<uint32_t, TILE, BLOCK>::slots : 1];
};

/* How many pairs a tile has from a and b, and the slots of their first keys and indices. */
struct tile_runs {
	uint32_t n_a, n_b;
	uint32_t key_a, key_b, index_a, index_b;
};

/* The pairs of a thread. */
template <typename K> struct merge_pairs {
	K key[EACH];
	uint32_t index[EACH];
};

/* Loads the pairs of a tile, whose first ones in a and b are given. Sets the slots. */
template <typename K, bool pairs>
static __device__ void load_tile(const struct merge_job<K> &job, uint64_t a_begin, uint64_t b_begin,
	struct tile_runs *r, struct merge_tile<K, pairs> *t)
{
	struct tile_loads<uint32_t, TILE, BLOCK> index;
	struct tile_loads<K, TILE, BLOCK> key;

	key.a = make_part(job.a, job.n_a, a_begin, r->n_a, 0);
	key.b = make_part(job.b, job.n_b, b_begin, r->n_b, key.a.loads);
	begin_loads(&key);
	if (pairs) {
		index.a = make_part(job.a_index, job.n_a, a_begin, r->n_a, 0);
		index.b = make_part(job.b_index, job.n_b, b_begin, r->n_b, index.a.loads);
		begin_loads(&index);
		end_loads(&index, t->index);
		r->index_a = index.a.at;
		r->index_b = index.b.at;
	}
	end_loads(&key, t->key);
	r->key_a = key.a.at;
	r->key_b = key.b.at;
}

/*
 * Merges the pairs of the calling thread, from number begin of the tile on, and returns their number. The slot after
 * the last key of a run is read too, but not used; tile_loads::slots includes one after the last run.
 */
template <typename K, bool pairs>
static __device__ uint32_t merge_in_tile(const struct merge_tile<K, pairs> *t,
	const struct tile_runs &r, struct sl_key_bits bits, uint32_t begin,
	struct merge_pairs<K> *p)
{
	const uint32_t mine = least(r.n_a + r.n_b - begin, (uint32_t)EACH);
	uint32_t i = path_at(t->key + r.key_a, r.n_a, t->key + r.key_b, r.n_b, begin, bits);
	uint32_t j = begin - i;
	K a = t->key[r.key_a + i], b = t->key[r.key_b + j];

	SL_UNROLL
	for (uint32_t k = 0; k < EACH; k++) {
		if (k >= mine)
			break;
		const bool of_a = j >= r.n_b || (i < r.n_a && part_of(a, bits) <= part_of(b, bits));

		p->key[k] = of_a ? a : b;
		if (pairs)
			p->index[k] = t->index[of_a ? r.index_a + i : r.index_b + j];
		const K key = t->key[of_a ? r.key_a + ++i : r.key_b + ++j];

		a = of_a ? key : a;
		b = of_a ? b : key;
	}
	return mine;
}

/*
 * One warp per cut, for path_at(d). The lanes try 32 numbers of pairs from a, in ascending order. Those that are
 * too low come first, so their count tells between which two the answer is.
 */
template <typename K>
static __global__ void split_kernel(struct merge_job<K> job, struct sl_run_cuts cuts)
{
	const uint64_t d = cuts.at[blockIdx.x];
	uint64_t low = d - least(d, job.n_b), high = least(d, job.n_a);

	while (low < high) {
		const uint64_t first = low, width = high - low;
		const uint64_t mine = first + width * threadIdx.x / LANES;
		const bool too_low =
			part_of(job.a[mine], job.bits) <= part_of(job.b[d - 1 - mine], job.bits);
		const uint32_t count = (uint32_t)__popc(__ballot_sync(SL_LANES, too_low));

		if (count > 0)
			low = first + width * (count - 1) / LANES + 1;
		if (count < LANES)
			high = first + width * count / LANES;
	}
	if (threadIdx.x == 0)
		job.path[blockIdx.x] = low;
}

/* One thread per tile, and one for the end. */
template <typename K> static __global__ void path_kernel(struct merge_job<K> job, uint64_t tiles)
{
	const uint64_t tile = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (tile > tiles)
		return;
	job.path[tile] = path_at(
		job.a, job.n_a, job.b, job.n_b, least(tile * TILE, job.n_a + job.n_b), job.bits);
}

/* One tile per block. */
template <typename K, bool pairs> static __global__ void merge_kernel(struct merge_job<K> job)
{
	using Tile = struct merge_tile<K, pairs>;
	SL_SHARED(Tile, tile);
	const uint64_t first = (uint64_t)blockIdx.x * TILE, a_begin = job.path[blockIdx.x];
	const uint32_t n = (uint32_t)least(job.n_a + job.n_b - first, (uint64_t)TILE);
	const uint32_t own = least(threadIdx.x * (uint32_t)EACH, n);
	struct merge_pairs<K> p;
	struct tile_runs runs;
	uint32_t mine;

	runs.n_a = (uint32_t)(job.path[blockIdx.x + 1] - a_begin);
	runs.n_b = n - runs.n_a;
	load_tile(job, a_begin, first - a_begin, &runs, &tile);
	__syncthreads();
	mine = merge_in_tile(&tile, runs, job.bits, own, &p);
	__syncthreads();
	SL_UNROLL
	for (uint32_t k = 0; k < EACH; k++)
		if (k < mine) {
			tile.key[own + k] = p.key[k];
			if (pairs)
				tile.index[own + k] = p.index[k];
		}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < n; k += BLOCK) {
		job.out[first + k] = tile.key[k];
		if (pairs)
			job.out_index[first + k] = tile.index[k];
	}
}

/* Without path and outputs. */
template <typename K>
static struct merge_job<K> make_job(
	const struct sl_sorted_run *a, const struct sl_sorted_run *b, struct sl_key_bits bits) {
	struct merge_job<K> job;

	job.a = (const K *)a->key;
	job.b = (const K *)b->key;
	job.a_index = a->index;
	job.b_index = b->index;
	job.n_a = a->n;
	job.n_b = b->n;
	job.bits = bits;
	job.path = NULL;
	job.out = NULL;
	job.out_index = NULL;
	return job;
}

template <typename K>
static enum sl_status split_as(const struct sl_sorted_run *a, const struct sl_sorted_run *b,
	struct sl_key_bits bits, const struct sl_run_cuts *cuts, uint64_t *of_a, sl_stream s)
{
	struct merge_job<K> job = make_job<K>(a, b, bits);

	job.path = of_a;
	return SL_LAUNCH(split_kernel<K>, cuts->n, LANES, 0, s, job, *cuts);
}

static enum sl_status split(const struct sl_sorted_run *a, const struct sl_sorted_run *b,
	enum sl_type type, struct sl_key_bits bits, const struct sl_run_cuts *cuts, uint64_t *of_a,
	sl_stream s)
{
	return type == SL_U32 ? split_as<uint32_t>(a, b, bits, cuts, of_a, s)
	                      : split_as<uint64_t>(a, b, bits, cuts, of_a, s);
}

template <typename K>
static enum sl_status merge_as(const struct sl_sorted_run *a, const struct sl_sorted_run *b,
	struct sl_key_bits bits, uint64_t *path, void *key_out, uint32_t *index_out, sl_stream s)
{
	const uint64_t n = (uint64_t)a->n + b->n, tiles = (n + TILE - 1) / TILE;
	struct merge_job<K> job = make_job<K>(a, b, bits);

	job.path = path;
	job.out = (K *)key_out;
	job.out_index = index_out;
	if (n == 0)
		return SL_OK;
	SL_TRY(SL_LAUNCH(path_kernel<K>, sl_grid(tiles + 1, BLOCK), BLOCK, 0, s, job, tiles));
	if (!index_out)
		return SL_LAUNCH((merge_kernel<K, false>), (uint32_t)tiles, BLOCK, 0, s, job);
	return SL_LAUNCH((merge_kernel<K, true>), (uint32_t)tiles, BLOCK, 0, s, job);
}

static enum sl_status merge(const struct sl_sorted_run *a, const struct sl_sorted_run *b,
	enum sl_type type, struct sl_key_bits bits, uint64_t *path, void *key_out,
	uint32_t *index_out, sl_stream s)
{
	return type == SL_U32 ? merge_as<uint32_t>(a, b, bits, path, key_out, index_out, s)
	                      : merge_as<uint64_t>(a, b, bits, path, key_out, index_out, s);
}

const struct sl_run_kernels SL_NAME(sl_run_kernels) = {
	.search = search, .split = split, .merge = merge};
