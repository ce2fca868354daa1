/*
 * help.h - prints help from the tables of commands, options, columns and fates.
 *
 * Nothing is read from files: all texts are in the program, in the tables that it works with.
 */
#ifndef SL_PIPELINE_HELP_HELP_H
#define SL_PIPELINE_HELP_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "stages/models/option.h"

/* --- help ------------------------------------------------------------------------------------- */

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

/* --- completion ------------------------------------------------------------------------------- */

/*
 * What a shell offers for the last word of a command line. The scripts of the shells
 * (packaging/completion/) call `PROGRAM complete WORD...` and know nothing else of the program.
 *
 * A line of output is a word that can replace the last word, with a tab and its help if it has one;
 * ":files" or ":folders" asks the shell for names of files or of folders.
 */

/* The last word of a command line. */
struct sl_last_word {
	const char *text;
	size_t lead; /* bytes of text before the value: "--set=run.mode=" */
	FILE *out;
};

/* An option as the help shows it, without dashes. */
struct sl_completed_option {
	const char *name, *value, *help; /* value is "" for a flag */
};

/* The lists of a program. */
struct sl_completed_program {
	/* Command c; false after the last one. */
	bool (*command)(int c, const char **name, const char **help);
	/* Option i; false after the last one. */
	bool (*option)(int i, struct sl_completed_option *o);
	/* Does command c take option i? c is -1 before there is a command. */
	bool (*takes)(int c, int i);
	/* Offers the values of option i, or the operands of command c. */
	void (*values)(const struct sl_last_word *last, int i);
	void (*operands)(const struct sl_last_word *last, int c);
};

/* Prints what can replace the last of the n words that follow the name of the program. */
void sl_complete(const struct sl_completed_program *p, int n, char **words, FILE *out);

/* Prints the word, its length and its help (NULL: none), if it begins with what was typed. */
void sl_offer_part(const struct sl_last_word *last, const char *word, size_t n, const char *help);
void sl_offer(const struct sl_last_word *last, const char *word);

/*
 * Offers what a help text and the name of a value say. The help lists words after its begin or
 * after ": ", separated by ", " and " or ", up to ";": "where: auto, cpu or cuda:N". An item with
 * upper case or one of []| is a placeholder. FILE, PATH, CONFIG and IN... are files, DIR is a
 * folder.
 */
void sl_offer_value(const struct sl_last_word *last, const char *name, const char *help);

/* What the program sluice completes. */
extern const struct sl_completed_program sl_completed_sluice;

/* --- help_markdown ---------------------------------------------------------------------------- */

/* The reference part of docs/configuration.md. */

/*
 * Prints all keys, columns, fates and units as Markdown (sluice help --markdown). SL_HOST_MEMORY if
 * the text does not fit in memory; nothing is printed then.
 */
enum sl_status sl_help_markdown(FILE *out);

/* --- list ------------------------------------------------------------------------------------- */

/* The text of `sluice list`. */

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

/* --- version ---------------------------------------------------------------------------------- */

/* The text of `sluice version`. */

/*
 * Prints what a report of an error needs: version, commit, compilers, CUDA, HDF5 and CPU levels,
 * one per line. No device is opened, so it works on a machine whose GPU does not.
 */
void sl_version_print(FILE *out);

#endif
