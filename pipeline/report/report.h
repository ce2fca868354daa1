/*
 * report.h - run.json: the results of a run (tallies.h), its configuration, machine and
 * times.
 *
 * The figure of merit of a fate is 1 / (R^2 T): R its relative error over batches, T the seconds of
 * computing, summed over threads (on a device: over batches in flight), of all stages before
 * compression. Where earlier sessions committed batches too, T is this session's, in proportion to
 * the particles. Only run.json contains it, because T is measured and differs between runs.
 */
#ifndef SL_PIPELINE_REPORT_REPORT_H
#define SL_PIPELINE_REPORT_REPORT_H

#include <stdio.h>

#include "pipeline/plan/plan.h"
#include "pipeline/run/run.h"
#include "pipeline/text/text.h"

/* --- report ----------------------------------------------------------------------------------- */

/*
 * Commits run.json in dir. state: "running", "stopped", "done". session may be NULL (a run that
 * begins).
 */
enum sl_status sl_report_commit(const struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_session *session, const char *state);

/*
 * Checks the CRC-32 that is the last member of run.json. SL_BAD_INPUT if it is missing or if any
 * byte of the file has changed.
 */
enum sl_status sl_report_check(const struct sl_dir *dir);

/* Writes the text of run.json to out, without a CRC-32. */
void sl_report_write(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state, FILE *out);

/* The members of run.json, without those of the parts of a joined run, and without its batches. */
void sl_report_members(struct sl_json *j, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state);

/* The member "machine" of run.json: what computes, with how many threads and slots. */
void sl_report_machine(struct sl_json *j, const struct sl_plan *plan);

/* --- plan_print ------------------------------------------------------------------------------- */

/*
 * What a run would do: sizes, backends, memory and files, as text or JSON (sluice
 * plan).
 */

enum sl_status sl_plan_print(const struct sl_plan *plan, bool json, FILE *out);

/* --- report_print ----------------------------------------------------------------------------- */

/* The summary of a run as text. */

/* Prints fates, checks, times and files. */
enum sl_status sl_report_print(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, FILE *out);

/* --- report_times ----------------------------------------------------------------------------- */

/* The times of a session in run.json. */

/* The member "times"; key is its name. */
void sl_report_times(struct sl_json *j, const char *key, const struct sl_workspace *w,
	const struct sl_session *s);

/*
 * The member "rounds": sums over the batches of the session. They show how many places of ended
 * particles compaction saved, and what it cost. Missing with the schedule histories.
 */
void sl_report_rounds(struct sl_json *j, const struct sl_rounds *all);

#endif
