/* shell_text.h - text in the languages of shells. */
#ifndef SL_PIPELINE_MANUAL_SHELL_TEXT_H
#define SL_PIPELINE_MANUAL_SHELL_TEXT_H

#include "pipeline/manual/manual.h"

/*
 * Prints a template, in which ~ is replaced by the name of the program, as in the names of functions.
 * zsh calls a file of $fpath by its name, so a function must have the name of its file (_sluice-bench).
 */
void sl_shell_template(const struct sl_manual *m, const char *text, FILE *out);

/*
 * Prints the names of the options that a value follows, with the separator between them, or of all
 * options that command c takes (c of sl_manual_takes()).
 */
void sl_shell_value_options(const struct sl_manual *m, const char *separator, FILE *out);
void sl_shell_options_of(const struct sl_manual *m, int c, FILE *out);

/* Prints the keys of all settings, each with a space before it and '=' after it. */
void sl_shell_keys(const struct sl_manual *m, FILE *out);

/* Prints the text with a backslash before each of the characters. */
void sl_shell_escaped(const char *text, const char *characters, FILE *out);

#endif
