/*
 * operand.h - the lexical part of the expression parser: signs, words, numbers with units, names.
 *
 * Used by expression.c only. The parser stops at the first error.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_OPERAND_H
#define SL_PIPELINE_RESOLVE_CONDITION_OPERAND_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/text/decimal_number.h"
#include "pipeline/text/messages.h"
#include "stages/models/model.h"
#include "stages/selection/condition.h"

struct sl_parser {
	const char *text, *at; /* at: the next byte to read, never a blank */
	struct sl_reader *r;
	const char *key;
	const struct sl_model *model;
	struct sl_condition *k;
	uint32_t depth;  /* of the stack after the steps emitted so far */
	uint32_t nested; /* number of open brackets, signs and nots */
	bool failed;
};

/* The type and place of a parsed part of an expression. Its value is on the stack of the program. */
struct sl_operand {
	const char *from; /* its first byte in the text */
	bool truth;       /* a truth value; otherwise a number */
	int power[3];     /* of length, mass and time: its dimension */
	bool bare;        /* 0 or inf, which need no unit */
	bool single;      /* a column of single precision, possibly negated or abs() */
	int literal;      /* index in condition.number of a plain number, else -1 */
};

static const struct sl_operand sl_no_operand = {.literal = -1};

/* Adds a problem at the place where, and stops the parser. Later calls add nothing. */
void sl_parser_fail(struct sl_parser *p, const char *where, const char *format, ...)
	SL_PRINTF(3, 4);

/* Writes the text from there to the current place, quoted. */
const char *sl_parser_show(const struct sl_parser *p, const char *from, char shown[SL_SHOWN_BYTES]);

/* Appends a step to the program; fails when the program or its stack is full. */
void sl_parser_emit(struct sl_parser *p, enum sl_operation operation, uint32_t operand);

/* Skips n bytes and the blanks after them. */
void sl_parser_skip(struct sl_parser *p, size_t n);

/* If text, a word or a sign, is next: skips it and returns true. */
bool sl_parser_take(struct sl_parser *p, const char *text);

/* Length of the word (letters, digits, _) at this place; 0 if there is none. */
size_t sl_word_length(const char *at);

/* Parse a number (already scanned) with its unit, or a name; emit the step that pushes it. */
struct sl_operand sl_parse_number(struct sl_parser *p, const struct sl_decimal *scanned);
struct sl_operand sl_parse_name(struct sl_parser *p);

#endif
