/* schedule.c - see execution.h. */
#include "pipeline/resolve/execution/execution.h"

#include <stdio.h>

#include "pipeline/config/reader/reader.h"

const struct sl_schedule sl_rounds[SL_ROUNDS_CHOICES] = {
	{.steps = 16, .finish = 0.01}, {.steps = 4, .finish = 0.3}};

void sl_resolve_schedule(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	choices->schedule = (enum sl_schedule_choice)c->transport.schedule;
	choices->rounds = sl_rounds[0];
	if (choices->model->steps)
		return;
	sl_config_refuse_unused(
		r, "transport.schedule", "the model has a single step", "remove it");
	choices->schedule = SL_BY_HISTORY;
}

const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES])
{
	if (s->steps == 0)
		return "histories: each particle to its end";
	snprintf(text, SL_SCHEDULE_BYTES, "rounds of %u steps, finish alive < %g", s->steps,
		s->finish);
	return text;
}
