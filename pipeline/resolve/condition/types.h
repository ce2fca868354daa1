/*
 * types.h - the type of a part of an expression, and the checks of the operands of an operator.
 *
 * Each check that fails adds a problem and stops the parser.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_TYPES_H
#define SL_PIPELINE_RESOLVE_CONDITION_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/particle/units.h"

struct sl_parser;

enum { SL_UNIT_BYTES = 48 };

/* What a number is, beyond its value. */
enum sl_operand_kind {
	SL_PLAIN,
	SL_FLAGS,   /* a column of whole numbers of at least 0, whose bits can be tested */
	SL_TESTED,  /* the result of a bit test: as a condition, true unless it is 0 */
	SL_CODE,    /* the column pdg, possibly negated or abs() */
	SL_SPECIES, /* the name of a particle, possibly negated */
};

/* The type and place of a parsed part of an expression. Its value is on the stack of the program. */
struct sl_operand {
	const char *from; /* its first byte in the text */
	uint32_t begin;   /* its first step in the program */
	bool truth;       /* a truth value; otherwise a number */
	enum sl_operand_kind kind;
	int power[3]; /* of length, mass and time: its dimension */
	bool angle;   /* a plain number in rad */
	bool bare;    /* 0 or inf, which need no unit */
	bool single;  /* a column of single precision, possibly negated or abs() */
	bool whole;   /* a whole number for every particle */
	int literal;  /* index in condition.number of a plain number, else -1 */
};

static const struct sl_operand sl_no_operand = {.literal = -1};

/* Sets the dimension of an operand to that of a unit, to a power. */
void sl_operand_set_dimension(struct sl_operand *v, enum sl_dimension dimension, int power);

/* The internal unit of a number, for messages: "cm", "cm^2" or "no unit". */
const char *sl_operand_unit(const struct sl_operand *v, char text[SL_UNIT_BYTES]);

/* The unit of units.def for the dimension of a number; SL_UNIT_COUNT if there is none. */
enum sl_unit sl_operand_column_unit(const struct sl_operand *v);

/* Requires a number, for arithmetic. */
void sl_want_number(struct sl_parser *p, const struct sl_operand *v);

/* Requires a number whose bits can be tested. */
void sl_want_bits(struct sl_parser *p, const struct sl_operand *v);

/* Requires a number that is whole for every particle, for in. */
void sl_want_whole(struct sl_parser *p, const struct sl_operand *v);

/* Requires a truth value. The result of a bit test on top of the stack becomes one. */
void sl_want_truth(struct sl_parser *p, struct sl_operand *v);

/* Requires the same dimension of two numbers, for sums. */
void sl_want_same(struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b);

/* Requires two numbers that can be compared; equality: by == or !=, as a particle name needs. */
void sl_want_comparable(
	struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b, bool equality);

#endif
