/* condition.h - compiles the expressions of a configuration */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_CONDITION_H
#define SL_PIPELINE_RESOLVE_CONDITION_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "stages/models/model.h"
#include "stages/particle/units.h"
#include "stages/selection/program.h"

/* --- types ------------------------------------------------------------------------------------ */

/*
 * The type of a part of an expression, and the checks of the operands of an operator.
 *
 * Each check that fails adds a problem and stops the parser.
 */

struct sl_parser;

/* What a number is, beyond its value. */
enum sl_operand_kind {
	SL_PLAIN,
	SL_FLAGS,   /* a column of whole numbers of at least 0, whose bits can be tested */
	SL_TESTED,  /* the result of a bit test: as a condition, true unless it is 0 */
	SL_CODE,    /* the column pdg, possibly negated or abs() */
	SL_SPECIES, /* the name of a particle, possibly negated */
};

/*
 * The type and place of a parsed part of an expression. Its value is on the stack of the program.
 */
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
const char *sl_operand_unit(const struct sl_operand *v);

/* The unit of units.def for the dimension of a number; SL_UNIT_COUNT if there is none. */
enum sl_unit sl_operand_column_unit(const struct sl_operand *v);

/* Requires a number, for arithmetic. */
void sl_want_number(struct sl_parser *p, const struct sl_operand *v);

/* Requires a number that is whole for every particle, for in. */
void sl_want_whole(struct sl_parser *p, const struct sl_operand *v);

/* Requires a truth value. The result of a bit test on top of the stack becomes one. */
void sl_want_truth(struct sl_parser *p, struct sl_operand *v);

/* Requires the same dimension of two numbers, for sums. */
void sl_want_same(struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b);

/* --- operand ---------------------------------------------------------------------------------- */

/*
 * The parser of expressions: its state, the words it reads, the steps it emits, and names.
 *
 * Used in this folder only. The parser stops at the first error.
 */

struct sl_parser {
	const char *text, *at; /* at: the next byte to read, never a blank */
	struct sl_resolver *resolver;
	const char *key;
	const struct sl_model *model;
	struct sl_program *k;
	bool derives;    /* the program is that of a derived column, so it can have functions */
	uint32_t depth;  /* of the stack after the steps emitted so far */
	uint32_t nested; /* number of open brackets, signs and nots */
	bool failed;
};

/* Adds a problem at the place where, and stops the parser. Later calls add nothing. */
void sl_parser_fail(struct sl_parser *p, const char *where, const char *format, ...)
	SL_PRINTF(3, 4);

/* The text from there to the current place, quoted (sl_message_part()). */
const char *sl_parser_shown(const struct sl_parser *p, const char *from);

/* Fails at the place of v; the message begins with its text, and the format follows. */
void sl_operand_fail(struct sl_parser *p, const struct sl_operand *v, const char *format, ...)
	SL_PRINTF(3, 4);

/*
 * Appends a step, an operation or function, to the program; fails when the program or its stack is
 * full.
 */
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

/* --- expression ------------------------------------------------------------------------------- */

/*
 * Parses a condition on particles and appends it to a postfix program.
 *
 * 	or      = and { "or" and }
 * 	and     = not { "and" not }
 * 	not     = "not" not | compare
 * 	compare = bits { ("<" | "<=" | ">" | ">=" | "==" | "!=") bits }
 * 	        | bits [ "not" ] "in" "[" bits { "," bits } "]"
 * 	bits    = sum { "&" sum }
 * 	sum     = product { ("+" | "-") product }
 * 	product = factor { ("*" | "/") factor }
 * 	factor  = "-" factor | value [ ("^" | "**") exponent ]
 * 	value   = "abs" "(" sum ")" | call | "(" or ")" | number | column | fate | particle
 * 	call    = function "(" sum { "," sum } ")"
 * 	number  = digits [ unit [ ("^" | "**") exponent ] ] | "0x" hexadecimal digits
 *
 * Dimensions are checked: a length can only be compared with a length. A number that is compared
 * with a column of single precision is rounded to single precision first, so that == can be true.
 * Powers are whole numbers. A call in a condition becomes a derived column. The result of a bit
 * test is a number, and as a condition true unless it is 0.
 */

/*
 * The steps that compute a number, for a derived column, with its unit; k is empty before the call.
 * False after adding a problem for key.
 */
bool sl_expression_compute(struct sl_resolver *v, const char *key, const char *text,
	struct sl_program *k, enum sl_unit *unit);

/*
 * Append an expression, or the test for a fate, to the program k. Several are joined by "or". False
 * after adding a problem for key; k is then unusable.
 */
bool sl_expression_add(
	struct sl_resolver *v, const char *key, const char *text, struct sl_program *k);
bool sl_expression_add_fate(
	struct sl_resolver *v, const char *key, enum sl_fate fate, struct sl_program *k);

/* --- number ----------------------------------------------------------------------------------- */

/*
 * Reads numbers of an expression: decimal with a unit, or hexadecimal; and exponents.
 *
 * 	5   5 cm   5 cm^2   5 /cm   0x1f.
 */

