/*
 * schedule.h - resolves transport: how a batch of a model with many steps runs.
 *
 * History: one thread follows a particle to its end. Rounds: each launch advances all alive
 * particles by some steps; between launches they are compacted or sorted.
 */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_SCHEDULE_H
#define SL_PIPELINE_RESOLVE_EXECUTION_SCHEDULE_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets schedule, rounds and rounds_named from the keys below transport. ranges: choices->rules are
 * made, so that the model can state the range of a column.
 */
void sl_resolve_schedule(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges);

/*
 * Adds a problem for each parameter of rounds that differs from its default: it has no effect, for
 * the reason why; advice says what to do.
 */
void sl_refuse_rounds(struct sl_reader *r, const char *why, const char *advice);

enum { SL_WHEN_BYTES = 32, SL_SCHEDULE_BYTES = 200 };

/* Writes a trigger as in a configuration: "alive < 0.5". Returns its text. */
const char *sl_when_text(const struct sl_when *when, char text[SL_WHEN_BYTES]);

/* Writes a schedule for people: "rounds of 8 steps, compact alive < 0.5, ...". Returns its text. */
const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES]);

#endif
