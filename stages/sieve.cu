/*
 * sieve.cu - generate, advance, mark and compact in one kernel: no dead particle touches memory.
 *
 * A block takes a tile of particles, of which a warp takes 32 at a time, and makes each in
 * registers and to its end, counts it, and lists it in shared memory if it survives. Its place in
 * the list is by vote; that of the list in the batch comes from the survivors of the warps before
 * and, by decoupled look-back, of the tiles before (look_back.cuh; Merrill and Garland, 2016). Then
 * the lists are written, neighbours to neighbours, in the order of ids: key and index, and, of a
 * model that is not remade, a record (record.h). Blocks go on with further tiles, so that tallies
 * are added up once a block and not once a tile.
 *
 * Where there are tallies by bins (bins.cuh), their counters stand behind the lists. The kernel is
 * compiled with and without, so that they cost nothing where there are none.
 *
 * Reads nothing; writes 8 bytes a survivor, 12 with keys of 64 bits, and its record.
 */
#include "primitives/base/look_back.cuh"
#include "stages/bins.cuh"
#include "stages/fused.cuh"
#include "stages/kernels.h"
#include "stages/record.h"
#include "stages/sums.cuh"

enum {
	LANES = 32,
	BLOCK = 256,
	WARPS = BLOCK / LANES,
	BLOCKS_A_MULTIPROCESSOR = 4, /* for which the compiler keeps to 64 registers a thread */
	BLOCKS_MOST = 1024,          /* more than the largest devices keep going at a time */
	ITEMS_REMADE = 8,            /* particles a thread and tile */
	ITEMS_CARRIED = 2            /* histories last unequally, records need room */
};

/* How many particles a list has room for, and a tile has. */
template <class Model> struct sizes {
	static constexpr uint32_t list = LANES * (Model::remade ? ITEMS_REMADE : ITEMS_CARRIED);
	static constexpr uint32_t tile = WARPS * list;
};

/* Key is the type of the packed keys: uint32_t or uint64_t. */
template <class Key> struct sieve_job {
	uint64_t seed, first_id;
	uint32_t n, keep, n_fields;
	uint32_t carried, words; /* of a record: its columns, its size; of a model not remade */
	uint32_t wanted;         /* columns: carried, of the key, tallied */
	struct sl_key_rule field[SL_KEY_FIELDS_MAX];
	struct sl_look_back<uint32_t> before;
	uint32_t *index, *record, *n_survivors;
	uint64_t *tally, *bin;
	Key *key;
	struct sl_bins bins;
};

/*
 * The survivors of a warp, in shared memory. A record is followed by a word that nobody uses: its
 * size is even, and lanes that write to neighbours an odd number of words apart do not get in each
 * other's way.
 */
template <class Key> struct list {
	Key *key;
	uint32_t *word;  /* the index, or the record */
	uint32_t stride; /* words from one survivor to the next */
};

template <class Model> static __host__ __device__ uint32_t list_stride(uint32_t record_words)
{
	return Model::remade ? 1 : record_words + 1;
}

/* The lists of a block: all keys, then all words. At most what a launch has without asking. */
template <class Model, class Key>
static __host__ __device__ size_t lists_bytes(uint32_t record_words)
{
	return sizes<Model>::tile *
	       (sizeof(Key) + list_stride<Model>(record_words) * sizeof(uint32_t));
}

template <class Model, class Key>
static __device__ __forceinline__ struct list<Key> list_of_warp(
	unsigned char *lists, uint32_t words) {
	uint32_t warp = threadIdx.x / LANES, stride = list_stride<Model>(words);
	Key *key = (Key *)(void *)lists;
	uint32_t *word = (uint32_t *)(void *)(key + sizes<Model>::tile);

	return {key + warp * sizes<Model>::list, word + warp *sizes<Model>::list *stride, stride};
}

/* Lists p, number i of its batch, at that place. */
template <class Model, class Key>
static __device__ __forceinline__ void list_one(const struct sieve_job<Key> *job,
	const struct list<Key> *list, uint32_t at, uint32_t i, struct sl_particle *p)
{
	struct sl_columns columns = sl_columns_of(p);

	if (job->n_fields > 0)
		list->key[at] = (Key)sl_key_pack(job->field, job->n_fields, &columns, 0, p->id);
	if (Model::remade)
		list->word[at] = i;
	else
		sl_record_put(list->word + at * list->stride, Model::columns, job->carried, i, p);
}

