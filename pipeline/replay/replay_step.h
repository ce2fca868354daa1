/* replay_step.h - the values of a history that the text and JSON outputs print. */
#ifndef SL_PIPELINE_REPLAY_REPLAY_STEP_H
#define SL_PIPELINE_REPLAY_REPLAY_STEP_H

#include "pipeline/plan/plan.h"

struct sl_replay_writer {
	const struct sl_plan *plan;
	const char *config; /* the name of its file */
	uint64_t id;
	FILE *out;
};

/* Is the column printed per step? All of the model are, except id (constant) and fate (last). */
bool sl_replay_shows(const struct sl_replay_writer *t, int column);

struct sl_replay_value {
	bool is_real;
	float real;
	int64_t count; /* of a column that is not real */
};
struct sl_replay_value sl_replay_value_of(const struct sl_particle *p, int column);

/* Does the model count collisions? */
bool sl_replay_has_collisions(const struct sl_replay_writer *t);

bool sl_replay_survives(const struct sl_replay_writer *t, const struct sl_particle *p);

/* Does the particle have a sort key? Only survivors do. Then: its value, and its hexadecimal digits. */
bool sl_replay_has_key(const struct sl_replay_writer *t, const struct sl_particle *p);
uint64_t sl_replay_key(const struct sl_replay_writer *t, struct sl_particle p);
int sl_replay_key_digits(const struct sl_replay_writer *t);

#endif
