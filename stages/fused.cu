/*
 * fused.cu - generate, advance, mark and compact in one kernel, and all columns of the survivors
 * in another. No dead particle touches memory.
 *
 * The first: a block takes a tile of particles, of which a warp takes 32 at a time, and makes each
 * in registers and to its end, counts it, and lists it in shared memory if it survives. Its place
 * in the list is by vote; that of the list in the batch comes from the survivors of the warps
 * before and, by decoupled look-back, of the tiles before (look_back.cuh; Merrill and Garland,
 * 2016). Then the lists are written, neighbours to neighbours, in the order of ids: key and index,
 * and, of a model that is not remade, a record (record.h). Blocks go on with further tiles, so that
 * tallies are added up once a block and not once a tile.
 *
 * The second, once keys are sorted: a thread makes the survivor of a row again, from its id, or
 * fetches its record, and writes it to all columns of the table.
 *
 * Writes 8 bytes a survivor, or 12, and its record; reads 4, or 4 and the record; writes the table.
 */
#include <string.h>

#include "primitives/base/kernel.cuh"
#include "primitives/base/look_back.cuh"
#include "stages/kernels.h"
#include "stages/record.h"
#include "stages/sums.cuh"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum {
	LANES = 32,
	BLOCK = 256,
	WARPS = BLOCK / LANES,
	BLOCKS_A_MULTIPROCESSOR = 4, /* for which the compiler keeps to 64 registers a thread */
	BLOCKS_MOST = 1024,          /* more than the largest devices keep going at a time */
	ITEMS_REMADE = 8,            /* particles a thread and tile */
	ITEMS_CARRIED = 2,           /* histories last unequally, records need room */
	ROWS_EACH = 8, /* rows a thread at least: adding up a block is not for nothing */
	FIELDS_MOST = 8
};

/* The rules of a model, and what follows from it when the kernels are compiled. */
#define MODEL(name)                                                                      \
	struct of_##name {                                                               \
		typedef struct sl_##name rules;                                          \
		static constexpr uint32_t columns = SL_COLUMNS_##name;                   \
		static constexpr uint32_t fates = SL_FATES_##name;                       \
		static constexpr bool remade = SL_REMADE_##name;                         \
		static constexpr uint32_t items = remade ? ITEMS_REMADE : ITEMS_CARRIED; \
		static constexpr uint32_t list = LANES * items; /* of a warp */          \
		static constexpr uint32_t tile = BLOCK * items;                          \
                                                                                         \
		static __device__ __forceinline__ struct sl_particle make(               \
			const rules *r, uint64_t seed, uint64_t id)                      \
		{                                                                        \
			struct sl_particle p = sl_##name##_generate(r, seed, id);        \
                                                                                         \
			p.id = id;                                                       \
			sl_##name##_advance(r, seed, &p, UINT32_MAX);                    \
			return p;                                                        \
		}                                                                        \
	};
#include "stages/models/models.def"
#undef MODEL

/* --- survivors -------------------------------------------------------------------------------- */

