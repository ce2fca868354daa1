/*
 * replay_step.h - what the text and JSON outputs of a history share.
 *
 * replay.c makes a struct sl_replay_writer and calls one of the two writers. Each writer computes the
 * particle itself and prints a step as soon as it is computed, so a history needs no memory.
 */
#ifndef SL_PIPELINE_REPLAY_REPLAY_STEP_H
#define SL_PIPELINE_REPLAY_REPLAY_STEP_H

#include "pipeline/plan/plan.h"

/* What to print and where. */
struct sl_replay_writer {
	const struct sl_plan *plan;
	const char *config; /* the file name of the configuration */
	uint64_t id;
	FILE *out;
};

/* Is the column printed per step? All of the model are, except id (constant) and fate (at the end). */
bool sl_replay_shows(const struct sl_replay_writer *t, int column);

/* The exact value of a column that is printed: only ids can exceed 2^53. */
double sl_replay_value(const struct sl_particle *p, int column);

/*
 * Writes the packed sort key in hexadecimal, with as many digits as the bits of the key need. Returns
 * text; "" if the particle does not survive or the run has no key.
 */
enum { SL_REPLAY_KEY_BYTES = 17 };
const char *sl_replay_key(
	const struct sl_replay_writer *t, struct sl_particle p, char text[SL_REPLAY_KEY_BYTES]);

#endif
