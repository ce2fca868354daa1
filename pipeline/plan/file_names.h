/*
 * file_names.h - the names of all files that a run writes: one naming scheme in one place.
 *
 *	NAME_000012.h5        survivors of batch 12 (suffix of the format)
 *	NAME_000012.bins      histograms of batch 12, if the run has any
 *	NAME_000012.order     sort keys of batch 12, if the joined file needs them
 *	NAME.xdmf             lets ParaView open the openPMD files
 *	NAME.tallies          histograms of the whole run (HDF5)
 *	NAME.png, .image.h5   image of the whole run
 *	NAME.mcpl             all batches as one list, with output.joined
 *
 * Names are relative to the output directory.
 */
#ifndef SL_PIPELINE_PLAN_FILE_NAMES_H
#define SL_PIPELINE_PLAN_FILE_NAMES_H

#include "pipeline/plan/plan.h"

/*
 * The output directory of a configuration: output.to, or out/NAME; of a part, the directory in it that
 * is named after the part. --part is only accepted if that fits.
 */
void sl_output_directory_name(const struct sl_config *config, char to[SL_TEXT_BYTES]);

/* The file of a batch's survivors; "" if the run writes none (output.format: none). */
void sl_batch_file_name(const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES]);

/* The file of a batch's histograms; "" if the run has none. */
void sl_batch_histogram_file_name(
	const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES]);

/* The file with the sort keys of a batch's survivors; "" if the run has none. */
void sl_batch_order_file_name(
	const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES]);

/* The files of a run that belong to no batch. */
enum sl_side_file { SL_SIDE_XDMF, SL_SIDE_HISTOGRAMS, SL_SIDE_IMAGE, SL_SIDE_PNG, SL_SIDE_COUNT };
const char *sl_side_file_name(
	const char *run, enum sl_side_file which, char name[SL_FILE_NAME_BYTES]);

/* The list of all batches of a run (output.joined). */
const char *sl_merged_list_name(
	const char *run, const struct sl_format *format, char name[SL_FILE_NAME_BYTES]);

/* The HDF5 file of the histograms of the run; false if the run makes none. */
bool sl_histogram_file_name(const struct sl_plan *plan, char name[SL_FILE_NAME_BYTES]);

#endif
