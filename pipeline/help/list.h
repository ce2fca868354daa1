/* list.h - the text of `sluice list`. */
#ifndef SL_PIPELINE_HELP_LIST_H
#define SL_PIPELINE_HELP_LIST_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints models, fates, columns, units, backends and formats of this build, as text or JSON. A
 * backend that needs CUDA is listed in a build without CUDA too, without its help and its tuning.
 */
void sl_help_list(bool json, FILE *out);

#endif
