/*
 * completion.h - what a shell offers for the last word of a command line. The scripts of the shells
 * (packaging/completion/) call `PROGRAM complete WORD...` and know nothing else of the program.
 *
 * A line of output is a word that can replace the last word, with a tab and its help if it has one;
 * ":files" or ":folders" asks the shell for names of files or of folders.
 */
#ifndef SL_PIPELINE_HELP_COMPLETION_H
#define SL_PIPELINE_HELP_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
