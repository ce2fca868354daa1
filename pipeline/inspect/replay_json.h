/* replay_json.h - a history as JSON. */
#ifndef SL_PIPELINE_INSPECT_REPLAY_JSON_H
#define SL_PIPELINE_INSPECT_REPLAY_JSON_H

#include "pipeline/inspect/replay_step.h"

/* Recomputes the particle and prints each step as soon as it is computed. */
enum sl_status sl_replay_write_json(const struct sl_replay_writer *t);

#endif
