/* list.h - the text of `sluice list`. */
#ifndef SL_PIPELINE_HELP_LIST_H
#define SL_PIPELINE_HELP_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints models, fates, columns, units, backends and formats of this build, as text or JSON. A
 * backend that needs CUDA is listed in a build without CUDA too, without its help and its tuning.
 */
enum sl_status sl_help_list(bool json, FILE *out);

/*
 * Prints the GPUs of this machine, or why there is none, and the emulated device, as text or JSON.
 * The emulated device is the current one afterwards.
 */
enum sl_status sl_help_devices(bool json, FILE *out);

#endif
