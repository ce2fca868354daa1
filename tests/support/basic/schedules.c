/* schedules.c - see schedules.h. */
#include "schedules.h"

struct sl_schedule schedule_at(int i)
{
	static const struct {
		uint32_t steps;
		struct sl_when compact, sort;
		double finish;
	} each[SCHEDULES] = {
#define NEVER {SL_NEVER, 0, 0}
#define EVERY(k)               \
	{                      \
		SL_EVERY, k, 0 \
	}
#define BELOW(x)               \
	{                      \
		SL_BELOW, 0, x \
	}
		{1, NEVER, NEVER, 0},         /* never compacted: dead particles keep their place */
		{1, EVERY(1), NEVER, 0},      /* compacted after every round */
		{8, BELOW(0.5), NEVER, 0.01}, /* the default */
		{3, BELOW(0.5), NEVER, 0}, /* compacted when half are dead, until all have ended */
		{1, BELOW(0.9), NEVER, 0.3}, /* last round while up to 30 % are alive */
		{2, BELOW(1), NEVER, 1},     /* last round as soon as one particle is dead */
		{1, EVERY(3), NEVER, 0},     /* two of three rounds include dead particles */
		{1, NEVER, EVERY(1), 0},     /* sorted after every round, never compacted */
		{2, EVERY(1), EVERY(2), 0},  /* compacted after every round, sorted after two */
		{1, BELOW(0.7), BELOW(0.5), 0.1}, /* both conditions refer to their own last time */
		{4, EVERY(2), BELOW(1), 0},       /* sorted whenever a particle dies */
		{1, BELOW(0.2), EVERY(5), 0.05},  /* sorted before the first compaction */
		{UINT32_MAX, EVERY(1), NEVER, 0}, /* one round to the end of each particle */
		{1000, NEVER, NEVER, 0.5},
	};
	static const struct sl_key_field w = {.column = SL_COLUMN_w, .bits = 3, .lo = -1, .hi = 1},
					 z = {.column = SL_COLUMN_z, .bits = 4, .lo = 0, .hi = 2};
	struct sl_schedule s = {.steps = each[i].steps,
		.compact = each[i].compact,
		.sort = each[i].sort,
		.finish = each[i].finish};

	if (s.sort.kind != SL_NEVER) {
		s.n_fields = 2;
		s.field[0] = sl_key_rule_make(&w);
		s.field[1] = sl_key_rule_make(&z);
		s.key_bits = w.bits + z.bits;
	}
	return s;
}
