/*
 * runs_to_tallies.c - see convert.h.
 *
 * The counts of all batches of all runs are added in the order of the runs, as the batches of one
 * run are. The mean of a bin is per particle of all runs, and its standard error is over all
 * batches.
 */
#include "pipeline/convert/convert.h"

#include "pipeline/report/tallies/tallies.h"
#include "pipeline/run/run.h"
#include "primitives/device/device.h"

/* Refuses what has no histograms, or histograms that cannot be added. */
static enum sl_status check(const struct sl_conversion *c)
{
	const struct sl_runs *runs = &c->runs;
	const struct sl_convert_job *job = c->job;

	if (job->n_sets > 0)
		return sl_fail(SL_USAGE,
			"--set %s: has no effect (histograms are added as they are); remove it",
			job->set[0]);
	for (size_t i = 0; i < job->n; i++)
		if (!c->operand[i].is_run)
			return sl_fail(SL_USAGE,
				"%s: is a file, but histograms are those of whole runs; name the "
				"directory of a run",
				c->operand[i].path);
	if (!runs->known || (runs->n > 1 && !runs->merged))
		return sl_fail(SL_USAGE,
			"--to %s: the inputs are not runs of one simulation (model, keep and tallies "
			"must be equal), so their histograms cannot be added; convert them one by one",
			job->to);
	return SL_OK;
}

/* Adds the histograms of each run to the sums of the workspace. */
static enum sl_status add_runs(struct sl_conversion *c, struct sl_workspace *w)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
		const struct sl_input_run *run = &c->runs.at[i];

		SL_TRY(sl_convert_check_stop(c));
		SL_TRY(sl_dir_open(run->folder, false, &dir));
		SL_TRY(sl_add_context(
			sl_tally_sums_add(&w->plan->recipe, &dir, &run->manifest, &w->tallies),
			"%s", run->folder));
		c->particles += run->generated;
		c->files += run->manifest.n;
	}
	return SL_OK;
}

static enum sl_status write_sums(struct sl_conversion *c)
{
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;
	SL_CLOSED_BY(sl_host_give) void *image = NULL;
	size_t bytes;

	SL_TRY(sl_workspace_open(c->plan, &w));
	SL_TRY(add_runs(c, w));
	SL_TRY(sl_tallies_file(w, c->name, &image, &bytes));
	c->bytes = bytes;
	return sl_file_commit(&c->dir, c->name, image, bytes, c->job->force);
}

enum sl_status sl_runs_to_tallies(struct sl_conversion *c)
{
	SL_TRY(check(c));
	SL_TRY(sl_existing_run_plan(&c->runs.at[0].existing, NULL, 0, &c->plan));
	if (sl_counter_words(&c->plan->recipe) == 0)
		return sl_fail(SL_USAGE,
			"%s: the run has no histograms (tallies is not set in its configuration); "
			"use another run",
			c->runs.at[0].folder);
	c->plan->facts.merged = c->runs.json;
	return write_sums(c);
}
