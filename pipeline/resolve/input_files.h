/*
 * input_files.h - reads the headers of the input files of a model that reads particles.
 */
#ifndef SL_PIPELINE_RESOLVE_INPUT_FILES_H
#define SL_PIPELINE_RESOLVE_INPUT_FILES_H

#include "pipeline/config/reader/reader.h"

/* Keys that messages about the input files name. */
#define SL_LIST_FILES     "model.list.files"
#define SL_LIST_CHECKSUMS "model.list.checksums"

/*
 * For a model that reads particles: opens its files and records in *c how many particles they have
 * and which columns are constant. Wrong names add problems; a damaged file is the result. Does
 * nothing for other models.
 */
enum sl_status sl_resolve_inputs(struct sl_config *c, struct sl_reader *r);

#endif
