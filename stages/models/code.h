/*
 * code.h - what is compiled from the rules of a model: the loops of the host for each CPU level, and
 * the kernels for CUDA and for the emulated device. struct sl_model (model.h) has the pointers.
 *
 * The files generate.c, advance.c and model_table.c of stages/, and generate.cu, advance.cu,
 * fused/select.cu, fused/gather_rows.cu and counting/score.cu are compiled once for each model
 * (rules.h). rules points to the model's struct sl_NAME, on the host.
 */
#ifndef SL_STAGES_MODELS_CODE_H
#define SL_STAGES_MODELS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "stages/particle/particle.h"
#include "stages/particle/random.h"

struct sl_batch;
struct sl_batch_counters;
struct sl_fused;
struct sl_grid_set;
struct sl_recipe;

SL_C_BEGIN

/* --- host ------------------------------------------------------------------------------------- */

/* The CPU levels (stages/batch/loops.h), from best to worst; the last one runs on every processor. */
#if defined(__x86_64__)
#define SL_LEVELS(X) X(x86_64_v4) X(x86_64_v3) X(baseline)
#elif defined(__aarch64__)
#define SL_LEVELS(X) X(neon) X(baseline)
#else
#define SL_LEVELS(X) X(baseline)
#endif

enum sl_level_number {
#define X(level) SL_LEVEL_##level,
	SL_LEVELS(X)
#undef X
		SL_LEVEL_COUNT
};

/*
 * Applies the rules to the first n particles of a batch, or of its active set. Ends early if r is
 * not NULL and the run is cancelled.
 *
 * generate: the particles as they start, each computed from (seed, id), with the model's columns.
 *
 * advance: the active particles take steps until their fates are decided. b->active_set.columns has
 * the particles, and its steps limits the steps of this call. Sets b->keep, which is 1 for those
 * still alive, and counts b->active_set.alive. If r has scores, adds to them.
 */
typedef void sl_rule_loop(const void *rules, uint64_t seed, struct sl_batch *b, uint32_t n,
	const struct sl_recipe *r);

/* The loops of a CPU level. */
struct sl_rule_loops {
	sl_rule_loop *generate, *advance;
};

/* Reports words 4 * block to 4 * block + 3 of a particle. */
typedef void sl_draw_observer(void *ctx, uint64_t block, struct sl_words words);

/*
 * Particle id one step after the state before, or, if before is NULL, at its start. Passes ctx and
 * the random words that are drawn to draw, unless it is NULL.
 */
typedef struct sl_particle sl_one_step(const void *rules, uint64_t seed, uint64_t id,
	const struct sl_particle *before, sl_draw_observer *draw, void *ctx);

/* --- kernels ---------------------------------------------------------------------------------- */

/* Queues the kernel that generates the particles of b. */
typedef enum sl_status sl_generate_launcher(
	const void *rules, uint64_t seed, const struct sl_batch *b, sl_stream s);

/*
 * Queues the kernel that advances b->active_set. If alive (in device memory) is not NULL, also sets
 * b->keep and adds the number of particles still alive to *alive.
 */
typedef enum sl_status sl_advance_launcher(
	const void *rules, uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s);

/*
 * The same for a recipe with scores: adds the collisions and flights of the particles to the scores
 * of the batch (stages/selection/grid.h), in sum, the counters of the grids. sum and device_grids,
 * a copy of grids, are device memory.
 */
typedef enum sl_status sl_scored_launcher(const void *rules, uint64_t seed,
	const struct sl_batch *b, const struct sl_grid_set *grids,
	const struct sl_grid_set *device_grids, uint64_t *sum, uint64_t *alive, sl_stream s);

/*
 * Fused stage 1: queues the kernel that generates, advances, marks and compacts. It sets b->key and
 * b->index of each survivor in id order, b->record if the model is not recomputed, and
 * counters->n_survivors, and adds to the tally and the tallies of counters. The index is the number
 * of the particle in the batch, or, if the model is not recomputed, that of its record. The caller
 * has set scratch to 0.
 */
typedef enum sl_status sl_select_launcher(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s);

/* Bytes of scratch for batches of at most n particles. */
typedef size_t sl_select_scratch(const struct sl_fused *f, uint32_t n);

/*
 * Fused stage 3: queues the kernel that writes the columns of the survivors to b->table, in the
 * order of b->index, and adds to counters->digest. It reads the number of rows from counters, on
 * the device; b->n_survivors must be at least that number.
 */
typedef enum sl_status sl_rows_launcher(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, sl_stream s);

/* The kernels for one kind of device. */
struct sl_rule_kernels {
	sl_generate_launcher *generate;
	sl_advance_launcher *advance;
	sl_scored_launcher *scored; /* NULL: the model has no scores */
	sl_select_launcher *select;
	sl_select_scratch *select_scratch;
	sl_rows_launcher *rows;
};

SL_C_END

#endif
