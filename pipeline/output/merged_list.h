/*
 * merged_list.h - one file of a whole run, such as NAME.mcpl or NAME.h5, merged from the batch
 * files.
 *
 * The list is written once, when the run is done. Appending after each batch would need in-place
 * changes of the header (count, sum, checksum), serial writes of batches, and a rewrite of all
 * later batches when one is damaged. With a single write, a killed run leaves only complete files,
 * and
 * --resume gives the same bytes. The cost is twice the disk space.
 *
 * Of a list of records without output.order: run, output.sample and output.limit, records and gzip
 * members are copied unchanged; only the header is new. The header counts all particles of the
 * list, and stat:sum:sluice_generated all particles that were generated. A file of columns is
 * compressed again.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGED_LIST_H
#define SL_PIPELINE_OUTPUT_MERGED_LIST_H

#include "pipeline/output/merge/ordered_list.h"

/*
 * Writes the list, replaces an existing one, and sets w->joined. Does nothing if the configuration
 * does not ask for a list. SL_CHECK_FAILED if a file of a batch does not match the manifest.
 */
enum sl_status sl_merged_list_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

/* Sends the list of at least one batch to sink, and sets *list. */
enum sl_status sl_merged_list_send(const struct sl_ordered_list *l, sl_byte_sink *sink,
	void *context, struct sl_joined_list *list);

/* SL_CHECK_FAILED if the existing list differs from the one that the batch files give. */
enum sl_status sl_merged_list_check(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
