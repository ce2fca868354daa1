/*
 * operand.h - what an expression is made of: words, signs, numbers with units, columns and fates.
 *
 * A part of expression.h with a file of its own.
 */
#ifndef SL_PIPELINE_RESOLVE_OPERAND_H
#define SL_PIPELINE_RESOLVE_OPERAND_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/text/decimal_number.h"
#include "pipeline/text/messages.h"
#include "stages/models/model.h"
#include "stages/selection/condition.h"

struct sl_parser {
	const char *text, *at; /* at: what is not read yet, without spaces before it */
	struct sl_reader *r;
	const char *key;
	const struct sl_model *model;
	struct sl_condition *k;
	uint32_t depth;  /* of the stack, behind the steps so far */
	uint32_t nested; /* brackets, signs and nots that are open */
	bool failed;
};

/* What a part of an expression stands for. */
struct sl_operand {
	const char *from;       /* where it begins */
	bool truth;             /* else a number: */
	int length, mass, time; /* its dimension */
	bool bare;              /* 0 or inf, which are the same in any unit */
	bool single;            /* a column of single precision, its size or its negative */
	int literal;            /* its place among the numbers, if it is one and nothing else; -1 */
};

static const struct sl_operand sl_no_operand = {.literal = -1};

/* The first thing that is wrong is told, where it stands. */
void sl_parser_complain(struct sl_parser *p, const char *where, const char *format, ...)
	SL_PRINTF(3, 4);

/* What was read from there on, as a message shows it. */
const char *sl_parser_show(const struct sl_parser *p, const char *from, char shown[SL_SHOWN_BYTES]);

/* Adds a step to the program, or complains that there is no room for it. */
void sl_parser_emit(struct sl_parser *p, enum sl_operation operation, uint32_t operand);

/* Reads n bytes and the spaces behind them. */
void sl_parser_skip(struct sl_parser *p, size_t n);

/* Is that word, or that sign, next? Then it is read. Is any word next? */
bool sl_parser_take(struct sl_parser *p, const char *text);
bool sl_parser_at_word(const struct sl_parser *p);

/* Reads the number that was scanned, with its unit; reads a name. Each is put on the stack. */
struct sl_operand sl_parse_number(struct sl_parser *p, const struct sl_number *scanned);
struct sl_operand sl_parse_name(struct sl_parser *p);

#endif
