/* schedules.c - see schedules.h. */
#include "schedules.h"

struct sl_schedule schedule_at(int i)
{
	static const struct sl_schedule each[SCHEDULES] = {
		{1, 0},     /* compacted until all have ended */
		{16, 0.01}, /* the two of a run */
		{4, 0.3},
		{2, 1},          /* last round as soon as one particle is dead */
		{UINT32_MAX, 0}, /* one round to the end of each particle */
		{1000, 0.5},
	};

	return each[i];
}
