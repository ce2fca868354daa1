/*
 * schedules.h - every kind of schedule that rounds can have; none may change a bit of the result.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_SCHEDULES_H
#define SL_TESTS_SUPPORT_BASIC_SCHEDULES_H

#include "stages/batch/recipe.h"

enum { SCHEDULES = 14 };

/* The i-th, sorted, if at all, by direction and depth, in 7 bits. */
struct sl_schedule schedule_at(int i);

#endif
