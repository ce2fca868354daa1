/* replay_step.h - what the ways to tell a history share. A part of replay.h with a file of its own. */
#ifndef SL_PIPELINE_INSPECT_REPLAY_STEP_H
#define SL_PIPELINE_INSPECT_REPLAY_STEP_H

#include "pipeline/plan/plan.h"

struct sl_replay_writer {
	const struct sl_plan *plan;
	const char *config; /* the name of its file */
	uint64_t id;
	FILE *out;
};

/* The columns told of each step: those of the model but id, which stays, and fate, told last. */
bool sl_replay_shows(const struct sl_replay_writer *t, int column);

struct sl_replay_step {
	bool is_real;
	float real;
	int64_t count; /* of a column that is not real */
};
struct sl_replay_step sl_replay_step_of(const struct sl_particle *p, int column);

/* Are collisions counted by the model? */
bool sl_replay_has_collisions(const struct sl_replay_writer *t);

bool sl_replay_survives(const struct sl_replay_writer *t, const struct sl_particle *p);

/* Survivors are sorted where there is a key. Its value has so many digits in hexadecimal. */
bool sl_replay_has_key(const struct sl_replay_writer *t, const struct sl_particle *p);
uint64_t sl_replay_key(const struct sl_replay_writer *t, struct sl_particle p);
int sl_replay_key_digits(const struct sl_replay_writer *t);

#endif
