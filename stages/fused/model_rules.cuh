/*
 * model_rules.cuh - the model as a template argument of the kernels of fused mode: its rules, its
 * sets of columns and fates as compile-time constants, and a function that computes a particle from
 * start to end.
 */
#ifndef SL_STAGES_FUSED_MODEL_RULES_CUH
#define SL_STAGES_FUSED_MODEL_RULES_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/models/rules.h"

struct sl_traits {
	typedef sl_rules rules;
	static constexpr sl_column_set columns = SL_MODEL_FACT(COLUMNS);
	static constexpr sl_fate_set fates = SL_MODEL_FACT(FATES);
	static constexpr bool recomputed = SL_MODEL_FACT(RECOMPUTED);
	static constexpr bool weighted = SL_MODEL_FACT(WEIGHTED);

	/* Computes particle id to its end, with at least the wanted columns. */
	static __device__ __forceinline__ struct sl_particle make(
		const rules *r, sl_column_set wanted, uint64_t seed, uint64_t id)
	{
		struct sl_particle p = SL_OF_MODEL(generate)(r, wanted, seed, id);

		p.id = id;
		SL_OF_MODEL(advance)(r, wanted, seed, &p, UINT32_MAX);
		return p;
	}
};

#endif
