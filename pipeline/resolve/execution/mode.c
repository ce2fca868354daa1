/*
 * mode.c - chooses the schedule, and staged or fused mode; refuses keys that these ignore.
 */
#include "pipeline/resolve/execution/execution.h"

#include <stdio.h>
#include <string.h>

#include "stages/fused/fused.h"

/* --- schedule --------------------------------------------------------------------------------- */

/*
 * Does a tally count along the histories? In fused mode a thread would follow each history to its
 * end with the registers of the scores, which was slower than staged mode.
 */
static bool has_scores(const struct sl_choices *choices)
{
	for (uint32_t k = 0; k < choices->n_grids; k++)
		if (choices->grid[k].score != SL_SCORE_ENDS)
			return true;
	return false;
}

/*
 * With scores, a lane whose particle has taken the steps of a round takes the next particle
 * (score.cu), so that longer rounds leave few lanes idle.
 */
void sl_resolve_schedule(struct sl_resolver *v)
{
	v->to->schedule = (enum sl_schedule_choice)v->c->transport.schedule;
	v->to->rounds[0] =
		(struct sl_schedule){.steps = has_scores(v->to) ? 64 : 16, .finish = 0.01};
	v->to->rounds[1] = (struct sl_schedule){.steps = 4, .finish = 0.3};
	if (v->to->model->steps)
		return;
	sl_config_refuse_unused(
		v->r, "transport.schedule", sl_model_why_no_steps(v->to->model), "remove it");
	v->to->schedule = SL_BY_HISTORY;
	if (!v->to->model->resampling)
		return;
	v->to->schedule = SL_BY_ROUNDS;
	v->to->rounds[0] = (struct sl_schedule){.steps = 1};
}

const char *sl_schedule_text(const struct sl_schedule *s)
{
	if (s->steps == 0)
		return "histories: each particle to its end";
	return sl_said("rounds of %u steps, finish alive < %g", s->steps, s->finish);
}

/* --- mode ------------------------------------------------------------------------------------- */

bool sl_mode_allows_fused(const struct sl_choices *c)
{
	return !has_scores(c) && !c->model->resampling && sl_fused_fits(c->model, &c->derivation);
}

/*
 * auto: fused on a device, because it is faster. A configuration that names a backend of compact or
 * scan, which fused mode does not use, gets staged mode.
 */
static void choose(struct sl_resolver *v)
{
	if (v->to->device == SL_ON_CPU)
		return;
	if (v->to->model && v->to->model->resampling)
		v->to->mode_reason = "fused mode does not resample filters";
	else if (v->to->schedule == SL_BY_ROUNDS)
		v->to->mode_reason = "transport.schedule is rounds; fused mode does not use it";
	else if (strcmp(v->c->primitives.compact, "auto") != 0)
		v->to->mode_reason = "primitives.compact is named; fused mode does not use it";
	else if (strcmp(v->c->primitives.scan, "auto") != 0)
		v->to->mode_reason = "primitives.scan is named; fused mode does not use it";
	else if (has_scores(v->to))
		v->to->mode_reason = "fused mode has no scores along histories";
	else if (v->to->model && !sl_fused_fits(v->to->model, &v->to->derivation))
		v->to->mode_reason = "fused mode has no room for so many columns";
	else
		v->to->mode = SL_MODE_fused;
}

/*
 * Refuses what fused mode cannot do or ignores. run.mode: auto does not choose fused mode with such
 * backends, so the refusals concern run.mode: fused only.
 */
static void check_fused(struct sl_resolver *v)
{
	const struct sl_backend *sort = v->to->n_fields > 0 ? v->to->sort.backend : NULL;
	static const char advice[] = "remove it, or use run.mode: staged";

	/* a second problem of a key is dropped */
	if (v->to->device == SL_ON_CPU)
		sl_config_add_problem(v->r, "run.mode",
			"fused needs a device, but %s; use auto, staged or run.device: emulated",
			sl_device_text(v->to));
	if (v->to->model && v->to->model->resampling)
		sl_config_add_problem(
			v->r, "run.mode", "fused does not resample filters; use auto or staged");
	if (sl_config_has_problem(v->r, "run.mode"))
		return;
	if (has_scores(v->to))
		sl_config_add_problem(v->r, "run.mode",
			"fused has no scores along histories, which tallies asks for; use auto or staged");
	if (v->to->model && !sl_fused_fits(v->to->model, &v->to->derivation))
		sl_config_add_problem(v->r, "run.mode",
			"fused has room for %d columns, and model %s with %d derived columns has "
			"more; use auto or staged, or derive fewer columns",
			SL_FUSED_COLUMNS_MAX, v->to->model->name,
			__builtin_popcountll(v->to->derivation.stores));
	if (v->c->run.mode != 0 && v->to->schedule != SL_BY_HISTORY)
		sl_config_refuse_unused(v->r, "transport.schedule",
			"run.mode: fused computes histories", "remove it, or use run.mode: auto");
	sl_config_refuse_unused(v->r, "primitives.compact",
		"run.mode: fused compacts in the kernel that generates particles", advice);
	if (!sort || !sort->uses_scan)
		sl_config_refuse_unused(v->r, "primitives.scan",
			"run.mode: fused uses a scan only in sort backends built on one", advice);
}

/*
 * A schedule of auto measures on a GPU, where a warp runs as long as its longest history. On other
 * devices rounds cannot be faster, so auto means histories.
 */
void sl_resolve_mode(struct sl_resolver *v)
{
	bool is_open = v->to->device == SL_ON_CUDA && v->c->run.mode != SL_MODE_fused + 1;

	v->to->mode = SL_MODE_staged;
	v->to->mode_reason = "";
	if (v->to->device == SL_ON_AUTO || sl_config_has_problem(v->r, "run.mode"))
		return;
	if (v->to->schedule == SL_BY_AUTO && !is_open)
		v->to->schedule = SL_BY_HISTORY;
	if (v->c->run.mode == 0)
		choose(v);
	else
		v->to->mode = (enum sl_mode)(v->c->run.mode - 1);
	if (v->to->mode == SL_MODE_fused)
		check_fused(v);
}
