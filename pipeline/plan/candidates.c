/*
 * candidates.c - the schedules that a run chooses from.
 *
 * The plan only lists them. The run measures each with its first particles
 * (pipeline/run/autotune.c) and applies the fastest. Because all give the same bits, the choice
 * needs no entry in the manifest.
 */
#include "pipeline/plan/plan.h"

#include <stdio.h>

#include "pipeline/resolve/execution/execution.h"

/*
 * auto: one trial takes a sixteenth of the remaining particles at most, so that four candidates
 * take about a quarter of the time of the run. Fewer particles than AUTO_MIN do not fill a GPU.
 */
enum { AUTO_SHARE = 16, AUTO_MIN = 1 << 16 };

uint64_t sl_candidates_trial(uint64_t left)
{
	return left / AUTO_SHARE < AUTO_MIN ? 0 : left / AUTO_SHARE;
}

/* schedule is NULL for histories. A second histories candidate is always the staged one. */
static void add(struct sl_plan *plan, const struct sl_choices *c, enum sl_mode mode,
	const struct sl_schedule *schedule)
{
	struct sl_candidate *to = &plan->candidate[plan->n_candidates++];

	*to = (struct sl_candidate){.mode = mode};
	if (mode == SL_MODE_staged)
		to->compact = c->compact;
	if (schedule)
		to->schedule = *schedule;
	snprintf(to->name, sizeof(to->name), "%s",
		schedule                 ? sl_said("rounds of %u", schedule->steps)
		: plan->n_candidates > 1 ? "histories staged"
					 : "histories");
}

/*
 * schedule: measure always lists candidates. auto lists them only if a trial of the whole run is
 * large enough; otherwise the run takes histories, because the trials would cost more than they
 * save.
 */
void sl_candidates_make(struct sl_plan *plan, const struct sl_choices *c)
{
	plan->n_candidates = 0;
	if (c->schedule != SL_BY_MEASURE &&
		(c->schedule != SL_BY_AUTO || sl_candidates_trial(plan->recipe.particles) == 0))
		return;
	add(plan, c, c->mode, NULL);
	/* in fused mode the staged kernels are a second implementation of histories */
	if (c->mode == SL_MODE_fused)
		add(plan, c, SL_MODE_staged, NULL);
	for (int i = 0; i < SL_ROUNDS_CHOICES; i++)
		add(plan, c, SL_MODE_staged, &c->rounds[i]);
}

void sl_candidate_apply(struct sl_recipe *r, const struct sl_candidate *candidate)
{
	r->mode = candidate->mode;
	r->schedule = candidate->schedule;
	r->compact = candidate->compact;
}

const struct sl_choice *sl_plan_compact(const struct sl_plan *plan)
{
	uint32_t n = plan->n_candidates;

	/* the last candidate is a rounds schedule, which is always staged */
	return n > 0 ? &plan->candidate[n - 1].compact : &plan->recipe.compact;
}
