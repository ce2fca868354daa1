/* cpu_dispatch.c - which loops this processor can run. */
#include "stages/host/cpu_dispatch.h"

#include <stddef.h>
#include <string.h>

#include "stages/batch/recipe.h"

#define LOOPS(level_)                                                                      \
	void sl_loop_generate_##level_(                                                    \
		const struct sl_recipe *, struct sl_batch *, uint32_t, uint32_t);          \
	void sl_loop_advance_##level_(                                                     \
		const struct sl_recipe *, struct sl_batch *, uint32_t, uint32_t);          \
	void sl_loop_mark_##level_(                                                        \
		const struct sl_recipe *, struct sl_batch *, uint32_t, uint32_t);          \
	void sl_loop_sort_##level_(                                                        \
		const struct sl_recipe *, struct sl_batch *, uint32_t, uint32_t);          \
	void sl_loop_write_##level_(                                                       \
		const struct sl_recipe *, struct sl_batch *, uint32_t, uint32_t);          \
	static const struct sl_loops loops_##level_ = {#level_, sl_loop_generate_##level_, \
		sl_loop_advance_##level_, sl_loop_mark_##level_, sl_loop_sort_##level_,    \
		sl_loop_write_##level_};

LOOPS(baseline)

#ifdef SL_HAS_X86_64_V3
LOOPS(x86_64_v3)

static bool has_v3(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

const struct sl_loops *sl_loops_find(const char *name)
{
#ifdef SL_HAS_X86_64_V3
	if (has_v3() && (!name || strcmp(name, loops_x86_64_v3.level) == 0))
		return &loops_x86_64_v3;
#endif
	return !name || strcmp(name, loops_baseline.level) == 0 ? &loops_baseline : NULL;
}
