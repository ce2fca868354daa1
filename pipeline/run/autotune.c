/* pick.c - the ways to run a batch against the clock. */
#include "pipeline/run/autotune.h"

#include <string.h>

#include "pipeline/output/report.h"
#include "pipeline/plan/memory.h"

/* Enough for a CPU's core to be what it is; a GPU is not itself with less than a batch. */
enum { PARTICLES_HOST = 1 << 16, PARTICLES_EMULATED = 1 << 10 };

/*
 * auto: a try is a sixteenth of what is left at most, so that four ways take about a quarter of
 * what the run does; fewer particles than the least do not fill a GPU.
 */
enum { AUTO_SHARE = 16, AUTO_LEAST = 1 << 16 };

/* What a way is run with before its try: kernels are loaded then. */
enum { WARM_UP = 1 << 16 };

/* The particles of a try of auto, of so many left; 0: there are too few. */
static uint64_t share_of(uint64_t left)
{
	return left / AUTO_SHARE < AUTO_LEAST ? 0 : left / AUTO_SHARE;
}

/* --- candidates ------------------------------------------------------------------------------- */

/* schedule is NULL for histories; staged ones are the second of their kind. */
static void add(struct sl_plan *plan, enum sl_mode mode, const struct sl_choice *compact,
	const struct sl_schedule *schedule)
{
	struct sl_candidate *to = &plan->candidate[plan->n_candidates++];

	memset(to, 0, sizeof(*to));
	to->mode = mode;
	if (mode == SL_MODE_staged)
		to->compact = *compact;
	if (schedule) {
		to->schedule = *schedule;
		snprintf(to->name, sizeof(to->name), "rounds of %u", schedule->steps);
	} else {
		snprintf(to->name, sizeof(to->name),
			plan->n_candidates > 1 ? "histories staged" : "histories");
	}
}

/*
 * Two that were best on an H200, each at an end (bench/NOTES.md): where most live on for long, and
 * where few are left soon.
 */
static void add_rounds(struct sl_plan *plan, const struct sl_choices *c)
{
	const struct sl_when every = {.kind = SL_EVERY, .every = 1};
	const struct sl_schedule usual[] = {{.steps = 16, .compact = every, .finish = 0.01},
		{.steps = 4, .compact = every, .finish = 0.3}};

	if (c->rounds_named)
		add(plan, SL_MODE_staged, &c->compact, &c->rounds);
	for (int i = 0; i < 2 && !c->rounds_named; i++)
		add(plan, SL_MODE_staged, &c->compact, &usual[i]);
}

void sl_autotune_among(struct sl_plan *plan, const struct sl_choices *c)
{
	plan->n_candidates = 0;
	if (c->schedule != SL_BY_MEASURE &&
		(c->schedule != SL_BY_AUTO || share_of(plan->recipe.particles) == 0))
		return;
	add(plan, c->mode, &c->compact, NULL);
	/* fused, the stages are another way to follow histories */
	if (c->mode == SL_MODE_fused)
		add(plan, SL_MODE_staged, &c->compact, NULL);
	add_rounds(plan, c);
}

void sl_autotune_take(struct sl_recipe *r, const struct sl_candidate *way)
{
	r->mode = way->mode;
	r->schedule = way->schedule;
	r->compact = way->compact;
}

const struct sl_choice *sl_autotune_compact(const struct sl_plan *plan)
{
	uint32_t n = plan->n_candidates;

	/* rounds are the last, and staged */
	return n > 0 ? &plan->candidate[n - 1].compact : &plan->recipe.compact;
}

/* --- the clock -------------------------------------------------------------------------------- */

/* Of a try; 0: there are too few. */
static uint32_t particles_of(const struct sl_plan *plan, const struct sl_manifest *done)
{
	const struct sl_recipe *r = &plan->recipe;
	uint32_t most = sl_memory_plan_batch(plan), host = PARTICLES_HOST;
	uint64_t left = r->particles;

	for (size_t i = 0; i < done->n; i++)
		left -= done->line[i].generated;
	if (plan->schedule == SL_BY_AUTO)
		left = share_of(left);
	if (plan->on_device && sl_device_is_emulated())
		host = PARTICLES_EMULATED;
	if (!plan->on_device || sl_device_is_emulated())
		most = most < host ? most : host;
	return left < most ? (uint32_t)left : most;
}

/* Behind a short one that warms up; 0 seconds: it was told to stop before. */
static enum sl_status time_plan(
	struct sl_plan *plan, uint32_t particles, struct sl_control *control, double *seconds)
{
	const uint32_t runs[] = {particles < WARM_UP ? particles : WARM_UP, particles};
	const struct sl_manifest none = {0};
	struct sl_session session;

	*seconds = 0;
	for (int i = 0; i < 2; i++) {
		plan->recipe.particles = runs[i];
		enum sl_status s = sl_run(plan, NULL, &none, control, &session);

		if (s != SL_OK)
			return s == SL_STOPPED ? SL_OK : s;
	}
	*seconds = sl_computing_seconds(&session);
	return SL_OK;
}

/* The first particles, by way i, as a run of one batch. */
static enum sl_status time_way(
	struct sl_plan *plan, uint32_t i, uint32_t particles, struct sl_control *control)
{
	const uint64_t all = plan->recipe.particles, batches = plan->recipe.n_batches;
	const double below = plan->stop_rule.below;
	enum sl_status s;

	SL_TRY(sl_memory_plan_change(plan, &plan->candidate[i]));
	plan->recipe.n_batches = 1;
	plan->stop_rule.below = 0;
	control->discard = true;
	s = time_plan(plan, particles, control, &plan->candidate[i].seconds);
	control->discard = false;
	plan->stop_rule.below = below;
	plan->recipe.n_batches = batches;
	plan->recipe.particles = all;
	return sl_add_context(s, "measuring %s", plan->candidate[i].name);
}

/* Tells who won, and against what. */
static void tell(struct sl_plan *plan, uint32_t best, uint32_t particles)
{
	char *text = plan->schedule_reason;
	size_t size = sizeof(plan->schedule_reason);
	int used = snprintf(text, size,
		"%s, by %u particles:", plan->schedule == SL_BY_AUTO ? "auto" : "measured",
		particles);

	for (uint32_t i = 0; i < plan->n_candidates; i++)
		used += snprintf(text + used, size - (size_t)used, "%s %s %.3g ms", i ? "," : "",
			plan->candidate[i].name, 1e3 * plan->candidate[i].seconds);
	snprintf(text + used, size - (size_t)used, "; %s it is", plan->candidate[best].name);
}

enum sl_status sl_autotune_schedule(
	struct sl_plan *plan, const struct sl_manifest *done, struct sl_control *control)
{
	uint32_t best = 0, particles = particles_of(plan, done), i;

	if (plan->n_candidates < 2 || particles == 0)
		return SL_OK;
	for (i = 0; i < plan->n_candidates && !atomic_load(&control->stop); i++) {
		SL_TRY(time_way(plan, i, particles, control));
		if (plan->candidate[i].seconds < plan->candidate[best].seconds)
			best = i;
	}
	if (atomic_load(&control->stop))
		return SL_OK;
	tell(plan, best, particles);
	return sl_memory_plan_change(plan, &plan->candidate[best]);
}
