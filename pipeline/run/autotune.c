/*
 * autotune.c - times each candidate schedule and keeps the fastest.
 *
 * A trial computes particles from the start of the run and discards the results. It must be long
 * enough to measure, but short compared with the run: plan/candidates.c has the limit for schedule
 * auto.
 */
#include "pipeline/run/run.h"

#include <stdio.h>

#include "pipeline/plan/plan.h"

/*
 * Particles of a trial, at most. A core reaches its full speed with PARTICLES_HOST; a GPU needs a
 * whole batch. The emulated device is slow, and its times mean little.
 */
enum { PARTICLES_HOST = 1 << 16, PARTICLES_EMULATED = 1 << 10 };

/* Particles of the run before each trial, which loads kernels and touches the memory. */
enum { WARM_UP = 1 << 16 };

/* The particles of a trial; 0: so few are left to compute that trials do not pay. */
static uint32_t trial_particles(const struct sl_plan *plan, const struct sl_manifest *done)
{
	uint32_t most = sl_memory_plan_batch(plan), host = PARTICLES_HOST;
	uint64_t left = sl_plan_batches(plan).particles;

	for (size_t i = 0; i < done->n; i++)
		left -= done->line[i].generated;
	if (plan->choices.schedule == SL_BY_AUTO)
		left = sl_candidates_trial(left);
	if (plan->on_device && sl_device_is_emulated())
		host = PARTICLES_EMULATED;
	if (!plan->on_device || sl_device_is_emulated())
		most = most < host ? most : host;
	return left < most ? (uint32_t)left : most;
}

/*
 * Sets *seconds to the time of the schedule in use, after a short run that warms up. Sets 0 and
 * returns SL_OK if control->stop ended the trial: sl_run() then states how the run ended.
 */
static enum sl_status time_schedule(
	struct sl_workspace *w, uint32_t particles, struct sl_control *control, double *seconds)
{
	const uint32_t runs[] = {particles < WARM_UP ? particles : WARM_UP, particles};
	struct sl_session session;

	*seconds = 0;
	for (int i = 0; i < 2; i++) {
		enum sl_status s = sl_run_trial(w, runs[i], control, &session);

		if (s != SL_OK || atomic_load(&control->stop))
			return s == SL_STOPPED ? SL_OK : s;
	}
	*seconds = sl_session_computing_seconds(&session);
	return SL_OK;
}

/* Writes the times of all candidates and the choice to w->schedule_reason. */
static void give_reason(struct sl_workspace *w, uint32_t best, uint32_t particles)
{
	const struct sl_plan *plan = w->plan;
	char *text = w->schedule_reason;
	size_t size = sizeof(w->schedule_reason);

	snprintf(text, size, "%s, with %u particles:",
		plan->choices.schedule == SL_BY_AUTO ? "auto" : "measured", particles);
	for (uint32_t i = 0; i < plan->n_candidates; i++)
		sl_append(text, size, "%s %s %.3g ms", i ? "," : "", plan->candidate[i].name,
			1e3 * w->seconds[i]);
	sl_append(text, size, "; %s is the fastest", plan->candidate[best].name);
}

enum sl_status sl_autotune_schedule(
	struct sl_workspace *w, const struct sl_manifest *done, struct sl_control *control)
{
	const struct sl_plan *plan = w->plan;
	uint32_t best = 0, particles = trial_particles(plan, done), i;

	if (plan->n_candidates < 2 || particles == 0)
		return SL_OK;
	for (i = 0; i < plan->n_candidates && !atomic_load(&control->stop); i++) {
		SL_TRY(sl_workspace_use(w, &plan->candidate[i]));
		SL_TRY(sl_add_context(time_schedule(w, particles, control, &w->seconds[i]),
			"measuring the schedule %s", plan->candidate[i].name));
		if (w->seconds[i] < w->seconds[best])
			best = i;
	}
	if (atomic_load(&control->stop))
		best = 0; /* histories: not all were measured, and the run ends now */
	else
		give_reason(w, best, particles);
	return sl_workspace_use(w, &plan->candidate[best]);
}
