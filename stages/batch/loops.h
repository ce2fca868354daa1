/*
 * loops.h - the host's loops over particles, compiled once for each CPU level.
 *
 * The rules of the models consist mostly of fmaf(). On x86-64-v3 that is one instruction; below
 * that level it is a library call, which makes the loops nine times slower. generate.c, advance.c,
 * mark.c, sort.c and write.c of stages/ are therefore compiled once per level. The build defines
 * SL_LEVEL as "baseline" or "x86_64_v3", and SL_AT_LEVEL() appends it to the name of the loop:
 *
 *	sl_loop_generate_baseline  sl_loop_generate_x86_64_v3
 *	sl_loop_advance_baseline   sl_loop_advance_x86_64_v3
 *	sl_loop_mark_baseline      sl_loop_mark_x86_64_v3
 *	sl_loop_sort_baseline      sl_loop_sort_x86_64_v3
 *	sl_loop_write_baseline     sl_loop_write_x86_64_v3
 *
 * The results have the same bits at each level. stages/host/cpu_dispatch.h chooses one level when
 * the program starts.
 */
#ifndef SL_STAGES_BATCH_LOOPS_H
#define SL_STAGES_BATCH_LOOPS_H

#include "stages/batch/batch.h"

struct sl_recipe;

/* Processes items from to to - 1 of a batch: particles, or survivors (sort, write). */
typedef void sl_loop(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);

/* The loops of one CPU level. */
struct sl_loops {
	const char *level;
	sl_loop *generate, *advance, *mark, *sort, *write;
};

#define SL_PASTE(name, level)  name##_##level
#define SL_EXPAND(name, level) SL_PASTE(name, level)
#define SL_AT_LEVEL(name)      SL_EXPAND(name, SL_LEVEL)

#endif
