/*
 * plan_recipe.h - choices become the recipe of the stages.
 *
 * The stages know no configuration: what they do not find in the recipe cannot change a result. The
 * recipe gets its inputs (input_files.h) after sl_recipe_make() and before sl_recipe_choose_kept(),
 * and its kernels when the devices are opened.
 */
#ifndef SL_PIPELINE_PLAN_RECIPE_PLAN_RECIPE_H
#define SL_PIPELINE_PLAN_RECIPE_PLAN_RECIPE_H

#include "pipeline/config/config.h"
#include "pipeline/resolve/resolve.h"
#include "stages/batch/recipe.h"

/*
 * Copies to r, which is all zero, what the stages need. Allocates nothing. SL_USAGE if the
 * environment variable SL_LEVEL, which selects loops of another instruction level for tests, names
 * none of this processor; or the error of the format for records that it cannot describe.
 */
enum sl_status sl_recipe_make(
	const struct sl_choices *c, const struct sl_config *config, struct sl_recipe *r);

/*
 * With the inputs of r open: chooses the layout of the source records that batches keep (none, if
 * the output is not MCPL), and the columns of which batches on the host need only the digests.
 */
void sl_recipe_choose_kept(const struct sl_choices *c, struct sl_recipe *r);

#endif