/* A block's counters, behind its lists. */
template <class Model, class Key>
static __device__ __forceinline__ struct sl_block_bins bins_of_block(
	const struct sieve_job<Key> *job, unsigned char *lists)
{
	return sl_block_bins_at(&job->bins, lists + lists_bytes<Model, Key>(job->words));
}

/* Makes the warp's particles of a tile, counts them, and lists those that survive: how many? */
template <class Model, class Key, bool binned>
static __device__ __forceinline__ uint32_t sieve(const typename Model::rules *rules,
	const struct sieve_job<Key> *job, uint32_t tile, const struct list<Key> *list,
	struct sl_tally *tally, struct sl_block_bins bins)
{
	uint32_t lane = threadIdx.x % LANES, below = (1u << lane) - 1, n = 0;
	uint32_t first = tile * sizes<Model>::tile + threadIdx.x / LANES * sizes<Model>::list;

	for (uint32_t i = first + lane; i < first + sizes<Model>::list + lane; i += LANES) {
		struct sl_particle p;
		bool alive = false;

		if (i < job->n) {
			p = Model::make(rules, job->wanted, job->seed, job->first_id + i);
			alive = p.fate < SL_FATE_COUNT && sl_keeps(job->keep, p.fate);
			sl_tally_count(tally, Model::fates, p.fate, p.weight);
			tally->steps += p.steps;
			tally->collisions += p.collisions;
			if (binned && p.fate < SL_FATE_COUNT) {
				struct sl_columns columns = sl_columns_of(&p);

				sl_block_bins_count(
					&job->bins, bins, &columns, 0, p.fate, p.weight);
			}
		}
		uint32_t survivors = __ballot_sync(SL_LANES, alive);
		if (alive)
			list_one<Model>(job, list, n + (uint32_t)__popc(survivors & below), i, &p);
		n += (uint32_t)__popc(survivors);
	}
	return n;
}

static_assert(WARPS * LANES * ITEMS_CARRIED *
				      (sizeof(uint64_t) + (SL_RECORD_MOST + 1) * sizeof(uint32_t)) +
			      SL_BINS_SHARED <=
		      47 << 10,
	"the largest records do not leave room for what else a block shares");

/* What the warps of a block tell each other: how many survivors there are. */
struct survivors {
	uint32_t in_warp[WARPS];
	uint32_t before; /* in all tiles before */
};

/* The survivors of the batch before those of the warp, which has n. Two barriers. */
static __device__ __forceinline__ uint32_t find_place(
	struct sl_look_back<uint32_t> before, uint32_t tile, uint32_t n, uint32_t *n_survivors)
{
	SL_SHARED(struct survivors, survivors);
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t before_warp = 0, in_tile = 0;

	if (lane == 0)
		survivors.in_warp[warp] = n;
	__syncthreads();
	SL_UNROLL
	for (uint32_t w = 0; w < WARPS; w++) {
		before_warp += w < warp ? survivors.in_warp[w] : 0;
		in_tile += survivors.in_warp[w];
	}
	if (warp == 0) {
		uint32_t before_tile = sl_look_back_sum(before, tile, in_tile);

		if (lane == 0)
			survivors.before = before_tile;
		if (lane == 0 && tile == before.tiles - 1)
			*n_survivors = before_tile + in_tile;
	}
	__syncthreads();
	return survivors.before + before_warp;
}

/* For a warp: n records from its list to where they belong; a lane takes every 32nd word. */
static __device__ __forceinline__ void write_records(
	const uint32_t *list, uint32_t stride, uint32_t words, uint32_t n, uint32_t *to)
{
	uint32_t lane = threadIdx.x % LANES, at = lane / words, word = lane % words;

	for (uint32_t k = lane; k < n * words; k += LANES) {
		to[k] = list[at * stride + word];
		at += LANES / words;
		word += LANES % words;
		at += word >= words;
		word -= word >= words ? words : 0;
	}
}

/* For a warp: n survivors from its list to those of the batch, from number place on. */
template <class Model, class Key>
static __device__ __forceinline__ void write_list(
	const struct sieve_job<Key> *job, const struct list<Key> *list, uint32_t n, uint32_t place)
{
	for (uint32_t k = threadIdx.x % LANES; k < n; k += LANES) {
		if (job->n_fields > 0)
			job->key[place + k] = list->key[k];
		job->index[place + k] = Model::remade ? list->word[k] : place + k;
	}
	if (!Model::remade)
		write_records(list->word, list->stride, job->words, n,
			job->record + (uint64_t)place * job->words);
}

