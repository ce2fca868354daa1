/* cpu_dispatch.c - the loops of each CPU level, and which of them this processor can run. */
#include "stages/host/cpu_dispatch.h"

#include <stddef.h>
#include <string.h>

#include "stages/advance.h"
#include "stages/generate.h"
#include "stages/mark.h"
#include "stages/sort.h"
#include "stages/write.h"

/* The loops of a level: the compiler makes each function once per level, with the level in its name. */
#define LOOPS(at)                                                                                 \
	{                                                                                         \
		.level = #at, .generate = sl_loop_generate_##at, .advance = sl_loop_advance_##at, \
		.mark = sl_loop_mark_##at, .sort = sl_loop_sort_##at, .write = sl_loop_write_##at \
	}

static const struct sl_loops loops_baseline = LOOPS(baseline);

#ifdef SL_HAS_X86_64_V3
static const struct sl_loops loops_x86_64_v3 = LOOPS(x86_64_v3);

/* The instruction sets of x86-64-v3 that the loops use. */
static bool has_v3(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

const struct sl_loops *sl_find_loops(const char *name)
{
#ifdef SL_HAS_X86_64_V3
	if (has_v3() && (!name || strcmp(name, loops_x86_64_v3.level) == 0))
		return &loops_x86_64_v3;
#endif
	return !name || strcmp(name, loops_baseline.level) == 0 ? &loops_baseline : NULL;
}
