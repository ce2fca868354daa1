/* list.h - the text of `sluice list`. */
#ifndef SL_PIPELINE_HELP_LIST_H
#define SL_PIPELINE_HELP_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints models, fates, columns, units, backends and formats of this build, as text or JSON.
 * SL_INTERNAL if the JSON text does not fit in a fixed buffer.
 */
enum sl_status sl_help_list(bool json, FILE *out);

#endif
