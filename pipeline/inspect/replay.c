/* replay.c - which particle, and what of it there is to tell. */
#include "pipeline/inspect/replay.h"

#include <string.h>

#include "pipeline/plan/input_files.h"
#include "pipeline/inspect/replay_step.h"

bool sl_is_told(const struct sl_replay_writer *t, int column)
{
	return column != SL_COLUMN_id && column != SL_COLUMN_fate &&
	       SL_HAS(sl_models[t->plan->recipe.model]->columns, column);
}

struct sl_replay_step sl_replay_step_of(const struct sl_particle *p, int column)
{
	const struct sl_column_facts *facts = &sl_column_facts[column];
	const char *at = (const char *)p + facts->in_particle;
	struct sl_replay_step told = {.is_real = facts->type == SL_TYPE_F32};
	uint32_t narrow;

	switch (facts->type) {
	case SL_TYPE_F32:
		memcpy(&told.real, at, sizeof(told.real));
		break;
	case SL_TYPE_U32:
		memcpy(&narrow, at, sizeof(narrow));
		told.count = narrow;
		break;
	case SL_TYPE_U64:
		memcpy(&told.count, at, sizeof(told.count));
		break;
	case SL_TYPE_I32:
		memcpy(&narrow, at, sizeof(narrow));
		told.count = (int32_t)narrow;
		break;
	case SL_TYPE_U8:
		told.count = *(const uint8_t *)at;
		break;
	}
	return told;
}

bool sl_has_collisions(const struct sl_replay_writer *t)
{
	return SL_HAS(sl_models[t->plan->recipe.model]->columns, SL_COLUMN_collisions);
}

bool sl_survives(const struct sl_replay_writer *t, const struct sl_particle *p)
{
	return SL_HAS(t->plan->recipe.keep, p->fate);
}

bool sl_has_key(const struct sl_replay_writer *t, const struct sl_particle *p)
{
	return sl_survives(t, p) && t->plan->recipe.n_fields > 0;
}

uint64_t sl_key_of(const struct sl_replay_writer *t, struct sl_particle p)
{
	const struct sl_recipe *r = &t->plan->recipe;
	struct sl_columns columns = sl_columns_of(&p);

	return sl_key_pack(r->field, r->n_fields, &columns, 0, p.id);
}

int sl_key_digits(const struct sl_replay_writer *t)
{
	return (int)(t->plan->recipe.key_bits + 3) / 4;
}

void sl_replay_settle(struct sl_config *c)
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

	if (id >= particles)
		return sl_fail(SL_USAGE,
			"--id %llu: there is no such particle (the run has %llu, from 0 to %llu), "
			"try one of those",
			(unsigned long long)id, particles, particles - 1);
	if (plan->recipe.inputs) {
		struct sl_columns columns = sl_columns_of(&read);

		SL_TRY(sl_inputs_particle(&plan->recipe, id, &read));
		sl_inputs_settle(&plan->recipe, id, &columns);
	}
	if (json)
		return sl_tell_json(&t);
	sl_tell_text(&t);
	return SL_OK;
}
