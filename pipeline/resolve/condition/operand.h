/*
 * operand.h - the parser of expressions: its state, the words it reads, the steps it emits, and names.
 *
 * Used in this folder only. The parser stops at the first error.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_OPERAND_H
#define SL_PIPELINE_RESOLVE_CONDITION_OPERAND_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/condition/types.h"
#include "pipeline/text/messages.h"
#include "stages/models/model.h"
#include "stages/selection/derivation.h"

/* Names of numbers in addition to the columns of the model. */
struct sl_more_names {
	/*
	 * If word names a derived column: sets its number and unit and returns true. The number is
	 * SL_COLUMN_COUNT if the column is wrong, which has been reported.
	 */
	bool (*find)(void *ctx, const char *word, enum sl_column *column, enum sl_unit *unit);
	/*
	 * Makes a derived column of a program that computes a number in that unit: a call of a function in a
	 * condition. False after adding a problem for key.
	 */
	bool (*add)(void *ctx, const char *key, const struct sl_condition *k, enum sl_unit unit,
		enum sl_column *column);
	void *ctx;
	size_t n; /* names, for suggestions */
	const char *name[SL_NAMED_MAX + SL_DERIVED_MAX];
};

/* The derived column that word probably means, if it is nearer than a column of the set; else NULL. */
const char *sl_derived_meant(
	const struct sl_more_names *more, const char *word, sl_column_set columns);

struct sl_parser {
	const char *text, *at; /* at: the next byte to read, never a blank */
	struct sl_reader *r;
	const char *key;
	const struct sl_model *model;
	const struct sl_more_names *more; /* NULL: there are none */
	struct sl_condition *k;
	bool derives;    /* the program is that of a derived column, so it can have functions */
	uint32_t depth;  /* of the stack after the steps emitted so far */
	uint32_t nested; /* number of open brackets, signs and nots */
	bool failed;
};

/* Adds a problem at the place where, and stops the parser. Later calls add nothing. */
void sl_parser_fail(struct sl_parser *p, const char *where, const char *format, ...)
	SL_PRINTF(3, 4);

/* Writes the text from there to the current place, quoted. */
const char *sl_parser_show(const struct sl_parser *p, const char *from, char shown[SL_SHOWN_BYTES]);

/* Appends a step, an operation or function, to the program; fails when the program or its stack is full. */
void sl_parser_emit(struct sl_parser *p, uint32_t operation, uint32_t operand);

/* Skips n bytes and the blanks after them. */
void sl_parser_skip(struct sl_parser *p, size_t n);

/* If text, a word or a sign, is next: skips it and returns true. */
bool sl_parser_take(struct sl_parser *p, const char *text);

/* Length of the word (letters, digits, _) at this place; 0 if there is none. */
size_t sl_word_length(const char *at);

/* Emits the step that pushes a column, and sets *v to it. */
void sl_push_column(
	struct sl_parser *p, struct sl_operand *v, enum sl_column column, enum sl_unit unit);

/* The largest number of bytes of a name, with its final 0. */
enum { SL_PARSER_NAME_BYTES = 32 };

/* Parses a name and emits the step that pushes it. The caller has set v->from and v->begin. */
void sl_parse_name(struct sl_parser *p, struct sl_operand *v);

#endif
