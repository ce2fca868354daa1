/*
 * model_rules.cuh - a model as the kernels of the fused way see it: select.cu, which makes all particles
 * and leaves the survivors, and gather_rows.cu, which writes their columns.
 */
#ifndef SL_STAGES_FUSED_MODEL_RULES_CUH
#define SL_STAGES_FUSED_MODEL_RULES_CUH

#include "primitives/kernel/kernel.cuh"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

/* Its rules, and what follows from them when kernels are compiled. */
#define MODEL(name)                                                                       \
	struct sl_of_##name {                                                             \
		typedef struct sl_##name rules;                                           \
		static constexpr uint32_t columns = SL_COLUMNS_##name;                    \
		static constexpr sl_fate_set fates = SL_FATES_##name;                     \
		static constexpr bool remade = SL_REMADE_##name;                          \
		static constexpr bool weighted = SL_WEIGHTED_##name;                      \
                                                                                          \
		/* The particle id, moved to its end; its columns wanted. */              \
		static __device__ __forceinline__ struct sl_particle make(                \
			const rules *r, uint32_t wanted, uint64_t seed, uint64_t id)      \
		{                                                                         \
			struct sl_particle p = sl_##name##_generate(r, wanted, seed, id); \
                                                                                          \
			p.id = id;                                                        \
			sl_##name##_advance(r, wanted, seed, &p, UINT32_MAX);             \
			return p;                                                         \
		}                                                                         \
	};
#include "stages/models/models.def"
#undef MODEL

#endif
