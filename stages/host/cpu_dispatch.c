/* cpu_dispatch.c - the loops of each CPU level, and which of them this processor can run. */
#include "stages/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "stages/mark.h"
#include "stages/rounds/passes.h"
#include "stages/sort.h"
#include "stages/write.h"

/*
 * The loops of a level: the compiler makes each function once per level, with the level in its
 * name.
 */
#define LOOPS(at)                                      \
	{.level = #at,                                 \
		.number = SL_LEVEL_##at,               \
		.mark = sl_loop_mark_##at,             \
		.count_step = sl_loop_count_step_##at, \
		.sort = sl_loop_sort_##at,             \
		.write = sl_loop_write_##at,           \
		.filter = sl_loop_filter_##at},

static const struct sl_loops levels[] = {SL_LEVELS(LOOPS)};

/* Whether the processor has the instructions that the compiler may use at a level. */
static bool is_supported(const char *level)
{
#if defined(__x86_64__)
	bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");

	if (strcmp(level, "x86_64_v3") == 0)
		return v3;
	if (strcmp(level, "x86_64_v4") == 0)
		return v3 && __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
	(void)level;
	return true;
}

const struct sl_loops *sl_loops_at(size_t k)
{
	return k < sizeof(levels) / sizeof(levels[0]) ? &levels[k] : NULL;
}

const struct sl_loops *sl_find_loops(const char *name)
{
	const struct sl_loops *l;

	for (size_t k = 0; (l = sl_loops_at(k)) != NULL; k++)
		if ((!name || strcmp(name, l->level) == 0) && is_supported(l->level))
			return l;
	return NULL;
}