/* Barriers between the first particle counted and what comes before, and after the last: tickets'.
 */
template <class Model, class Key, bool binned>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_A_MULTIPROCESSOR)
	sieve_kernel(typename Model::rules rules, struct sieve_job<Key> job)
{
	SL_SHARED_DYNAMIC(unsigned char, lists);
	struct list<Key> list = list_of_warp<Model, Key>(lists, job.words);
	struct sl_block_bins bins = bins_of_block<Model>(&job, lists);
	union sl_tally_words tally = {};
	uint32_t tile;

	if (binned)
		sl_block_bins_clear(&job.bins, bins);
	while ((tile = sl_look_back_ticket(job.before)) < job.before.tiles) {
		uint32_t n = sieve<Model, Key, binned>(&rules, &job, tile, &list, &tally.t, bins);
		uint32_t place = find_place(job.before, tile, n, job.n_survivors);

		write_list<Model>(&job, &list, n, place);
	}
	if (binned)
		sl_block_bins_add(&job.bins, bins, job.bin);
	sl_block_add<sl_tally_used(Model::fates, Model::columns)>(tally.word, job.tally);
}

/* --- host ------------------------------------------------------------------------------------- */

template <class Model> static uint32_t tiles_for(uint32_t n)
{
	return sl_grid(n, sizes<Model>::tile);
}

template <class Model, class Key, bool binned>
static enum sl_status queue_sieve(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_census *census, struct sl_arena scratch, sl_stream s)
{
	struct sl_look_back<uint32_t> before =
		sl_look_back_cut<uint32_t>(&scratch, tiles_for<Model>(b->n));
	struct sieve_job<Key> job = {
		.seed = f->seed, .first_id = b->first_id, .n = b->n, .keep = f->keep,
		.n_fields = f->n_fields, .carried = f->carried,
		.words = sl_record_words(f->carried), .wanted = f->carried | f->bins->columns,
		.before = before, .index = b->index, .record = b->record,
		.n_survivors = &census->n_survivors, .tally = (uint64_t *)&census->tally,
		.bin = sl_census_bins(census), .key = (Key *)b->key, .bins = *f->bins
	};
	size_t bytes = lists_bytes<Model, Key>(job.words) +
	               sl_bins_shared(job.bins.n_counters, job.bins.weighted);
	uint32_t blocks = before.tiles < BLOCKS_MOST ? before.tiles : (uint32_t)BLOCKS_MOST;

	for (uint32_t k = 0; k < job.n_fields; k++) {
		job.field[k] = f->field[k];
		job.wanted |= SL_BIT(f->field[k].column);
	}
	SL_TRY(sl_look_back_clear(before, s));
	return SL_LAUNCH((sieve_kernel<Model, Key, binned>), blocks, BLOCK, bytes, s,
		*(const typename Model::rules *)f->rules, job);
}

/* Of the kernels of a model, the one for those keys, with bins or without. */
template <class Model>
static enum sl_status queue_of(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_census *census, struct sl_arena scratch, sl_stream s)
{
	if (f->narrow)
		return f->bins->n > 0
		               ? queue_sieve<Model, uint32_t, true>(f, b, census, scratch, s)
		               : queue_sieve<Model, uint32_t, false>(f, b, census, scratch, s);
	return f->bins->n > 0 ? queue_sieve<Model, uint64_t, true>(f, b, census, scratch, s)
	                      : queue_sieve<Model, uint64_t, false>(f, b, census, scratch, s);
}

size_t SL_NAME(sl_queue_sieve_scratch)(enum sl_model_number model, uint32_t n)
{
	struct sl_arena a = {};

	switch (model) {
#define MODEL(name)                                                         \
	case SL_MODEL_##name:                                               \
		sl_look_back_cut<uint32_t>(&a, tiles_for<sl_of_##name>(n)); \
		break;
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return a.used;
}

enum sl_status SL_NAME(sl_queue_sieve)(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_census *census, struct sl_arena scratch, sl_stream s)
{
	switch (f->model) {
#define MODEL(name)           \
	case SL_MODEL_##name: \
		return queue_of<sl_of_##name>(f, b, census, scratch, s);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}
