/*
 * condition.h - the condition of keep on a particle's columns: a short program, the same on host
 * and device.
 *
 * The program is in postfix order for a stack of doubles, which hold the values of all columns
 * exactly. True is 1 and false is 0. IEEE 754 rounds each operation in exactly one way, so all
 * machines agree to the bit. A comparison with NaN is false, except !=.
 *
 * A power multiplies one factor after another: x^3 is (x * x) * x, and x^-3 is 1 / ((x * x) * x). A
 * bit test works on whole numbers from 0 to 2^64 - 1; all bits of other numbers are 0.
 *
 * A particle whose fate is kept on condition, and that does not meet the condition, gets the fate
 * dropped, so that it is counted.
 */
#ifndef SL_STAGES_SELECTION_CONDITION_H
#define SL_STAGES_SELECTION_CONDITION_H

#include <math.h>
#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

/* The operations and the number of operands that each pops; each pushes one result. */
#define SL_OPERATIONS(X) \
	X(column, 0)     \
	X(number, 0)     \
	X(fate, 0)       \
	X(plus, 2)       \
	X(minus, 2)      \
	X(times, 2)      \
	X(over, 2)       \
	X(power, 1)      \
	X(bits, 2)       \
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

/* The operand of a power is its exponent, from 1; this bit is set if the result is inverted. */
enum { SL_POWER_INVERSE = 0x80 };

enum { SL_CONDITION_STEPS = 96, SL_CONDITION_NUMBERS = 32, SL_CONDITION_DEPTH = 16 };

struct sl_condition {
	uint32_t n;            /* steps; 0: there is no condition */
	sl_fate_set fates;     /* particles with these fates must meet it */
	sl_column_set columns; /* set of columns that the program reads, without fate */
	uint32_t n_numbers;
	uint8_t operation[SL_CONDITION_STEPS]; /* enum sl_operation */
	uint8_t operand[SL_CONDITION_STEPS];   /* number of a column, constant or fate; exponent */
	double number[SL_CONDITION_NUMBERS];   /* the constants */
};

/* The number of operands that an operation pops. */
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

/* The value of a column of particle i, which has the given id. */
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

/* x to a power, which is the operand of the step. */
SL_HD double sl_condition_power(double x, uint32_t operand)
{
	double product = x;

	for (uint32_t k = operand & ~(uint32_t)SL_POWER_INVERSE; k > 1; k--)
		product *= x;
	return operand & SL_POWER_INVERSE ? 1.0 / product : product;
}

/* The bits of a whole number; 0 for numbers that 64 bits cannot hold, whose cast is not defined. */
SL_HD uint64_t sl_condition_bits(double x)
{
	return x >= 0.0 && x < 0x1p64 ? (uint64_t)x : 0;
}

/*
 * The result of an operation on the two top numbers a and b; a unary operation uses only b. operand
 * is that of the step.
 */
SL_HD double sl_condition_operate(enum sl_operation operation, uint32_t operand, double a, double b)
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
	case SL_OP_power:
		return sl_condition_power(b, operand);
	case SL_OP_bits:
		return (double)(sl_condition_bits(a) & sl_condition_bits(b));
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
	case SL_OP_both: /* operands are 0 or 1 */
		return a * b;
	case SL_OP_either:
		return a > b ? a : b;
	default: /* opposite */
		return 1.0 - b;
	}
}

/* Whether particle i of the columns, with the given id and fate, meets the condition. */
SL_HD bool sl_condition_holds(const struct sl_condition *k, const struct sl_columns *c, uint64_t i,
	uint64_t id, uint8_t fate)
{
	double stack[SL_CONDITION_DEPTH + 1] = {0}; /* entry 0 is below the first operand */
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

			stack[under] =
				sl_condition_operate(operation, operand, stack[under], stack[top]);
			top = under;
		}
	}
	return stack[top] != 0.0;
}

/* The final fate of particle i: its own, or dropped. */
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
