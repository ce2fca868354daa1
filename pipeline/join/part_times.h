/* part_times.h - what run.json of a part says about its session and its machine. */
#ifndef SL_PIPELINE_JOIN_PART_TIMES_H
#define SL_PIPELINE_JOIN_PART_TIMES_H

#include "pipeline/output/existing_run.h"
#include "pipeline/run/run.h"

/*
 * Sets *times, and adds the measurements of the part's last session to *sum; sum->seconds becomes
 * those of the longest. A part that was killed after its last batch has no times.
 */
void sl_part_times_add(
	const struct sl_existing_run *run, struct sl_part_times *times, struct sl_session *sum);

/*
 * Reads the members machine to primitives of run.json, as text, whose checksum was checked. The
 * caller frees *members with sl_memory_give(SL_HOST). SL_BAD_INPUT if they are missing.
 */
enum sl_status sl_part_members_read(const struct sl_dir *dir, char **members);

#endif
