/* replay_json.h - a history as JSON. */
#ifndef SL_PIPELINE_REPLAY_REPLAY_JSON_H
#define SL_PIPELINE_REPLAY_REPLAY_JSON_H

#include "pipeline/replay/replay_step.h"

/* Recomputes the particle and prints each step as soon as it is computed. */
void sl_replay_write_json(const struct sl_replay_writer *t);

#endif
