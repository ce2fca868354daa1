/* completion_bash.h - the completion of bash. */
#ifndef SL_PIPELINE_MANUAL_COMPLETION_BASH_H
#define SL_PIPELINE_MANUAL_COMPLETION_BASH_H

#include "pipeline/manual/manual.h"

/* Prints the script that teaches bash the commands, options and values of the program. */
void sl_completion_bash(const struct sl_manual *m, FILE *out);

#endif