enum { SL_EXPONENT_MAX = 16 };

/* Stores a literal in the program and emits the step that pushes it. Returns its index. */
int sl_emit_number(struct sl_parser *p, const char *from, double number);

/*
 * If a number is next: reads it with its unit, emits the step that pushes it, and returns true. The
 * caller has set v->from and v->begin.
 */
bool sl_parse_number(struct sl_parser *p, struct sl_operand *v);

/*
 * If ^ or ** is next: reads it and the exponent after it, from -SL_EXPONENT_MAX to SL_EXPONENT_MAX
 * but not 0, and returns true. After a failure *exponent is 1.
 */
bool sl_parse_exponent(struct sl_parser *p, int *exponent);

/* --- operators -------------------------------------------------------------------------------- */

/*
 * Binary operators: their precedence, the check of their operands, and the steps of values
 * that are used more than once.
 */

/* Levels of precedence, the loosest first; a factor has no binary operator. */
enum sl_level {
	SL_LEVEL_OR,
	SL_LEVEL_AND,
	SL_LEVEL_NOT,
	SL_LEVEL_COMPARISON,
	SL_LEVEL_BITS,
	SL_LEVEL_SUM,
	SL_LEVEL_PRODUCT,
	SL_LEVEL_FACTOR
};

/* Takes the next operator if it has that level; else returns SL_OPERATION_COUNT. */
enum sl_operation sl_take_operator(struct sl_parser *p, enum sl_level level);

/*
 * Checks two operands of an operator, emits it, and returns the type of the result. For and, or the
 * caller has checked a.
 */
struct sl_operand sl_join_operands(struct sl_parser *p, enum sl_level level,
	enum sl_operation operation, const struct sl_operand *a, struct sl_operand *b);

/* Can the second comparison follow the first in a chain? a < b <= c and a == b == c can. */
bool sl_is_chain(enum sl_operation first, enum sl_operation second);

/*
 * The steps that compute a value, and the value of a literal before any comparison has rounded it.
 */
struct sl_steps {
	uint32_t begin, end;
	double literal;
};

/* The steps of v, which has just been parsed. */
struct sl_steps sl_steps_of(const struct sl_parser *p, const struct sl_operand *v);

/* Emits the steps of v again and sets its place to the new ones. */
void sl_emit_again(struct sl_parser *p, struct sl_operand *v, const struct sl_steps *steps);

/* --- functions -------------------------------------------------------------------------------- */

/* The functions of expressions: sqrt, hypot and so on. */

/* Is word the name of a function? */
bool sl_is_function(const char *word);

/* Parses an argument of a function. */
struct sl_operand sl_parse_argument(struct sl_parser *p);

/*
 * If the name of a function is next: parses the call, emits its steps, and returns true. The caller
 * has set v->from and v->begin.
 */
bool sl_parse_function(struct sl_parser *p, struct sl_operand *v);

/* --- keep ------------------------------------------------------------------------------------- */

/* Resolves keep: the fates that survive, and the conditions on them. */

/* Sets keep and condition of the choices from the items of keep, or adds a problem. */
void sl_resolve_keep(struct sl_resolver *v);

/* --- derived ---------------------------------------------------------------------------------- */

/*
 * Resolves columns: the derived columns that a run uses, as one program.
 *
 * A column is compiled when it is first named, after the columns that its expression names. So the
 * program computes only what keep, key, tallies and output.columns use. A column of the
 * configuration that none of them uses is refused, because it would have no effect.
 */

/* Checks the names of the definitions. The model of the choices must be set. */
void sl_derived_begin(struct sl_resolver *v);

/*
 * Refuses definitions that nothing uses, unless there are other problems, which may be the reason.
 */
void sl_derived_end(struct sl_resolver *v);

/*
 * If word names a derived column: sets its number and unit and returns true. The number is
 * SL_COLUMN_COUNT if the column is wrong, which has been reported.
 */
bool sl_derived_find(
	struct sl_resolver *v, const char *word, enum sl_column *column, enum sl_unit *unit);

/*
 * Makes a derived column of a program that computes a number in that unit: a call of a function in
 * a condition. False after adding a problem for key.
 */
bool sl_derived_add(struct sl_resolver *v, const char *key, const struct sl_program *k,
	enum sl_unit unit, enum sl_column *column);

/*
 * The derived column that word probably means, if it is nearer than a column of the set; else NULL.
 */
const char *sl_derived_meant(const struct sl_resolver *v, const char *word, sl_column_set columns);

/*
 * Finds a column of the set allowed, or a derived column, by name. False after adding a problem.
 */
bool sl_resolve_any_column(struct sl_resolver *v, const char *key, const char *word,
	sl_column_set allowed, enum sl_column *column);

/*
 * The set of columns named by the items of key, each allowed or built in, and named once. Adds a
 * problem for each other item.
 */
sl_column_set sl_resolve_column_set(
	struct sl_resolver *v, const char *key, const struct sl_texts *list, sl_column_set allowed);

#endif
