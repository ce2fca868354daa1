/*
 * gather_rows.cu - writes and digests all columns of the survivors in one kernel, in key order.
 *
 * A thread processes rows in strides of the grid. For each row it computes the survivor again from
 * its id, or loads its record (packed_record.h), and writes each column of the table. Digests are
 * summed in registers, and sums.cuh adds the sums of all threads.
 *
 * The file is compiled for each model.
 *
 * Memory traffic: reads 4 bytes and the record, if any, per row; writes the table.
 */
#include <string.h>

#include "stages/batch/packed_record.h"
#include "stages/counting/sums.cuh"
#include "stages/fused/fused.h"
#include "stages/fused/model_rules.cuh"

enum {
	BLOCK = 256,
	BLOCKS_PER_MULTIPROCESSOR = 4 /* which limits the compiler to 64 registers per thread */
};

struct rows_job {
	uint64_t seed;
	const uint64_t *first_id;
	const uint32_t *n;            /* rows */
	sl_column_set record_columns; /* columns of a record, if the model is not recomputed */
	uint32_t words;               /* size of that record */
	sl_column_set wanted;         /* columns to be recomputed */
	sl_column_set set;            /* columns of the table ... */
	sl_column_set written;        /* ... without constant columns */
	const uint32_t *index, *record;
	struct sl_columns to;
	struct sl_particle constant; /* the values of constant columns */
	struct sl_program derivation;
	uint64_t *digest;
};

/*
 * Loads record i through the thread's words in shared memory, because registers cannot be indexed.
 */
template <sl_column_set columns>
static __device__ __forceinline__ struct sl_particle fetch(
	const struct rows_job *job, uint32_t i, uint32_t *thread_words)
{
	const uint4 *record = (const uint4 *)(const void *)(job->record + (uint64_t)i * job->words);
	struct sl_particle p = job->constant;

	for (uint32_t v = 0; v < job->words / SL_RECORD_VECTOR; v++) {
		uint4 word = record[v];

		thread_words[SL_RECORD_VECTOR * v] = word.x;
		thread_words[SL_RECORD_VECTOR * v + 1] = word.y;
		thread_words[SL_RECORD_VECTOR * v + 2] = word.z;
		thread_words[SL_RECORD_VECTOR * v + 3] = word.w;
	}
	sl_record_get(thread_words, columns, job->record_columns, *job->first_id, &p);
	return p;
}

/*
 * Compiled with and without derived columns, whose digests take registers. They are in the record,
 * or derived again.
 */
template <class Model, bool derives>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR)
	rows_kernel(typename Model::rules rules, struct rows_job job)
{
	static constexpr sl_column_set columns =
		Model::columns | (derives ? SL_DERIVED_COLUMNS : 0);
	SL_SHARED_DYNAMIC(uint32_t, block_words);
	uint32_t *thread_words = block_words + threadIdx.x * (job.words + 1);
	uint32_t n = *job.n, threads = gridDim.x * BLOCK;
	uint64_t digest[SL_COLUMN_COUNT] = {};

	for (uint32_t j = blockIdx.x * BLOCK + threadIdx.x; j < n; j += threads) {
		uint32_t i = job.index[j];
		uint64_t weight = sl_digest_weight(j);
		struct sl_particle p = Model::recomputed ? Model::make(&rules, job.wanted, job.seed,
								   *job.first_id + i)
		                                         : fetch<columns>(&job, i, thread_words);

		if (derives && Model::recomputed)
			sl_derive_particle(&job.derivation, &p);

#define COLUMN(name, type, unit, record, component, help)                                   \
	if (SL_HAS(columns, SL_COLUMN_##name) && SL_HAS(job.set, SL_COLUMN_##name)) {       \
		if (SL_HAS(job.written, SL_COLUMN_##name))                                  \
			job.to.name[j] = p.name;                                            \
		digest[SL_COLUMN_##name] += sl_digest_item(weight, sl_digest_bits(p.name)); \
	}
#include "stages/particle/columns.def"
#undef COLUMN
		if (n - j <= threads) /* else j + threads could overflow */
			break;
	}
	sl_block_add<sl_words_of<columns>>(digest, job.digest);
}

/* Sets the columns of the job from those of the table. */
static void set_columns(const struct sl_table *t, struct rows_job *job)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];

		job->set |= SL_BIT(c->column);
		if (c->constant)
			memcpy((char *)&job->constant + facts->in_particle, c->data, facts->bytes);
		else {
			job->written |= SL_BIT(c->column);
			*(void **)(void *)((char *)&job->to + facts->offset) = c->data;
		}
	}
}

/* The number of blocks: at most as many as run at the same time, which then share all rows. */
static uint32_t blocks_for(uint32_t most)
{
	struct sl_limits limits;
	uint32_t blocks = sl_grid(most, BLOCK), wave = BLOCKS_PER_MULTIPROCESSOR;

	if (sl_device_limits(&limits) == SL_OK)
		wave *= limits.multiprocessors;
	return blocks < wave ? blocks : wave;
}

template <class Model, bool derives>
static enum sl_status queue_rows(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, sl_stream s)
{
	struct rows_job job = {.seed = f->seed,
		.first_id = b->first_id_on_device,
		.n = &counters->n_survivors,
		.record_columns = f->record_columns,
		.words = sl_record_words(f->record_columns),
		.index = b->index,
		.record = b->record,
		.digest = counters->digest};

	set_columns(&b->table, &job);
	job.derivation = *f->derivation;
	job.wanted = job.set | (derives ? f->derivation->reads : 0);
	return SL_LAUNCH((rows_kernel<Model, derives>), blocks_for(b->n_survivors), BLOCK,
		Model::recomputed ? 0 : BLOCK * (job.words + 1) * sizeof(uint32_t), s,
		*(const typename Model::rules *)f->rules, job);
}

enum sl_status SL_RULE_KERNEL(rows)(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, sl_stream s)
{
	bool derives = false;

	for (uint32_t k = 0; k < b->table.n_columns; k++)
		derives |= SL_HAS(SL_DERIVED_COLUMNS, b->table.column[k].column) != 0;
	return derives ? queue_rows<sl_traits, true>(f, b, counters, s)
	               : queue_rows<sl_traits, false>(f, b, counters, s);
}
