/*
 * replay.c - checks the id and prints the history of that particle as text or JSON.
 *
 * A particle depends on (seed, id) only, so one particle is computed alone on the CPU, by the same
 * rules of the model as in a run. The cost is that of one history, whatever the size of the run.
 */
#include "pipeline/replay/replay.h"
#include "pipeline/replay/replay_json.h"
#include "pipeline/replay/replay_text.h"

#include <string.h>

#include "pipeline/plan/input_files.h"
#include "pipeline/replay/replay_step.h"

void sl_replay_use_cpu(struct sl_config *c)
{
	static const char automatic[] = "auto";

	snprintf(c->run.device, sizeof(c->run.device), "cpu");
	c->run.mode = 0;
	memcpy(c->primitives.scan, automatic, sizeof(automatic));
	memcpy(c->primitives.compact, automatic, sizeof(automatic));
	memcpy(c->primitives.sort, automatic, sizeof(automatic));
}

enum sl_status sl_replay(
	struct sl_plan *plan, const char *config, uint64_t id, bool json, FILE *out)
{
	const struct sl_replay_writer t = {.plan = plan, .config = config, .id = id, .out = out};
	unsigned long long particles = plan->recipe.particles;
	struct sl_particle read;

	if (particles == 0)
		return sl_fail(SL_USAGE,
			"--id %llu: the run has no particles, because its lists are empty; use "
			"lists with particles",
			(unsigned long long)id);
	if (id >= particles)
		return sl_fail(SL_USAGE,
			"--id %llu: the run has no such particle (the run has %llu, from 0 to "
			"%llu); use an id in this range",
			(unsigned long long)id, particles, particles - 1);
	/* The model list reads its particles: find the input file of this one and read it there. */
	if (plan->recipe.inputs) {
		struct sl_columns columns = sl_columns_of(&read);

		SL_TRY(sl_inputs_particle(&plan->recipe, id, &read));
		sl_inputs_set_columns(&plan->recipe, id, &columns);
	}
	if (json)
		sl_replay_write_json(&t);
	else
		sl_replay_write_text(&t);
	return SL_OK;
}
