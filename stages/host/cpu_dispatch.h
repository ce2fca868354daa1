/*
 * cpu_dispatch.h - the loops over particles, compiled once for each level of the processor.
 *
 * Rules are full of fmaf, which is one instruction on x86-64-v3 and a library call below: nine
 * times slower. So generate.c, advance.c, mark.c, sort.c and write.c are compiled for each level,
 * with SL_LEVEL naming it, and the program chooses when it starts. The bits are the same.
 */
#ifndef SL_STAGES_HOST_CPU_DISPATCH_H
#define SL_STAGES_HOST_CPU_DISPATCH_H

#include "stages/batch/batch.h"

struct sl_recipe;

/* Each loop does particles (or survivors) from .. to-1 of a batch. */
struct sl_loops {
	const char *level;
	void (*generate)(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);
	void (*advance)(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);
	void (*mark)(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);
	void (*sort)(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);
	void (*write)(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to);
};

/* name_baseline, name_x86_64_v3 */
#define SL_PASTE(name, level)  name##_##level
#define SL_EXPAND(name, level) SL_PASTE(name, level)
#define SL_AT_LEVEL(name)      SL_EXPAND(name, SL_LEVEL)

#define SL_LOOP(stage)                                                                      \
	void SL_AT_LEVEL(sl_loop_##stage)(                                                  \
		const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to); \
	void SL_AT_LEVEL(sl_loop_##stage)(                                                  \
		const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)

/*
 * The loops for the best level that this processor has, or, when name is not NULL, for that one:
 * NULL if there is none of that name or the processor lacks it.
 */
const struct sl_loops *sl_loops_find(const char *name);

#endif
