/* pick.c - the ways to run a batch against the clock. */
#include "pipeline/pick.h"

#include <string.h>

#include "pipeline/report.h"
#include "pipeline/room.h"

/* Enough for a CPU's core to be what it is; a GPU is not itself with less than a batch. */
enum { PARTICLES_HOST = 1 << 16, PARTICLES_EMULATED = 1 << 10 };

/* A way, and the seconds that its stages took; 0: there is no memory for it. */
struct way {
	const char *name;
	enum sl_mode mode;
	enum sl_schedule_choice schedule;
	double seconds;
};

static struct sl_choices choices_of(const struct sl_choices *choices, const struct way *way)
{
	struct sl_choices c = *choices;

	c.mode = way->mode;
	c.schedule = way->schedule;
	return c;
}

static uint32_t particles_of(const struct sl_choices *choices, const struct sl_plan *plan)
{
	uint32_t batch = sl_room_batch(plan);
	uint32_t most = choices->device == SL_ON_CPU        ? PARTICLES_HOST
	                : choices->device == SL_ON_EMULATED ? PARTICLES_EMULATED
	                                                    : batch;

	return batch < most ? batch : most;
}

/* Twice, and the second counts. */
static enum sl_status time_plan(struct sl_plan *plan, struct sl_control *control, double *seconds)
{
	const struct sl_manifest none = {0};
	struct sl_session session;

	for (int i = 0; i < 2; i++) {
		SL_TRY(sl_run(plan, NULL, &none, control, &session));
		if (atomic_load(&control->stop))
			return sl_fail(SL_STOPPED,
				"stopped (asked by a signal) while the schedule was measured");
	}
	*seconds = sl_computing_seconds(&session);
	return SL_OK;
}

static enum sl_status time_way(const struct sl_config *config, const struct sl_choices *choices,
	uint32_t particles, struct sl_control *control, struct way *way)
{
	struct sl_choices mine = choices_of(choices, way);
	struct sl_config first = *config;
	struct sl_plan *plan = NULL;
	enum sl_status s;

	first.run.threads = first.run.slots = mine.n_batches = 1;
	first.run.particles = first.run.batch = mine.batch = particles;
	mine.goal.below = 0;
	s = sl_plan_make(&first, &mine, &plan);
	if (s == SL_OK)
		s = sl_room_refuse(plan);
	if (s == SL_OK)
		s = sl_plan_provide(plan);
	if (s == SL_OK)
		s = time_plan(plan, control, &way->seconds);
	sl_plan_free(plan);
	return s == SL_HOST_MEMORY || s == SL_DEVICE_MEMORY ? SL_OK : s;
}

/* Tells who won, and against what. */
static void tell(const struct way *way, int n, int best, uint32_t particles, struct sl_plan *plan)
{
	char *text = plan->schedule_story;
	size_t size = sizeof(plan->schedule_story);
	int used = snprintf(text, size, "auto, by %u particles:", particles);

	for (int i = 0; i < n; i++)
		if (way[i].seconds > 0)
			used += snprintf(text + used, size - (size_t)used, "%s %s %.3g ms",
				i ? "," : "", way[i].name, 1e3 * way[i].seconds);
	snprintf(text + used, size - (size_t)used, "; %s it is", way[best].name);
}

enum sl_status sl_pick_schedule(const struct sl_config *config, const struct sl_choices *choices,
	struct sl_control *control, struct sl_plan **plan)
{
	struct way way[3] = {{"histories", choices->mode, SL_BY_HISTORY, 0},
		{"rounds", SL_MODE_staged, SL_BY_ROUNDS, 0},
		{"histories staged", SL_MODE_staged, SL_BY_HISTORY, 0}};
	/* fused, the stages are another way to follow histories, unless it was asked for */
	int n = choices->mode == SL_MODE_fused ? 3 : 2, best = 0;
	struct sl_control quiet = {.discard = true};
	struct sl_choices picked;
	uint32_t particles;

	if (!(*plan)->schedule_is_ours)
		return SL_OK;
	particles = particles_of(choices, *plan);
	for (int i = 0; i < n; i++) {
		atomic_store(&quiet.stop, atomic_load(&control->stop));
		SL_TRY(time_way(config, choices, particles, &quiet, &way[i]));
		if (way[i].seconds > 0 &&
			(way[best].seconds <= 0 || way[i].seconds < way[best].seconds))
			best = i;
	}
	picked = choices_of(choices, &way[best]);
	sl_plan_free(*plan);
	SL_TRY(sl_plan_make(config, &picked, plan));
	(*plan)->schedule_is_ours = true;
	tell(way, n, best, particles, *plan);
	return SL_OK;
}
