/*
 * image_files.h - writes the image of a finished run: NAME.png to look at, NAME.image.h5 with
 * numbers.
 */
#ifndef SL_PIPELINE_OUTPUT_IMAGE_FILES_H
#define SL_PIPELINE_OUTPUT_IMAGE_FILES_H

#include "pipeline/run/run.h"

/*
 * Adds the batches of m that the sum lacks, from their files in dir, and commits both image files.
 */
enum sl_status sl_image_files_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
