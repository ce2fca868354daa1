/*
 * loops.h - the host's loops over particles, compiled once for each CPU level.
 *
 * generate.c, advance.c, mark.c, sort.c and write.c of stages/ are compiled once per level, with
 * the instructions of that level. The build defines SL_LEVEL, and SL_AT_LEVEL() appends it to the
 * name of the loop: sl_loop_mark_baseline, sl_loop_mark_x86_64_v3. It also defines SL_LEVEL_LANES:
 * generate.c and advance.c, which call the rules of a model and are compiled once for each
 * (stages/models/rules.h), compute that many particles at once (stages/particle/lanes.h).
 *
 *	baseline    1 lane: the specification; on x86-64 each fmaf() is a library call
 *	x86_64_v3   8 lanes: AVX2 and FMA
 *	x86_64_v4   16 lanes: AVX-512
 *	neon        4 lanes: AArch64
 *
 * The results have the same bits at each level. stages/host/host.h chooses one level when
 * the program starts.
 */
#ifndef SL_STAGES_BATCH_LOOPS_H
#define SL_STAGES_BATCH_LOOPS_H

#include "stages/batch/batch.h"
#include "stages/models/code.h"
#include "stages/models/common/resampling.h"

struct sl_recipe;
struct sl_grid_set;
struct sl_filter_pass;

/* Whether the run was asked to stop. May be called from any thread. */
SL_FOR_MODELS bool sl_is_cancelled(const struct sl_recipe *r);

/* The grids of its batches, and the place of their counters in those of a batch. */
SL_FOR_MODELS const struct sl_grid_set *sl_loop_grids(const struct sl_recipe *r);
SL_FOR_MODELS uint64_t *sl_loop_grid_counters(const struct sl_recipe *r, uint64_t *bins);

enum { SL_LANES_MAX = 16 }; /* of all levels */

/* Processes items from to to - 1 of a batch: particles (mark, count_step), or survivors (sort). */
typedef void sl_loop(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);

/* Processes all survivors of a batch (write). */
typedef void sl_survivor_loop(const struct sl_recipe *r, struct sl_batch *b);

/* The loops of one CPU level that do not depend on the model. */
struct sl_loops {
	const char *level;
	enum sl_level_number number; /* of struct sl_model.loops */
	sl_loop *mark, *count_step, *sort;
	sl_survivor_loop *write;
	void (*filter)(enum sl_filter_work which, const struct sl_filter_pass *p);
};

#define SL_PASTE(name, level)       name##_##level
#define SL_PASTE_VALUE(name, level) SL_PASTE(name, level)
#define SL_AT_LEVEL(name)           SL_PASTE_VALUE(name, SL_LEVEL)

/* The names of a loop at all levels. */
#define SL_EVERY_LEVEL(name) name##_baseline, name##_x86_64_v3, name##_x86_64_v4, name##_neon

#endif
