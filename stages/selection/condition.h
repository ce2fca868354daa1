/*
 * condition.h - what keep asks of a particle beside its fate: a short program, the same on host and
 * device.
 *
 * The program is in postfix order, for a stack of doubles, on which every column's numbers are
 * exact; what is true is 1, what is false 0. Its operations are those that IEEE 754 rounds in one
 * way, so that all machines agree to the bit; a comparison with NaN is false, but for !=.
 *
 * A particle that has a fate which is kept on conditions, and does not meet them, is given the fate
 * dropped, and so accounted for.
 */
#ifndef SL_STAGES_SELECTION_CONDITION_H
#define SL_STAGES_SELECTION_CONDITION_H

#include <math.h>
#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

/* The operations, and how many they take off the stack; each puts one on it. */
#define SL_OPERATIONS(X) \
	X(column, 0)     \
	X(number, 0)     \
	X(fate, 0)       \
	X(plus, 2)       \
	X(minus, 2)      \
	X(times, 2)      \
	X(over, 2)       \
	X(negated, 1)    \
	X(absolute, 1)   \
	X(less, 2)       \
	X(at_most, 2)    \
	X(more, 2)       \
	X(at_least, 2)   \
	X(equal, 2)      \
	X(unequal, 2)    \
	X(both, 2)       \
	X(either, 2)     \
	X(opposite, 1)

enum sl_operation {
#define X(name, takes) SL_OP_##name,
	SL_OPERATIONS(X)
#undef X
		SL_OPERATION_COUNT
};

enum { SL_CONDITION_STEPS = 96, SL_CONDITION_NUMBERS = 32, SL_CONDITION_DEPTH = 16 };

struct sl_condition {
	uint32_t n;        /* steps; 0: nothing is asked */
	sl_fate_set fates; /* of which it is asked of which it is asked */
	uint32_t columns;  /* set of those that are looked at, fate aside */
	uint32_t n_numbers;
	uint8_t operation[SL_CONDITION_STEPS]; /* enum sl_operation */
	uint8_t operand[SL_CONDITION_STEPS];   /* which column, number or fate */
	double number[SL_CONDITION_NUMBERS];
};

/* How many numbers an operation takes off the stack. */
SL_HD uint32_t sl_condition_takes(enum sl_operation operation)
{
	switch (operation) {
#define X(name, takes)     \
	case SL_OP_##name: \
		return takes;
		SL_OPERATIONS(X)
#undef X
	case SL_OPERATION_COUNT:
		break;
	}
	return 0;
}

/* The value of a column of particle i, whose id is given. */
SL_HD double sl_condition_value(
	enum sl_column column, const struct sl_columns *c, uint64_t i, uint64_t id)
{
	switch (column) {
#define sl_double_float(name)    (double)c->name[i]
#define sl_double_int32_t(name)  (double)c->name[i]
#define sl_double_uint32_t(name) (double)c->name[i]
#define sl_double_uint8_t(name)  (double)c->name[i]
#define sl_double_uint64_t(name) (double)id
#define COLUMN(name, type, unit, record, component, help) \
	case SL_COLUMN_##name:                            \
		return sl_double_##type(name);
#include "stages/particle/columns.def"
#undef COLUMN
	case SL_COLUMN_COUNT:
		break;
	}
	return 0.0;
}

/* What an operation makes of the two numbers on top, or of the one, which is then the second. */
SL_HD double sl_condition_operate(enum sl_operation operation, double a, double b)
{
	switch (operation) {
	case SL_OP_plus:
		return a + b;
	case SL_OP_minus:
		return a - b;
	case SL_OP_times:
		return a * b;
	case SL_OP_over:
		return a / b;
	case SL_OP_negated:
		return -b;
	case SL_OP_absolute:
		return fabs(b);
	case SL_OP_less:
		return a < b ? 1.0 : 0.0;
	case SL_OP_at_most:
		return a <= b ? 1.0 : 0.0;
	case SL_OP_more:
		return a > b ? 1.0 : 0.0;
	case SL_OP_at_least:
		return a >= b ? 1.0 : 0.0;
	case SL_OP_equal:
		return a == b ? 1.0 : 0.0;
	case SL_OP_unequal:
		return a != b ? 1.0 : 0.0;
	case SL_OP_both: /* both are 0 or 1 */
		return a * b;
	case SL_OP_either:
		return a > b ? a : b;
	default: /* opposite */
		return 1.0 - b;
	}
}

/* Does particle i of the columns, whose id and fate are given, meet the conditions? */
SL_HD bool sl_condition_holds(const struct sl_condition *k, const struct sl_columns *c, uint64_t i,
	uint64_t id, uint8_t fate)
{
	double stack[SL_CONDITION_DEPTH + 1] = {0}; /* there is one below the first */
	uint32_t top = 0;

	for (uint32_t step = 0; step < k->n; step++) {
		uint32_t operand = k->operand[step];
		enum sl_operation operation = (enum sl_operation)k->operation[step];

		if (operation == SL_OP_column) {
			stack[++top] = sl_condition_value((enum sl_column)operand, c, i, id);
		} else if (operation == SL_OP_number) {
			stack[++top] = k->number[operand];
		} else if (operation == SL_OP_fate) {
			stack[++top] = fate == operand ? 1.0 : 0.0;
		} else {
			uint32_t under = top + 1 - sl_condition_takes(operation);

			stack[under] = sl_condition_operate(operation, stack[under], stack[top]);
			top = under;
		}
	}
	return stack[top] != 0.0;
}

/* The fate of particle i in the end: its own, or dropped. */
SL_HD uint8_t sl_condition_fate(const struct sl_condition *k, const struct sl_columns *c,
	uint64_t i, uint64_t id, uint8_t fate)
{
	if (fate >= SL_FATE_COUNT || !sl_has_fate(k->fates, fate) ||
		sl_condition_holds(k, c, i, id, fate))
		return fate;
	return SL_FATE_dropped;
}

SL_C_END

#endif
