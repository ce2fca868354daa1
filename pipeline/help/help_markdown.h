/* help_markdown.h - the reference part of docs/configuration.md. */
#ifndef SL_PIPELINE_HELP_HELP_MARKDOWN_H
#define SL_PIPELINE_HELP_HELP_MARKDOWN_H

#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints all keys, columns, fates and units as Markdown (sluice help --markdown). SL_HOST_MEMORY if
 * the text does not fit in memory; nothing is printed then.
 */
enum sl_status sl_help_markdown(FILE *out);

#endif
