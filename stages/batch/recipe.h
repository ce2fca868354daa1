/*
 * recipe.h - how the batches of a run are computed: all parameters that the batches share.
 *
 * A batch is a pure function of the recipe and of its number. The plan makes the recipe once; the
 * stages only read it, from any number of threads.
 */
#ifndef SL_STAGES_BATCH_RECIPE_H
#define SL_STAGES_BATCH_RECIPE_H

#include <stdatomic.h>

#include "primitives/primitives.h"
#include "stages/batch/loops.h"
#include "stages/batch/schedule.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/models/model.h"
#include "stages/selection/grid.h"
#include "stages/selection/key.h"
#include "stages/selection/program.h"

struct sl_kernels;
struct sl_inputs;

/* How a device packs the survivors before they are copied to the host (stages/device/pack.h). */
struct sl_pack_rule {
	enum sl_transfer_form form; /* SL_AS_COLUMNS: they are not packed */
	struct sl_device_packing packing;
	struct sl_mcpl_record record;     /* layout of a record, for formats made of records */
	const struct sl_backend *backend; /* deflate backend that makes the streams */
	int level;
};

struct sl_recipe {
	const struct sl_model *model;
	union {
		unsigned char bytes[SL_RULES_BYTES]; /* the model's struct sl_NAME */
		double align;
	} rules;
	struct sl_inputs *inputs; /* files of a model that reads its particles; else NULL */
	uint64_t seed;
	uint64_t particles; /* of the whole run */
	uint32_t batch;     /* particles per batch; the last one may have fewer */
	uint64_t n_batches;
	bool counted; /* survivors_most is known: on the host, batches then have memory */
	uint32_t survivors_most;      /* for so many survivors, not for all of their particles */
	sl_fate_set keep;             /* particles with these fates survive ... */
	struct sl_program condition;  /* ... if they meet the condition */
	struct sl_program derivation; /* of derived columns */
	uint32_t n_fields;            /* of the key; 0: survivors stay in id order */
	struct sl_key_rule field[SL_KEY_FIELDS_MAX];
	uint32_t key_bits;        /* of all fields; up to 32: u32 keys, else u64 */
	struct sl_grid_set grids; /* tallies; n = 0: none */
	int weight_shift;         /* weights are summed in units of 2^-(32 + shift) */
	uint32_t n_columns;       /* written to files, in order of columns.def */
	enum sl_column column[SL_COLUMN_COUNT];
	struct sl_column_label label[SL_NAMED_COLUMNS_MAX]; /* of named columns */
	sl_column_set internal;      /* set of those of them that files do not have (table.h) */
	uint32_t source_bytes;       /* of the source record of a particle; 0: none is kept */
	const uint32_t *records;     /* source records of all particles, which the inputs have in
	                                memory; NULL: a batch keeps those of its particles */
	sl_column_set constants;     /* set of columns with one value for the whole run */
	struct sl_particle constant; /* those values */
	enum sl_mode mode;
	struct sl_schedule schedule;     /* of the advance stage; staged mode only */
	struct sl_resampling resampling; /* of a filter: a batch is one (rounds/resample.h) */
	struct sl_choice scan;           /* of compact and sort; no backend: they use their own */
	struct sl_choice compact;        /* staged mode only */
	struct sl_choice sort;
	struct sl_pack_rule pack;
	bool resident;          /* the survivors stay on the device, in struct sl_batch.resident */
	sl_column_set unpacked; /* set of columns that a device transfers as they are */
	sl_column_set digested; /* set of columns whose items nothing reads: a batch that the host
	                           computes in blocks only digests them */
	const struct sl_loops *loops;     /* for this CPU */
	const struct sl_kernels *kernels; /* for the device; NULL: the stages run on the host */
	const atomic_int *cancel;         /* if not NULL and set, stages return SL_STOPPED */
};

/* The fates that particles can have at the end. */
static inline sl_fate_set sl_fates_of(const struct sl_recipe *r)
{
	const struct sl_model *m = r->model;
	sl_fate_set unused = m->unused_fates ? m->unused_fates(r->rules.bytes) : 0;

	return (m->fates & ~unused) | (r->condition.n > 0 ? SL_FATE_BIT(SL_FATE_dropped) : 0);
}

/* The data of the rules (struct sl_model); NULL: they have none. */
static inline struct sl_rules_data *sl_recipe_data(struct sl_recipe *r)
{
	const struct sl_model *m = r->model;

	return m->data ? m->data(r->rules.bytes) : NULL;
}

static inline bool sl_recipe_has_data(const struct sl_recipe *r)
{
	return sl_recipe_data((struct sl_recipe *)(uintptr_t)r) != NULL;
}

/* Whether weights differ between particles and are summed. */
static inline bool sl_sums_weights(const struct sl_recipe *r)
{
	return r->model->weighted && !SL_HAS(r->constants, SL_COLUMN_weight);
}

/* The loops over the rules of the model. */
static inline const struct sl_rule_loops *sl_rule_loops(const struct sl_recipe *r)
{
	return &r->model->loops[r->loops->number];
}

