/*
 * verify_side_files.h - checks the files that a run makes from all its batches.
 *
 * NAME.xdmf is made again from the manifest, and NAME.tallies from the histograms of the batches;
 * both must have the same bytes. The numbers of NAME.image.h5 must be the sums over the survivor
 * files; NAME.png is made again from these sums and must have the same bytes. A joined file
 * (output.joined) is compared with the batch files.
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_SIDE_FILES_H
#define SL_PIPELINE_VERIFY_VERIFY_SIDE_FILES_H

#include "pipeline/run/run.h"

/*
 * All batches of the run must be committed, and w->image_sum must contain their pixels if the run
 * has an image. SL_CHECK_FAILED or SL_BAD_INPUT at the first file that is wrong.
 */
enum sl_status sl_verify_side_files(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
