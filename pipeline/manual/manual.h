/*
 * manual.h - the description of a program, from which its manual pages and the completion of shells are
 * made.
 *
 * A program fills struct sl_manual from its own tables of commands and options. The writers of this
 * folder know no command and no option, so a new line of a table needs no change here.
 */
#ifndef SL_PIPELINE_MANUAL_MANUAL_H
#define SL_PIPELINE_MANUAL_MANUAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "primitives/base/hd.h"
#include "primitives/base/status.h"

/* What a shell offers for a value, in addition to its words. */
enum sl_complete {
	SL_COMPLETE_WORDS, /* the words only; without words, nothing */
	SL_COMPLETE_FILES,
	SL_COMPLETE_FOLDERS,
	SL_COMPLETE_SETTINGS /* KEY=VALUE: the keys of struct sl_manual, and their words */
};

/* The value of an option, or the operands of a command. */
struct sl_manual_value {
	const char *name; /* as the help shows it: "DIR"; "": there is no value */
	enum sl_complete by;
	const char *words; /* separated by spaces; "": none */
};

struct sl_manual_command {
	const char *name, *help;
	const char *details; /* paragraphs, indented by four spaces; "": none */
	struct sl_manual_value operands;
};

struct sl_manual_option {
	const char *name; /* with its dashes */
	struct sl_manual_value value;
	const char *help;
	const char *note;   /* "run.mode; default auto"; "": none */
	const char *takers; /* the names of the commands that take it; "" */
	uint32_t commands;  /* bit c: command c takes the option; SL_EVERY_COMMAND */
};

/* An option such as --help: it needs no command, and every command takes it. */
#define SL_EVERY_COMMAND UINT32_MAX
/* An option that replaces the command. */
#define SL_NO_COMMAND UINT32_C(0)

/* A key for SL_COMPLETE_SETTINGS with the words that it accepts. */
struct sl_manual_setting {
	const char *key, *words;
};

struct sl_manual_exit {
	int code;
	const char *meaning;
};

enum {
	SL_MANUAL_COMMANDS = 31,
	SL_MANUAL_OPTIONS = 96,
	SL_MANUAL_SETTINGS = 640,
	SL_MANUAL_EXITS = 24,
	SL_MANUAL_TEXT_BYTES = 128 << 10
};

struct sl_manual {
	const char *program, *purpose; /* purpose: one line without a full stop */
	const char *synopsis;          /* what follows the program: "COMMAND [OPTION...]" */
	const char *details;           /* as those of a command */
	const char *script;            /* command that prints the completion, without the shell */
	const char *see_also;          /* the page of another program; "": none */
	bool pages;                    /* each command has a page: sluice-run(1) */
	bool joined;                   /* --option=VALUE is accepted too */
	int n_commands, n_options, n_settings, n_exits;
	struct sl_manual_command command[SL_MANUAL_COMMANDS];
	struct sl_manual_option option[SL_MANUAL_OPTIONS];
	struct sl_manual_setting setting[SL_MANUAL_SETTINGS];
	struct sl_manual_exit exit[SL_MANUAL_EXITS];
	size_t used; /* bytes of text */
	char text[SL_MANUAL_TEXT_BYTES];
};

/* Appends to the text that is begun; words are separated by spaces. */
void sl_manual_add(struct sl_manual *m, const char *format, ...) SL_PRINTF(2, 3);

/* Ends the text that is begun, and returns it. It is valid as long as m. */
const char *sl_manual_end(struct sl_manual *m);

/*
 * The words that a help text lists: "where to compute: auto, cpu or cuda:N" has "auto cpu". A list has
 * two or more items of one word each; it begins the text or follows ": ", and ends the text or ends at
 * ';'. Items with capitals are placeholders. "" if there is no list.
 */
const char *sl_manual_words_of_help(struct sl_manual *m, const char *help);

/* What completes a value of that name: FILE, PATH, CONFIG and IN... are files, DIR is a folder. */
enum sl_complete sl_manual_complete_by(const char *name);

/* Does command c take the option? c is -1 before there is a command. */
bool sl_manual_takes(const struct sl_manual_option *option, int c);

/* Prints the script of a shell; SL_USAGE if there is none for it. */
enum sl_status sl_manual_completion(const struct sl_manual *m, const char *shell, FILE *out);

#endif