/* Whether counters are added to before the stage mark: it then must not clear them. */
static inline bool sl_counts_early(const struct sl_recipe *r)
{
	return r->grids.scored || r->resampling.steps > 0;
}

static inline uint64_t sl_filter_words(const struct sl_recipe *r)
{
	const struct sl_resampling *f = &r->resampling;

	return (uint64_t)f->steps * sl_filter_step_words(f->n_moments, f->n_quantiles);
}

/* The number of 64-bit counters of a batch. */
static inline uint64_t sl_counter_words(const struct sl_recipe *r)
{
	return sl_grid_words(&r->grids) + sl_filter_words(r);
}

/* Those of a filter, which follow the tallies: sl_filter_step_words() for each step. */
static inline uint64_t *sl_filter_counters_of(const struct sl_recipe *r, uint64_t *sum)
{
	return sum + sl_grid_words(&r->grids);
}

/* The counters of the tallies with brackets, which scores are, among all counters of a batch. */
static inline uint64_t *sl_grid_counters_of(const struct sl_recipe *r, uint64_t *sum)
{
	return sum + r->grids.part[0].words;
}

/* The factor that a weight is multiplied by before sl_fixed_weight(): a power of 2. */
float sl_weight_scale(const struct sl_recipe *r);

/* The fixed-point weight of each particle, where weights do not differ. */
static inline uint64_t sl_common_weight(const struct sl_recipe *r)
{
	const float weight = SL_HAS(r->constants, SL_COLUMN_weight) ? r->constant.weight : 1.0f;

	return sl_fixed_weight(weight * sl_weight_scale(r));
}

/*
 * The factor that a weight is multiplied by before it is squared; 0: squares are not summed, as
 * weights do not differ. Weights that a model makes are at most 1, and so are their squares. Those
 * of lists can have any size, but the sum of all of them, times sl_weight_scale(), is below 2^29: a
 * factor smaller by 2^14 keeps the sum of the squares below 2^30.
 */
float sl_square_scale(const struct sl_recipe *r);

/* A sum of fixed-point weights, modulo 2^64, as a floating-point number. */
double sl_weight_of(const struct sl_recipe *r, uint64_t sum);

/* What 1 in a sum of squares stands for. */
double sl_square_unit(const struct sl_recipe *r);

/*
 * Fused: the columns in the record of a survivor (packed_record.h): those of the table that are not
 * constant. 0 if the model is recomputed, as it has no records.
 */
sl_column_set sl_record_columns(const struct sl_recipe *r);

/* The columns of the model that a batch stores; the id is not stored, it follows from the index. */
sl_column_set sl_stored_columns(const struct sl_recipe *r);

/* The columns that are only digested, and whose items are decoded for this from r->records. */
sl_column_set sl_decoded_columns(const struct sl_recipe *r);

/* The columns of the survivors that are read after the compaction. */
sl_column_set sl_survivor_columns(const struct sl_recipe *r);

/* Lays out the columns of a set with n items each and sets their pointers in *c. */
void sl_layout_columns(struct sl_arena *a, sl_column_set set, uint32_t n, struct sl_columns *c);

/* Lays out the source records of n particles for b and its table, if its batches keep them. */
void sl_layout_source(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* The most survivors that a batch of n particles can have. */
static inline uint32_t sl_most_survivors(const struct sl_recipe *r, uint32_t n)
{
	return r->counted && r->survivors_most < n ? r->survivors_most : n;
}

/* SL_STOPPED once r->cancel is set, else SL_OK. Loops call it between pieces of work. */
enum sl_status sl_check_cancelled(const struct sl_recipe *r);

/* Derives the columns of a particle that has taken its last step, and sets its final fate. */
static inline void sl_end_particle(const struct sl_recipe *r, struct sl_particle *p)
{
	struct sl_columns columns = sl_columns_of(p);

	sl_derive(&r->derivation, &columns, 0, p->id);
	p->fate = sl_condition_fate(&r->condition, &columns, 0, p->id, p->fate);
}

/* The type of the packed keys. */
static inline enum sl_type sl_key_type(const struct sl_recipe *r)
{
	return r->key_bits <= 32 ? SL_U32 : SL_U64;
}

/* Bytes of a packed key. */
static inline size_t sl_key_bytes(const struct sl_recipe *r)
{
	return sl_key_type(r) == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/*
 * Writes the indices of those of the first n particles of b for which b->keep is set to b->index,
 * and their number to *n_out, which is memory of x.
 */
enum sl_status sl_compact_indices(const struct sl_recipe *r, struct sl_exec *x,
	const struct sl_batch *b, uint32_t n, uint32_t *n_out);

/*
 * Sorts the indices of the survivors of b by their keys. The keys have no defined contents after
 * the call: nothing reads them, and a device then need not write them.
 */
enum sl_status sl_sort_indices(
	const struct sl_recipe *r, struct sl_exec *x, const struct sl_batch *b);

#endif
