/* help.h - the program documents itself, from the tables it runs on. */
#ifndef SL_PIPELINE_CLI_HELP_H
#define SL_PIPELINE_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/* sluice list: models, fates, columns, backends, formats of this build. */
enum sl_status sl_help_list(bool json, FILE *out);

/*
 * sluice help WORD: a command, a key of the configuration, a section of it ("run", "model.slab"), a
 * model, a column or a fate. NULL: the command line.
 */
enum sl_status sl_help(const char *word, FILE *out);

#endif
