/*
 * merge_pass.h - merges the records of several sorted files into one, by key.
 *
 * Records with equal keys keep the order of their files, which is that of their ids. More files than can
 * be merged at a time take several passes, as in an external merge sort (Knuth, The Art of Computer
 * Programming, vol. 3, 5.4): a pass merges groups of files into intermediate files of keys and records,
 * until few enough are left. Intermediate files have the suffix .part, so that a killed merge leaves only
 * files that --resume removes.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_MERGE_PASS_H
#define SL_PIPELINE_OUTPUT_MERGE_MERGE_PASS_H

#include "pipeline/output/merge/record_output.h"
#include "pipeline/output/source/record_source.h"

struct sl_merge {
	const struct sl_dir *dir;  /* of the batches */
	const struct sl_dir *work; /* for intermediate files */
	const char *list; /* name of the list, from which the names of intermediate files follow */
	const struct sl_manifest *batches;
	const struct sl_selection *selection;
	uint32_t most; /* files that are merged at a time, at least 2 */
	struct sl_job_pool *pool;
};

/* Sends all records of the run to o in the order of their keys. After a failure no file is left. */
enum sl_status sl_merge_run(const struct sl_merge *m, struct sl_record_output *o);

/* Is name an intermediate file of a merge into the list of that name? */
bool sl_merge_pass_is_file(const char *name, const char *list);

#endif
