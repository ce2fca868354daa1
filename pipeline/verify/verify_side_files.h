/*
 * verify_side_files.h - what a run has made of all its batches is held against them.
 *
 * NAME.tallies is made anew of the batches' own and has the same bytes. The numbers of
 * NAME.image.h5 are those that the survivors' files add up to; NAME.png is made of them anew.
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_SIDE_FILES_H
#define SL_PIPELINE_VERIFY_VERIFY_SIDE_FILES_H

#include "pipeline/run/workspace.h"

/*
 * Of a run whose batches are all there, and added to the plan's canvas where there is an image.
 * SL_CHECK_FAILED or SL_BAD_INPUT at the first file that is not what it should be.
 */
enum sl_status sl_verify_sides(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
