/*
 * kernels.h - the kernels of the stages as one table per kind of device: CUDA or emulated. Those
 * that call rules of a model are in the table of the model (stages/models/code.h).
 *
 * Each entry queues the kernels of one stage on a stream and returns; it does not wait. The header
 * named in the comment describes it. Pointers inside a batch are device memory. The results have
 * the bits of the loops of the host.
 */
#ifndef SL_STAGES_DEVICE_KERNELS_H
#define SL_STAGES_DEVICE_KERNELS_H

#include "stages/batch/recipe.h"
#include "stages/counting/counters.h"
#include "stages/counting/grid.h"
#include "stages/device/pack.h"
#include "stages/fused/fused.h"
#include "stages/mark.h"
#include "stages/rounds/resample.h"
#include "stages/selection/list_filter.h"
#include "stages/sort.h"
#include "stages/write.h"

struct sl_kernels {
	sl_derive_launcher *derive;           /* stages/mark.h */
	sl_mark_launcher *mark;               /* stages/mark.h */
	sl_grids_launcher *grids;             /* stages/counting/grid.h */
	sl_grids_total_launcher *grids_total; /* stages/counting/grid.h */
	sl_key_launcher *key;                 /* stages/sort.h */
	sl_gather_launcher *gather;           /* stages/write.h */
	sl_records_launcher *records;         /* device/pack.h */
	sl_fill_launcher *fill;               /* device/pack.h */
	sl_bounds_launcher *bounds;           /* device/pack.h */
	sl_pack_digest_launcher *digest;      /* device/pack.h */
	sl_convert_launcher *convert;         /* selection/list_filter.h */
	sl_list_filter_launcher *list_filter; /* selection/list_filter.h */
	sl_list_key_launcher *list_key;       /* selection/list_filter.h */
	sl_take_launcher *take;               /* selection/list_filter.h */
	sl_filter_launcher *filter;           /* rounds/resample.h */
};

extern const struct sl_kernels sl_kernels_cuda, sl_kernels_emulated;

/* The table for the device in use; NULL if this build has no kernels for it. */
const struct sl_kernels *sl_kernels_find(void);

/* The kernels of the model of a recipe, for its device. */
static inline const struct sl_rule_kernels *sl_rule_kernels(const struct sl_recipe *r)
{
	return r->kernels == &sl_kernels_emulated ? &r->model->emulated : &r->model->cuda;
}

#endif
