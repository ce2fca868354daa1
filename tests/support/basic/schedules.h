/*
 * schedules.h - every kind of schedule that rounds can have; none may change a bit of the result.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_SCHEDULES_H
#define SL_TESTS_SUPPORT_BASIC_SCHEDULES_H

#include "stages/batch/recipe.h"

enum { SCHEDULES = 14 };

/* Returns schedule i. Those that sort use 7 bits of direction and depth. */
struct sl_schedule schedule_at(int i);

#endif
