/*
 * fused.h - the parameters of the kernels of fused mode.
 *
 * Fused mode runs on devices only. Two kernels replace the stages generate to compact and write:
 *
 *	select.cu       makes all particles, in registers, and stores only the survivors
 *	gather_rows.cu  writes all columns of the survivors in key order
 *
 * Only survivors are written to memory.
 */
#ifndef SL_STAGES_FUSED_FUSED_H
#define SL_STAGES_FUSED_FUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/counting/counters.h"
#include "stages/models/model.h"
#include "stages/selection/grid.h"
#include "stages/selection/key.h"
#include "stages/selection/program.h"

SL_C_BEGIN

/*
 * The most columns that a particle may have in fused mode, derived ones included: those of all
 * threads of a block are in shared memory.
 */
enum { SL_FUSED_COLUMNS_MAX = 22 };

/* Whether particles of the model fit, with the derived columns of a run. */
static inline bool sl_fused_fits(const struct sl_model *model, const struct sl_program *derivation)
{
	return __builtin_popcountll(model->columns) + __builtin_popcountll(derivation->stores) <=
	       SL_FUSED_COLUMNS_MAX;
}

/*
 * The parameters of both kernels. All pointers but device_grids and grid_copies point to host memory.
 */
struct sl_fused {
	const void *rules; /* the model's struct sl_NAME */
	uint64_t seed;
	sl_fate_set keep; /* the fates that survive */
	const struct sl_program *condition;
	const struct sl_program *derivation;
	uint32_t n_fields; /* of the key; 0: survivors are not sorted */
	const struct sl_key_rule *field;
	bool narrow; /* keys are u32, else u64 */
	sl_column_set
		record_columns; /* columns in a record (packed_record.h); 0: the model is recomputed */
	const struct sl_grid_set *grids;
	const struct sl_grid_set
		*device_grids; /* device memory; NULL: all counters are in blocks */
	uint64_t *grid_copies; /* of the counters, device memory */
	float weight_scale;    /* see sl_weight_scale() */
	float square_scale;    /* see sl_square_scale() */
};

SL_C_END

#endif
