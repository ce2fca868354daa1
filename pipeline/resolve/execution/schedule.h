/*
 * schedule.h - resolves transport: how a batch of a model with many steps runs.
 *
 * History: one thread follows a particle to its end. Rounds: each launch advances all alive
 * particles by some steps; between launches they are compacted.
 */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_SCHEDULE_H
#define SL_PIPELINE_RESOLVE_EXECUTION_SCHEDULE_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Two schedules that were fastest on an H200 in opposite cases (bench/NOTES.md): the first if most
 * particles live for many steps, the second if few remain after some steps. transport.schedule:
 * rounds is the first.
 */
enum { SL_ROUNDS_CHOICES = 2 };
extern const struct sl_schedule sl_rounds[SL_ROUNDS_CHOICES];

/* Sets schedule and rounds. A model with a single step has nothing to schedule. */
void sl_resolve_schedule(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

enum { SL_SCHEDULE_BYTES = 64 };

/* Writes a schedule for people: "rounds of 16 steps, finish alive < 0.01". Returns its text. */
const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES]);

#endif
