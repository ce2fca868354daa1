/* schedules.c - see schedules.h. */
#include "schedules.h"

#define NEVER                    \
	{                        \
		.kind = SL_NEVER \
	}
#define EVERY(k)                               \
	{                                      \
		.kind = SL_EVERY, .every = (k) \
	}
#define BELOW(x)                               \
	{                                      \
		.kind = SL_BELOW, .below = (x) \
	}

struct sl_schedule schedule_at(int i)
{
	static const struct {
		uint32_t steps;
		struct sl_when compact, sort;
		double finish;
	} each[SCHEDULES] = {
		{1, NEVER, NEVER, 0},         /* in place to the end */
		{1, EVERY(1), NEVER, 0},      /* alternates between both states */
		{8, BELOW(0.5), NEVER, 0.01}, /* the default */
		{3, BELOW(0.5), NEVER, 0},    /* dense, including dead particles */
		{1, BELOW(0.9), NEVER, 0.3},  /* finished with many left, at once dense or not */
		{2, BELOW(1), NEVER, 1},      /* finished as soon as one is dead */
		{1, EVERY(3), NEVER, 0},      /* compacted with dead ones in two rounds */
		{1, NEVER, EVERY(1), 0},      /* from in place, and from a state */
		{2, EVERY(1), EVERY(2), 0},   /* alternating */
		{1, BELOW(0.7), BELOW(0.5), 0.1}, /* sorted by what was sorted last */
		{4, EVERY(2), BELOW(1), 0},       /* sorted whenever one dies */
		{1, BELOW(0.2), EVERY(5), 0.05},  /* sorted before it is compacted once */
		{UINT32_MAX, EVERY(1), NEVER, 0}, /* one round, a history */
		{1000, NEVER, NEVER, 0.5},
	};
	static const struct sl_key_field w = {SL_COLUMN_w, 3, -1, 1, false},
					 z = {SL_COLUMN_z, 4, 0, 2, false};
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
