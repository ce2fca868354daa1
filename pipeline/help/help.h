/*
 * help.h - prints help from the tables of commands, options, columns and fates.
 *
 * Nothing is read from files: all texts are in the program, in the tables that it works with.
 */
#ifndef SL_PIPELINE_HELP_HELP_H
#define SL_PIPELINE_HELP_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "stages/models/option.h"

/*
 * sluice help WORD: a command, a key of the configuration, a section of it ("run", "model.slab"), a
 * model, a column or a fate. NULL: the command line. SL_USAGE if nothing has this name; the message
 * suggests the nearest one.
 */
enum sl_status sl_help(const char *word, FILE *out);

/*
 * Prints which values a key accepts, with their unit, without its default: "whole number, 1 to 16,
 * or auto".
 */
void sl_help_range(const struct sl_option *o, FILE *out);

#endif
