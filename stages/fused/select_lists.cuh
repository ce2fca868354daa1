/*
 * select_lists.cuh - the lists of survivors that a block of select.cu keeps in shared memory until
 * it writes them: two lists per warp, with a record of each survivor and the columns of its key.
 */
#ifndef SL_STAGES_FUSED_SELECT_LISTS_CUH
#define SL_STAGES_FUSED_SELECT_LISTS_CUH

#include "primitives/kernel/look_back.cuh"
#include "stages/batch/packed_record.h"
#include "stages/counting/block_grids.cuh"
#include "stages/counting/grid.cuh"
#include "stages/fused/fused.h"
#include "stages/fused/model_rules.cuh"

enum {
	LANES = 32,
	BLOCK = 256,
	WARPS = BLOCK / LANES,
	BLOCKS_PER_MULTIPROCESSOR = 4, /* which limits the compiler to 64 registers per thread */
	ITEMS_RECOMPUTED = 8,          /* most particles per thread and tile */
	ITEMS_WITH_RECORDS = 2         /* the same with records, which need shared memory; and the
	                                lengths of histories differ */
};
static_assert(ITEMS_RECOMPUTED <= 15, "sl_fate_counts counts fates in four bits");

/* Key is the type of the packed keys: uint32_t or uint64_t. */
template <class Key> struct select_job {
	uint64_t seed;
	const uint64_t *first_id;
	sl_fate_set keep;
	uint32_t n, n_fields;
	uint32_t items;               /* particles per thread and tile */
	sl_column_set record_columns; /* columns of a record, if the model is not recomputed */
	uint32_t words;               /* size of that record */
	sl_column_set extra;          /* columns stored after the record: index and key fields */
	uint32_t stride;              /* words from one survivor in a list to the next */
	sl_column_set wanted;         /* columns: of records, keys, tallies and conditions */
	float weight_scale;           /* see sl_weight_scale() */
	float square_scale;           /* see sl_square_scale() */
	struct sl_key_rule field[SL_KEY_FIELDS_MAX];
	uint32_t field_at[SL_KEY_FIELDS_MAX]; /* word of the field in a list entry */
	struct sl_look_back<uint32_t> before;
	uint32_t *index, *record, *n_survivors;
	uint64_t *tally, *bin;
	Key *key;
	struct sl_block_grids bins;
	const struct sl_grid_set *grids; /* NULL: all counters are in blocks */
	uint64_t *grid_copies;           /* of the counters */
	struct sl_program condition;
	struct sl_program derivation;
};

/* What a kernel is compiled for: further variants cost the runs that do not need them. */
enum features {
	PLAIN,  /* no condition, no tally */
	CHECKS, /* either */
	DERIVES /* derived columns, with or without either */
};

/* The columns of a model, with the derived ones if there may be some. */
template <class Model, enum features features>
static constexpr sl_column_set columns_of = Model::columns |
                                            (features == DERIVES ? SL_DERIVED_COLUMNS : 0);

/* --- one survivor ----------------------------------------------------------------------------- */

/* Groups of adjacent columns in columns.def. A key mostly has no column of a group. */
static constexpr sl_column_set POSITION =
	SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z);
static constexpr sl_column_set DIRECTION =
	SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w);
static_assert((POSITION & (POSITION + 1)) == 0 && POSITION + 1 == (DIRECTION & -DIRECTION) &&
		      ((POSITION | DIRECTION) & ((POSITION | DIRECTION) + 1)) == 0,
	"position and direction must be the first columns, with no others between them");

/* Appends the columns of a group that follow the record; mostly one test for the whole group. */
template <sl_column_set GROUP, class Key>
static __device__ __forceinline__ void list_group(const struct select_job<Key> *job, uint32_t *word,
	sl_column_set columns, uint32_t i, const struct sl_particle *p)
{
	uint32_t before = (uint32_t)(job->extra & ((GROUP & -GROUP) - 1));

	static_assert((GROUP & -GROUP) < UINT32_MAX, "the columns before a group fit 32 bits");

	if (job->extra & GROUP)
		sl_record_put(
			word + job->words + __popc(before), columns & GROUP, job->extra, i, p);
}

