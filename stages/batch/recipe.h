/*
 * recipe.h - what is the same for all batches of a run: how a batch is made.
 *
 * A batch is a pure function of its recipe and its number. The plan makes the recipe; the stages
 * only read it.
 */
#ifndef SL_STAGES_BATCH_RECIPE_H
#define SL_STAGES_BATCH_RECIPE_H

#include <stdatomic.h>

#include "primitives/primitives.h"
#include "stages/batch/loops.h"
#include "stages/batch/schedule.h"
#include "stages/selection/histogram.h"
#include "stages/selection/condition.h"
#include "stages/formats/common/transfer_form.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/selection/key.h"
#include "stages/models/model.h"

enum { SL_RULES_BYTES = 4096 };

struct sl_kernels;
struct sl_inputs;

/* How a batch is run: stage by stage, or, on a device, in as few kernels as can be (device_modes.h). */
#define SL_MODES(X) X(staged) X(fused)
enum sl_mode {
#define X(name) SL_MODE_##name,
	SL_MODES(X)
#undef X
		SL_MODE_COUNT
};

/* What a device makes of survivors before they come home (pack.h). */
struct sl_pack_rule {
	enum sl_transfer_form form; /* columns: nothing */
	struct sl_device_packing packing;
	struct sl_mcpl_record record;     /* where they become records */
	const struct sl_backend *backend; /* of streams */
	int level;
};

struct sl_recipe {
	enum sl_model_number model;
	union {
		unsigned char bytes[SL_RULES_BYTES]; /* the model's struct sl_NAME */
		double align;
	} rules;
	struct sl_inputs *inputs; /* of a model that is read (inputs.h); else NULL */
	uint64_t seed;
	uint64_t particles; /* of the run */
	uint32_t batch;     /* particles a batch; the last one may be smaller */
	uint64_t n_batches;
	sl_fate_set keep;              /* the fates that survive ... */
	struct sl_condition condition; /* ... and what is asked of some of them */
	uint32_t n_fields;             /* of the key; 0: survivors stay in id order */
	struct sl_key_rule field[SL_KEY_FIELDS_MAX];
	uint32_t key_bits;            /* in all; up to 32: u32 keys, else u64 */
	struct sl_histogram_set bins; /* tallies by bins, if any */
	int weight_shift;             /* weights are counted in steps of 2^-(32 + shift) */
	uint32_t n_columns;           /* that are written, in order of columns.def */
	enum sl_column column[SL_COLUMN_COUNT];
	uint32_t constants;          /* set of columns with one value for the whole run */
	struct sl_particle constant; /* those values */
	enum sl_mode mode;
	struct sl_schedule schedule; /* of the stage advance; staged alone */
	struct sl_choice scan;       /* no backend: compact and sort have their own */
	struct sl_choice compact;    /* staged alone */
	struct sl_choice sort;
	struct sl_pack_rule pack;
	uint32_t
		unpacked; /* set of columns that come home from a device as they are; all, if that is
	                  the form */
	const struct sl_loops *loops;     /* for this processor */
	const struct sl_kernels *kernels; /* for the device; NULL: stages run on the host */
	const atomic_int *drop;           /* not NULL and set: stages give up with SL_STOPPED */
};

/* The fates that particles can have in the end. */
static inline sl_fate_set sl_fates_of(const struct sl_recipe *r)
{
	return sl_models[r->model]->fates | (r->condition.n > 0 ? SL_FATE_BIT(SL_FATE_dropped) : 0);
}

/* Are weights summed up, as they differ? */
static inline bool sl_sums_weights(const struct sl_recipe *r)
{
	return sl_models[r->model]->weighted && !SL_HAS(r->constants, SL_COLUMN_weight);
}

/* What a weight is multiplied with before it is counted in steps of 2^-32 (mark.h). */
float sl_weight_scale(const struct sl_recipe *r);

/* A sum of weights, counted modulo 2^64, as a number. */
double sl_weight_of(const struct sl_recipe *r, uint64_t sum);

/*
 * Fused: the columns in the record of a survivor (packed_record.h): those of the table that are not
 * constant. 0 if the model is remade, as it has no records.
 */
uint32_t sl_record_columns(const struct sl_recipe *r);

/* SL_STOPPED once r->drop is set, else SL_OK. */
enum sl_status sl_check_cancelled(const struct sl_recipe *r);

/* The fate of a particle whose last step is done. */
static inline uint8_t sl_final_fate(const struct sl_recipe *r, const struct sl_particle *p)
{
	struct sl_particle copy = *p;
	struct sl_columns columns = sl_columns_of(&copy);

	return sl_condition_fate(&r->condition, &columns, 0, p->id, p->fate);
}

/* The type of the packed keys. */
static inline enum sl_type sl_key_type(const struct sl_recipe *r)
{
	return r->key_bits <= 32 ? SL_U32 : SL_U64;
}

#endif
