/*
 * replay_step.c - the values of a step and the key of a survivor.
 *
 * The columns and the key are those of the files of the run, so that a row of a file can be compared
 * with the last step of a history.
 */
#include "pipeline/replay/replay_step.h"

#include <stdio.h>

bool sl_replay_shows(const struct sl_replay_writer *t, int column)
{
	return column != SL_COLUMN_id && column != SL_COLUMN_fate &&
	       SL_HAS(sl_models[t->plan->recipe.model]->columns, column);
}

double sl_replay_value(const struct sl_particle *p, int column)
{
	return sl_column_value(
		(enum sl_column)column, (const char *)p + sl_column_facts[column].in_particle);
}

const char *sl_replay_key(
	const struct sl_replay_writer *t, struct sl_particle p, char text[SL_REPLAY_KEY_BYTES])
{
	const struct sl_recipe *r = &t->plan->recipe;
	struct sl_columns columns = sl_columns_of(&p);
	int digits = (int)(r->key_bits + 3) / 4;

	text[0] = '\0';
	if (r->n_fields > 0 && SL_HAS(r->keep, p.fate))
		snprintf(text, SL_REPLAY_KEY_BYTES, "%0*llx", digits,
			(unsigned long long)sl_key_pack(r->field, r->n_fields, &columns, 0, p.id));
	return text;
}