/*
 * Writes a list entry of a survivor: its record, then the words of further columns. The number of
 * words per entry is odd, so that lanes that access adjacent entries have no bank conflicts.
 */
template <class Model, enum features features, class Key>
static __device__ __forceinline__ void list_survivor(
	const struct select_job<Key> *job, uint32_t *word, uint32_t i, const struct sl_particle *p)
{
	static constexpr sl_column_set columns = columns_of<Model, features>;

	if (!Model::recomputed)
		sl_record_put(word, columns, job->record_columns, i, p);
	list_group<POSITION>(job, word, columns, i, p);
	list_group<DIRECTION>(job, word, columns, i, p);
	list_group<~(POSITION | DIRECTION)>(job, word, columns, i, p);
}

/*
 * The key of a list entry, equal to what sl_key_pack() makes of columns. The loop is unrolled, so
 * that the rules are read from constant memory at fixed addresses.
 */
template <class Key>
static __device__ __forceinline__ Key pack_key(
	const struct select_job<Key> *job, const uint32_t *word)
{
	uint64_t key = 0;

	SL_UNROLL
	for (uint32_t k = 0; k < SL_KEY_FIELDS_MAX; k++) {
		const struct sl_key_rule *f = &job->field[k];
		uint64_t part;

		if (k >= job->n_fields)
			break;
		uint32_t value = word[job->field_at[k]];

		if (f->is_float)
			part = sl_key_of_float(f, sl_float(value));
		else if (f->is_log)
			part = sl_key_of_log(f, sl_float(value));
		else if (f->is_exact)
			part = sl_key_of_exact(sl_float(value));
		else
			part = sl_key_of_integer(f, f->column == SL_COLUMN_id
							    ? *job->first_id + value
							    : value ^ f->flip);
		key = sl_key_join(f, key, part);
	}
	return (Key)key;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* One of the two lists of the calling warp. */
template <class Key>
static __device__ __forceinline__ uint32_t *list_of_warp(
	const struct select_job<Key> *job, unsigned char *lists, uint32_t buffer)
{
	uint32_t *word = (uint32_t *)(void *)lists;

	return word + (buffer * WARPS + threadIdx.x / LANES) * LANES * job->items * job->stride;
}

static __host__ __device__ constexpr size_t lists_bytes(uint32_t items, uint32_t stride)
{
	return 2 * (size_t)BLOCK * items * stride * sizeof(uint32_t);
}

/* A block may use 64 KiB on each supported device; some KiB are variables of fixed size. */
static_assert(lists_bytes(1, ((uint32_t)SL_FUSED_COLUMNS_MAX + SL_RECORD_VECTOR - 1) | 1) +
			      SL_BLOCK_GRIDS_MOST <=
		      (size_t)60 << 10,
	"lists of one particle per thread with the most columns, and the counters, do not fit");

/* The counters of the tallies, which follow the lists. */
template <class Key>
static __device__ __forceinline__ struct sl_block_sums bins_of_block(
	const struct select_job<Key> *job, unsigned char *lists)
{
	return sl_block_sums_at(&job->bins, lists + lists_bytes(job->items, job->stride), job->bin);
}

/* Copies n records from the list of a warp to global memory; a lane copies each 32nd word. */
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

/* Writes n survivors from the list of a warp to the batch, from number `first` on. */
template <class Model, class Key>
static __device__ __forceinline__ void write_list(
	const struct select_job<Key> *job, const uint32_t *list, uint32_t n, uint32_t first)
{
	for (uint32_t k = threadIdx.x % LANES; k < n; k += LANES) {
		const uint32_t *word = list + k * job->stride;

		if (job->n_fields > 0)
			job->key[first + k] = pack_key(job, word);
		job->index[first + k] = Model::recomputed ? word[0] : first + k;
	}
	if (!Model::recomputed)
		write_records(list, job->stride, job->words, n,
			job->record + (uint64_t)first * job->words);
}

#endif