/* Key is the type of the packed keys: uint32_t or uint64_t. */
template <class Key> struct sieve_job {
	uint64_t seed, first_id;
	uint32_t n, keep, n_fields;
	uint32_t carried, words; /* of a record: its columns, its size; of a model not remade */
	struct sl_key_rule field[FIELDS_MOST];
	struct sl_look_back<uint32_t> before;
	uint32_t *index, *record, *n_survivors;
	uint64_t *tally;
	Key *key;
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

/* The lists of a block: all keys, then all words. */
template <class Model, class Key> static size_t lists_bytes(uint32_t record_words)
{
	return Model::tile * (sizeof(Key) + list_stride<Model>(record_words) * sizeof(uint32_t));
}

template <class Model, class Key>
static __device__ __forceinline__ struct list<Key> list_of_warp(
	unsigned char *lists, uint32_t words) {
	uint32_t warp = threadIdx.x / LANES, stride = list_stride<Model>(words);
	Key *key = (Key *)(void *)lists;
	uint32_t *word = (uint32_t *)(void *)(key + Model::tile);

	return {key + warp * Model::list, word + warp *Model::list *stride, stride};
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

/* Makes the warp's particles of a tile, counts them, and lists those that survive: how many? */
template <class Model, class Key>
static __device__ __forceinline__ uint32_t sieve(const typename Model::rules *rules,
	const struct sieve_job<Key> *job, uint32_t tile, const struct list<Key> *list,
	struct sl_tally *tally)
{
	uint32_t lane = threadIdx.x % LANES, below = (1u << lane) - 1, n = 0;
	uint32_t first = tile * Model::tile + threadIdx.x / LANES * Model::list;

	for (uint32_t i = first + lane; i < first + Model::list + lane; i += LANES) {
		struct sl_particle p;
		bool alive = false;

		if (i < job->n) {
			p = Model::make(rules, job->seed, job->first_id + i);
			alive = p.fate < SL_FATE_COUNT && sl_keeps(job->keep, p.fate);
			sl_tally_count(tally, Model::fates, p.fate, p.weight);
			tally->steps += p.steps;
			tally->collisions += p.collisions;
		}
		uint32_t survivors = __ballot_sync(SL_LANES, alive);
		if (alive)
			list_one<Model>(job, list, n + (uint32_t)__popc(survivors & below), i, &p);
		n += (uint32_t)__popc(survivors);
	}
	return n;
}

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

template <class Model, class Key>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_A_MULTIPROCESSOR)
	sieve_kernel(typename Model::rules rules, struct sieve_job<Key> job)
{
	SL_SHARED_DYNAMIC(unsigned char, lists);
	struct list<Key> list = list_of_warp<Model, Key>(lists, job.words);
	union sl_tally_words tally = {};
	uint32_t tile;

	while ((tile = sl_look_back_ticket(job.before)) < job.before.tiles) {
		uint32_t n = sieve<Model>(&rules, &job, tile, &list, &tally.t);
		uint32_t place = find_place(job.before, tile, n, job.n_survivors);

		write_list<Model>(&job, &list, n, place);
	}
	sl_block_add<sl_tally_used(Model::fates, Model::columns)>(tally.word, job.tally);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct rows_job {
	uint64_t seed, first_id;
	uint32_t n;              /* rows */
	uint32_t carried, words; /* as in struct sieve_job */
	uint32_t set;            /* columns of the table */
	const uint32_t *index, *record;
	struct sl_columns to;        /* NULL: not written, of one value for the whole run */
	struct sl_particle constant; /* that value */
	uint64_t *digest;
};

/* Record number i, by way of the thread's own slot in shared memory: registers have no addresses.
 */
template <class Model>
static __device__ __forceinline__ struct sl_particle fetch(
	const struct rows_job *job, uint32_t i, uint32_t *slot)
{
	const uint4 *record = (const uint4 *)(const void *)(job->record + (uint64_t)i * job->words);
	struct sl_particle p = job->constant;

	for (uint32_t v = 0; v < job->words / SL_RECORD_VECTOR; v++) {
		uint4 word = record[v];

		slot[SL_RECORD_VECTOR * v] = word.x;
		slot[SL_RECORD_VECTOR * v + 1] = word.y;
		slot[SL_RECORD_VECTOR * v + 2] = word.z;
		slot[SL_RECORD_VECTOR * v + 3] = word.w;
	}
	sl_record_get(slot, Model::columns, job->carried, job->first_id, &p);
	return p;
}

template <class Model>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_A_MULTIPROCESSOR)
	rows_kernel(typename Model::rules rules, struct rows_job job)
{
	SL_SHARED_DYNAMIC(uint32_t, slots);
	uint32_t *slot = slots + threadIdx.x * (job.words + 1);
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x, digest[SL_COLUMN_COUNT] = {};

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < job.n;
		j += threads) {
		uint32_t i = job.index[j];
		struct sl_particle p = Model::remade
		                               ? Model::make(&rules, job.seed, job.first_id + i)
		                               : fetch<Model>(&job, i, slot);

#define COLUMN(name, type, unit, record, component, help)                                    \
	if (SL_HAS(Model::columns, SL_COLUMN_##name) && SL_HAS(job.set, SL_COLUMN_##name)) { \
		if (job.to.name)                                                             \
			job.to.name[j] = p.name;                                             \
		digest[SL_COLUMN_##name] += sl_digest_item(j, sl_digest_bits(p.name));       \
	}
#include "stages/columns.def"
#undef COLUMN
	}
	sl_block_add<Model::columns>(digest, job.digest);
}

/* --- host ------------------------------------------------------------------------------------- */

template <class Model> static uint32_t tiles_for(uint32_t n)
{
	return sl_grid(n, Model::tile);
}

template <class Model, class Key>
static enum sl_status queue_sieve(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_census *census, struct sl_arena scratch, sl_stream s)
{
	struct sl_look_back<uint32_t> before =
		sl_look_back_cut<uint32_t>(&scratch, tiles_for<Model>(b->n));
	struct sieve_job<Key> job = {
		.seed = f->seed, .first_id = b->first_id, .n = b->n, .keep = f->keep,
		.n_fields = f->n_fields < FIELDS_MOST ? f->n_fields : (uint32_t)FIELDS_MOST,
		.carried = f->carried, .words = sl_record_words(f->carried), .before = before,
		.index = b->index, .record = b->record, .n_survivors = &census->n_survivors,
		.tally = (uint64_t *)&census->tally, .key = (Key *)b->key
	};
	uint32_t blocks = before.tiles < BLOCKS_MOST ? before.tiles : (uint32_t)BLOCKS_MOST;

	for (uint32_t k = 0; k < job.n_fields; k++)
		job.field[k] = f->field[k];
	SL_TRY(sl_look_back_clear(before, s));
	return SL_LAUNCH((sieve_kernel<Model, Key>), blocks, BLOCK,
		(lists_bytes<Model, Key>(job.words)), s, *(const typename Model::rules *)f->rules,
		job);
}

/* The table's columns as the kernel needs them: by name. */
static void name_columns(const struct sl_table *t, struct rows_job *job)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];

		job->set |= SL_BIT(c->column);
		if (c->constant)
			memcpy((char *)&job->constant + facts->in_particle, c->data, facts->bytes);
		else
			*(void **)(void *)((char *)&job->to + facts->offset) = c->data;
	}
}

