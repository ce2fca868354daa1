/* replay_step.c - the values of a step and the key of a survivor. */
#include "pipeline/replay/replay_step.h"

#include <string.h>

bool sl_replay_shows(const struct sl_replay_writer *t, int column)
{
	return column != SL_COLUMN_id && column != SL_COLUMN_fate &&
	       SL_HAS(sl_models[t->plan->recipe.model]->columns, column);
}

struct sl_replay_value sl_replay_value_of(const struct sl_particle *p, int column)
{
	const struct sl_column_facts *facts = &sl_column_facts[column];
	const char *at = (const char *)p + facts->in_particle;
	struct sl_replay_value told = {.is_real = facts->type == SL_TYPE_F32};
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

bool sl_replay_has_collisions(const struct sl_replay_writer *t)
{
	return SL_HAS(sl_models[t->plan->recipe.model]->columns, SL_COLUMN_collisions);
}

bool sl_replay_survives(const struct sl_replay_writer *t, const struct sl_particle *p)
{
	return SL_HAS(t->plan->recipe.keep, p->fate);
}

bool sl_replay_has_key(const struct sl_replay_writer *t, const struct sl_particle *p)
{
	return sl_replay_survives(t, p) && t->plan->recipe.n_fields > 0;
}

uint64_t sl_replay_key(const struct sl_replay_writer *t, struct sl_particle p)
{
	const struct sl_recipe *r = &t->plan->recipe;
	struct sl_columns columns = sl_columns_of(&p);

	return sl_key_pack(r->field, r->n_fields, &columns, 0, p.id);
}

int sl_replay_key_digits(const struct sl_replay_writer *t)
{
	return (int)(t->plan->recipe.key_bits + 3) / 4;
}
