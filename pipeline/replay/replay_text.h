/* replay_text.h - a history as text. */
#ifndef SL_PIPELINE_REPLAY_REPLAY_TEXT_H
#define SL_PIPELINE_REPLAY_REPLAY_TEXT_H

#include "pipeline/replay/replay_step.h"

/* Recomputes the particle and prints each step as soon as it is computed. */
void sl_replay_write_text(const struct sl_replay_writer *t);

#endif
