/* schedules.h - schedules of rounds; none may change a bit of the result. */
#ifndef SL_TESTS_SUPPORT_BASIC_SCHEDULES_H
#define SL_TESTS_SUPPORT_BASIC_SCHEDULES_H

#include "stages/batch/recipe.h"

enum { SCHEDULES = 6 };

struct sl_schedule schedule_at(int i);

#endif
