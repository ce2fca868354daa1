/* completion_fish.h - the completion of fish. */
#ifndef SL_PIPELINE_MANUAL_COMPLETION_FISH_H
#define SL_PIPELINE_MANUAL_COMPLETION_FISH_H

#include "pipeline/manual/manual.h"

/* Prints the script that teaches fish the commands, options and values of the program. */
void sl_completion_fish(const struct sl_manual *m, FILE *out);

#endif
