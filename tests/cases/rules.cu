/* rules.cu - each rule as a kernel, a thread an item. */
#include "tests/cases/rules.h"

#include "primitives/kernel/kernel.cuh"

enum { BLOCK = 256 };

#define RULE(name, words)                                                                          \
	static __global__ void name##_kernel(                                                      \
		const struct sl_rule_parameters *w, const uint32_t *in, uint32_t *out, uint32_t n) \
	{                                                                                          \
		uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                      \
                                                                                                   \
		if (i < n)                                                                         \
			sl_rule_##name(w, in + i * SL_RULE_IN, out + i * SL_RULE_OUT);             \
	}
SL_RULES(RULE)
#undef RULE

enum sl_status SL_NAME(sl_queue_rule)(enum sl_rule rule, const struct sl_rule_parameters *w,
	const uint32_t *in, uint32_t *out, uint32_t n, sl_stream s)
{
	switch (rule) {
#define RULE(name, words)    \
	case SL_RULE_##name: \
		return SL_LAUNCH(name##_kernel, sl_grid(n, BLOCK), BLOCK, 0, s, w, in, out, n);
		SL_RULES(RULE)
#undef RULE
	case SL_RULE_COUNT:
		break;
	}
	return SL_OK;
}
