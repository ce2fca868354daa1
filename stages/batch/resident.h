/*
 * resident.h - survivors that stay on the device: each batch has a block for its columns.
 *
 * The block is taken when the number of survivors is known, and the last stage writes the columns
 * to it. So nothing is copied but the columns of one value, which no stage writes: those are made
 * once with the items of a whole batch, and copied on the device.
 *
 *	block   | column | column | ... each n_survivors items, aligned to SL_ALIGN
 */
#ifndef SL_STAGES_BATCH_RESIDENT_H
#define SL_STAGES_BATCH_RESIDENT_H

#include "stages/batch/recipe.h"

/* What the batches of a device pipeline share. */
struct sl_resident {
	void *one_value[SL_COLUMN_COUNT]; /* by place in the table: the items of a batch; NULL: not
	                                     of one value */
	bool made;                        /* they are written */
};

/* Cuts the columns of one value with n items each; also resets r. */
void sl_resident_lay_out(
	struct sl_arena *device, const struct sl_recipe *r, uint32_t n, struct sl_resident *shared);

/*
 * Takes a block for the survivors of b, whose number is set, and queues the copies of the columns
 * of one value. The other columns of t then point to the block.
 */
enum sl_status sl_resident_begin(const struct sl_recipe *r, struct sl_resident *shared,
	struct sl_batch *b, struct sl_table *t, sl_stream s);

/* Column k of the table in the block b->resident: n_survivors items. */
void *sl_resident_column(const struct sl_batch *b, uint32_t k);

#endif
