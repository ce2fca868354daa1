/*
 * mode.c - chooses the schedule, and staged or fused mode; refuses keys that these ignore.
 */
#include "pipeline/resolve/execution/execution.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "stages/fused/fused.h"

/* --- schedule --------------------------------------------------------------------------------- */

const struct sl_schedule sl_rounds[SL_ROUNDS_CHOICES] = {
	{.steps = 16, .finish = 0.01}, {.steps = 4, .finish = 0.3}};

void sl_resolve_schedule(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	choices->schedule = (enum sl_schedule_choice)c->transport.schedule;
	choices->rounds = sl_rounds[0];
	if (choices->model->steps)
		return;
	sl_config_refuse_unused(
		r, "transport.schedule", sl_model_why_no_steps(choices->model), "remove it");
	choices->schedule = SL_BY_HISTORY;
	if (!choices->model->resampling)
		return;
	choices->schedule = SL_BY_ROUNDS;
	choices->rounds = (struct sl_schedule){.steps = 1};
}

const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES])
{
	if (s->steps == 0)
		return "histories: each particle to its end";
	snprintf(text, SL_SCHEDULE_BYTES, "rounds of %u steps, finish alive < %g", s->steps,
		s->finish);
	return text;
}

/* --- mode ------------------------------------------------------------------------------------- */

enum { WHY_BYTES = 400 };

/* Does the configuration name a backend, instead of auto? */
static bool is_named(const char *backend)
{
	return strcmp(backend, "auto") != 0;
}

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

bool sl_mode_allows_fused(const struct sl_choices *c)
{
	return !has_scores(c) && !c->model->resampling && sl_fused_fits(c->model, &c->derivation);
}

/*
 * auto: fused on a device, because it is faster. A configuration that names a backend of compact or
 * scan, which fused mode does not use, gets staged mode.
 */
static void choose(const struct sl_config *c, struct sl_choices *choices)
{
	if (choices->device == SL_ON_CPU)
		return;
	if (choices->model && choices->model->resampling)
		choices->mode_reason = "fused mode does not resample filters";
	else if (choices->schedule == SL_BY_ROUNDS)
		choices->mode_reason = "transport.schedule is rounds; fused mode does not use it";
	else if (is_named(c->primitives.compact))
		choices->mode_reason = "primitives.compact is named; fused mode does not use it";
	else if (is_named(c->primitives.scan))
		choices->mode_reason = "primitives.scan is named; fused mode does not use it";
	else if (has_scores(choices))
		choices->mode_reason = "fused mode has no scores along histories";
	else if (choices->model && !sl_fused_fits(choices->model, &choices->derivation))
		choices->mode_reason = "fused mode has no room for so many columns";
	else
		choices->mode = SL_MODE_fused;
}

/*
 * Refuses what fused mode cannot do or ignores. run.mode: auto does not choose fused mode with such
 * backends, so the refusals concern run.mode: fused only.
 */
static void check_fused(
	const struct sl_config *c, struct sl_reader *r, const struct sl_choices *choices)
{
	const struct sl_backend *sort = choices->n_fields > 0 ? choices->sort.backend : NULL;
	static const char advice[] = "remove it, or use run.mode: staged";
	char why[WHY_BYTES];

	if (choices->device == SL_ON_CPU) {
		sl_config_add_problem(r, "run.mode",
			"fused needs a device, but %s; use auto, staged or run.device: emulated",
			sl_device_text(choices, why, sizeof(why)));
		return;
	}
	if (choices->model && choices->model->resampling) {
		sl_config_add_problem(
			r, "run.mode", "fused does not resample filters; use auto or staged");
		return;
	}
	if (has_scores(choices))
		sl_config_add_problem(r, "run.mode",
			"fused has no scores along histories, which tallies asks for; use auto or staged");
	if (choices->model && !sl_fused_fits(choices->model, &choices->derivation))
		sl_config_add_problem(r, "run.mode",
			"fused has room for %d columns, and model %s with %d derived columns has "
			"more; use auto or staged, or derive fewer columns",
			SL_FUSED_COLUMNS_MAX, choices->model->name,
			__builtin_popcountll(choices->derivation.stores));
	if (c->run.mode != 0 && choices->schedule != SL_BY_HISTORY)
		sl_config_refuse_unused(r, "transport.schedule",
			"run.mode: fused computes histories", "remove it, or use run.mode: auto");
	sl_config_refuse_unused(r, "primitives.compact",
		"run.mode: fused compacts in the kernel that generates particles", advice);
	if (!sort || !sort->uses_scan)
		sl_config_refuse_unused(r, "primitives.scan",
			"run.mode: fused uses a scan only in sort backends built on one", advice);
}

/*
 * auto measures on a GPU, where a warp runs as long as its longest history. On other devices rounds
 * cannot be faster, so auto means histories.
 */
static void settle_schedule(const struct sl_config *c, struct sl_choices *choices)
{
	bool is_open = choices->device == SL_ON_CUDA && c->run.mode != SL_MODE_fused + 1;

	if (choices->schedule == SL_BY_AUTO && !is_open)
		choices->schedule = SL_BY_HISTORY;
}

void sl_resolve_mode(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	choices->mode = SL_MODE_staged;
	choices->mode_reason = "";
	if (choices->device == SL_ON_AUTO || sl_config_has_problem(r, "run.mode"))
		return;
	settle_schedule(c, choices);
	if (c->run.mode == 0)
		choose(c, choices);
	else
		choices->mode = (enum sl_mode)(c->run.mode - 1);
	if (choices->mode == SL_MODE_fused)
		check_fused(c, r, choices);
}