template <class Model>
static enum sl_status queue_rows(const struct sl_fused *f, const struct sl_batch *b,
	uint64_t digest[SL_COLUMN_COUNT], sl_stream s)
{
	struct rows_job job = {.seed = f->seed,
		.first_id = b->first_id,
		.n = b->n_survivors,
		.carried = f->carried,
		.words = sl_record_words(f->carried),
		.index = b->index,
		.record = b->record,
		.digest = digest};
	uint32_t blocks = sl_grid(job.n, BLOCK * ROWS_EACH);

	name_columns(&b->table, &job);
	return SL_LAUNCH(rows_kernel<Model>, blocks < BLOCKS_MOST ? blocks : (uint32_t)BLOCKS_MOST,
		BLOCK, Model::remade ? 0 : BLOCK * (job.words + 1) * sizeof(uint32_t), s,
		*(const typename Model::rules *)f->rules, job);
}

size_t SL_NAME(sl_queue_sieve_scratch)(enum sl_model_number model, uint32_t n)
{
	struct sl_arena a = {};

	switch (model) {
#define MODEL(name)                                                      \
	case SL_MODEL_##name:                                            \
		sl_look_back_cut<uint32_t>(&a, tiles_for<of_##name>(n)); \
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
#define MODEL(name)                                                                           \
	case SL_MODEL_##name:                                                                 \
		return f->narrow ? queue_sieve<of_##name, uint32_t>(f, b, census, scratch, s) \
		                 : queue_sieve<of_##name, uint64_t>(f, b, census, scratch, s);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}

enum sl_status SL_NAME(sl_queue_rows)(const struct sl_fused *f, const struct sl_batch *b,
	uint64_t digest[SL_COLUMN_COUNT], sl_stream s)
{
	switch (f->model) {
#define MODEL(name)           \
	case SL_MODEL_##name: \
		return queue_rows<of_##name>(f, b, digest, s);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}
