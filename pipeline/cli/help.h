/* help.h - the program documents itself, from the tables it runs on. */
#ifndef SL_PIPELINE_CLI_HELP_H
#define SL_PIPELINE_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "stages/models/option.h"

/* sluice list: models, fates, columns, backends, formats of this build. */
enum sl_status sl_help_list(bool json, FILE *out);

/*
 * sluice help WORD: a command, a key of the configuration, a section of it ("run", "model.slab"), a
 * model, a column or a fate. NULL: the command line.
 */
enum sl_status sl_help(const char *word, FILE *out);

/* sluice help --markdown: all keys, columns, fates and units, as docs/configuration.md has them. */
enum sl_status sl_help_markdown(FILE *out);

/* Prints which values a key accepts, without its default: "whole number, 1 to 16, or auto". */
void sl_help_range(const struct sl_option *o, FILE *out);

#endif
