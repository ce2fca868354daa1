/*
 * model_rules.cuh - the models as template arguments of the kernels of fused mode.
 *
 * For each model NAME there is a struct sl_traits_NAME with its rules, its sets of columns and
 * fates as compile-time constants, and a function that computes a particle from start to end.
 */
#ifndef SL_STAGES_FUSED_MODEL_RULES_CUH
#define SL_STAGES_FUSED_MODEL_RULES_CUH

#include "primitives/kernel/kernel.cuh"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

/*
 * struct sl_traits_source_detector, sl_traits_slab, sl_traits_cavity, sl_traits_rays,
 * sl_traits_list
 */
#define MODEL(name)                                                                       \
	struct sl_traits_##name {                                                         \
		typedef struct sl_##name rules;                                           \
		static constexpr sl_column_set columns = SL_COLUMNS_##name;               \
		static constexpr sl_fate_set fates = SL_FATES_##name;                     \
		static constexpr bool recomputed = SL_RECOMPUTED_##name;                  \
		static constexpr bool weighted = SL_WEIGHTED_##name;                      \
                                                                                          \
		/* Computes particle id to its end, with at least the wanted columns. */  \
		static __device__ __forceinline__ struct sl_particle make(                \
			const rules *r, sl_column_set wanted, uint64_t seed, uint64_t id) \
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
