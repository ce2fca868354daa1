/* completion_zsh.h - the completion of zsh. */
#ifndef SL_PIPELINE_MANUAL_COMPLETION_ZSH_H
#define SL_PIPELINE_MANUAL_COMPLETION_ZSH_H

#include "pipeline/manual/manual.h"

/* Prints the script that teaches zsh the commands, options and values of the program. */
void sl_completion_zsh(const struct sl_manual *m, FILE *out);

#endif
