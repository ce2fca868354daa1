/*
 * batch_layout.h - the memory of a batch on the host and on devices: arrays, histograms and scratch.
 *
 * The same functions measure the memory and set the pointers, so that sizes are exact. Sizes are in
 * bytes. The caller owns the arena; nothing is allocated, and no function fails.
 */
#ifndef SL_STAGES_HOST_BATCH_LAYOUT_H
#define SL_STAGES_HOST_BATCH_LAYOUT_H

#include "stages/batch/recipe.h"

/* Particles that the host takes through the stages together, so that they stay in the cache. */
enum { SL_HOST_BLOCK = 1 << 12 };

/*
 * Lays out a batch of at most n particles in a and sets its pointers, which are NULL while a only
 * measures. The histograms are laid out separately (sl_histogram_lay_out()), because only batches on
 * the host have them. Returns the offset in a from which nothing is read after the stage write: the caller can use
 * the memory from there for other things then.
 */
size_t sl_batch_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* Lays out only the table: the columns of the recipe, with n items for those in set. */
void sl_table_lay_out(struct sl_arena *a, const struct sl_recipe *r, uint32_t n, sl_column_set set,
	struct sl_table *t);

/* Lays out the counters of the histograms of b, if the recipe has histograms. */
void sl_histogram_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *b);

/* Upper bound of the scratch shared by all stages, in bytes; scratch of the sort stage. */
size_t sl_stages_scratch(const struct sl_recipe *r, uint32_t n);
size_t sl_sort_scratch(const struct sl_recipe *r, uint32_t n);

#endif
