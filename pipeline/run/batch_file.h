/*
 * batch_file.h - finished batches become files: assembled and written by any writer, committed in order.
 *
 *	write    the file in memory -> NAME.part, durable     any number of threads
 *	commit   its name -> one line in the manifest         in the order of batches, one at a time
 */
#ifndef SL_PIPELINE_RUN_BATCH_FILE_H
#define SL_PIPELINE_RUN_BATCH_FILE_H

#include "pipeline/run/run.h"
#include "primitives/files/files.h"

/* State of writing one batch. */
struct sl_batch_write {
	struct sl_manifest_line line;
	struct sl_file_writer file;
	uint64_t assemble_ns, commit_ns; /* what both took so far */
};

/* Writes the batch in slot to dir, not yet under its name. image has plan->memory.image bytes. */
enum sl_status sl_batch_file_write(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_host_slot *slot, void *image, struct sl_batch_write *w);

/* Renames the written file, adds its manifest line, and adds the batch to the image of the run. */
enum sl_status sl_batch_file_commit(struct sl_workspace *work, const struct sl_dir *dir,
	const struct sl_host_slot *slot, struct sl_batch_write *w);

/* Fills the manifest line of a batch, without file names and without size and CRC of the survivor file. */
void sl_batch_file_line(const struct sl_batch *b, struct sl_manifest_line *line);

#endif
