/*
 * operators.h - binary operators: their precedence, the check of their operands, and the steps of values
 * that are used more than once.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_OPERATORS_H
#define SL_PIPELINE_RESOLVE_CONDITION_OPERATORS_H

#include "pipeline/resolve/condition/operand.h"

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

/* The steps that compute a value, and the value of a literal before any comparison has rounded it. */
struct sl_steps {
	uint32_t begin, end;
	double literal;
};

/* The steps of v, which has just been parsed. */
struct sl_steps sl_steps_of(const struct sl_parser *p, const struct sl_operand *v);

/* Emits the steps of v again and sets its place to the new ones. */
void sl_emit_again(struct sl_parser *p, struct sl_operand *v, const struct sl_steps *steps);

#endif
