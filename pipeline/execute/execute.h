/*
 * execute.h - carries out a plan: runs its batches and finishes them as a run directory or in
 * memory.
 *
 * In a directory, a run is opened, resumed or replaced, and finished with its side files and
 * run.json. In memory, nothing is packed and no file is touched: the caller takes the survivors of
 * each batch from control->batch, and the sums over batches are the same integers in the same
 * order.
 */
#ifndef SL_PIPELINE_EXECUTE_EXECUTE_H
#define SL_PIPELINE_EXECUTE_EXECUTE_H

#include "pipeline/output/output.h"

struct sl_execution {
	bool in_memory;      /* no files; control->batch gets the survivors */
	enum sl_start start; /* of a run in a directory */
	uint64_t
		started_ns; /* sl_now_ns() when the command began; run.stop_before counts from it */
	struct sl_control *
		control; /* progress, batch, ctx and ranks are the caller's; the rest is set here */
	/*
	 * Called once, under MPI on rank 0 alone, with the results: all of the run, or with stopped
	 * the batches before its stop. m has the lines of the batches; in memory, without names and
	 * sizes of files.
	 */
	void (*results)(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
		const struct sl_session *session, bool stopped);
	void *ctx;
};

/*
 * Changes resolved choices for a run in memory: a device copies all columns to the host unpacked,
 * or with resident none: control->batch then takes slot->batch.resident. To be called before
 * sl_plan_make(). SL_USAGE if survivors must be resident and no device computes the run.
 */
enum sl_status sl_execute_choose_memory(struct sl_choices *choices, bool resident);

/*
 * Whether a run in memory passes survivors to its caller: not with output.format: none, which needs
 * no columns.
 */
bool sl_execution_delivers(const struct sl_choices *choices);

/*
 * Runs the plan of w, whose memory is allocated. SL_STOPPED if a signal or run.stop_before ended
 * the run early; else the status of the checks of the configuration, or the failure of the run.
 * Under MPI all ranks call it together and get the same status; those whose message another one has
 * get "".
 */
enum sl_status sl_execute(struct sl_workspace *w, const struct sl_execution *e);

#endif
