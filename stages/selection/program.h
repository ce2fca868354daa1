/*
 * program.h - a short program on the columns of a particle, the same on host and device: the
 * condition of keep, or the derived columns.
 *
 * The program is in postfix order for a stack of doubles, which hold the values of all columns
 * exactly. True is 1 and false is 0. IEEE 754 rounds each operation in exactly one way, so all
 * machines agree to the bit. A comparison with NaN is false, except !=.
 *
 * A power multiplies one factor after another: x^3 is (x * x) * x, and x^-3 is 1 / ((x * x) * x). A
 * bit test works on whole numbers from 0 to 2^64 - 1; all bits of other numbers are 0.
 *
 * Derived columns are computed by stores after the last step of a particle and before the condition
 * of keep. A value is rounded to a float when it is stored, and a column that is derived from
 * another one reads that float. All NaNs have the same bits.
 *
 * A condition leaves its truth value on the stack. A particle whose fate is kept on condition, and
 * that does not meet the condition, gets the fate dropped, so that it is counted.
 */
#ifndef SL_STAGES_SELECTION_PROGRAM_H
#define SL_STAGES_SELECTION_PROGRAM_H

#include <math.h>
#include <stdbool.h>

#include "stages/particle/math.h"
#include "stages/particle/particle.h"
#include "stages/selection/functions.h"

SL_C_BEGIN

/*
 * The operations and the number of operands that each pops; each but store pushes one result. Those
 * from sqrt on are in programs of derived columns only.
 */
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
	X(opposite, 1)   \
	X(sqrt, 1)       \
	X(hypot, 2)      \
	X(atan2, 2)      \
	X(exp, 1)        \
	X(log, 1)        \
	X(pow, 2)        \
	X(min, 2)        \
	X(max, 2)        \
	X(rest, 0)       \
	X(wavelength, 2) \
	X(store, 1)

enum sl_operation {
#define X(name, takes) SL_OP_##name,
	SL_OPERATIONS(X)
#undef X
		SL_OPERATION_COUNT
};

/* The operand of a power is its exponent, from 1; this bit is set if the result is inverted. */
enum { SL_POWER_INVERSE = 0x80 };

enum {
	SL_PROGRAM_STEPS = 160,
	SL_PROGRAM_NUMBERS = 40,
	SL_PROGRAM_DEPTH = 16,
	SL_EXPRESSION_STEPS = 96, /* of keep, or of one column */
	SL_EXPRESSION_NUMBERS = 32
};

struct sl_program {
	uint32_t n; /* steps; 0: there is no condition, or no derived column */
	uint32_t n_numbers;
	sl_fate_set fates;    /* condition: particles with these fates must meet it; else 0 */
	sl_column_set reads;  /* set of columns that it reads, without fate and those it stores */
	sl_column_set stores; /* set of columns that it derives */
	uint8_t operation[SL_PROGRAM_STEPS]; /* enum sl_operation */
	uint8_t operand[SL_PROGRAM_STEPS];   /* number of a column, constant or fate; exponent */
	double number[SL_PROGRAM_NUMBERS];   /* the constants */
};

/* The number of operands that an operation pops. */
SL_HD uint32_t sl_program_takes(enum sl_operation operation)
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
SL_HD double sl_program_value(
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
SL_HD double sl_program_power(double x, uint32_t operand)
{
	double product = x;

	for (uint32_t k = operand & ~(uint32_t)SL_POWER_INVERSE; k > 1; k--)
		product *= x;
	return operand & SL_POWER_INVERSE ? 1.0 / product : product;
}

/* The bits of a whole number; 0 for numbers that 64 bits cannot hold, whose cast is not defined. */
SL_HD uint64_t sl_program_bits(double x)
{
	return x >= 0.0 && x < 0x1p64 ? (uint64_t)x : 0;
}

/*
 * The result of an operation on the two top numbers a and b; a unary operation uses only b. operand
 * is that of the step.
 */
SL_HD double sl_program_operate(enum sl_operation operation, uint32_t operand, double a, double b)
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
		return sl_program_power(b, operand);
	case SL_OP_bits:
		return (double)(sl_program_bits(a) & sl_program_bits(b));
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

/*
 * As sl_program_operate(), with the functions that only derived columns have. Apart, because more
 * cases would make conditions slower.
 */
SL_HD_PART double sl_program_call(enum sl_operation operation, uint32_t operand, double a, double b)
{
	switch (operation) {
	case SL_OP_sqrt:
		return sqrt(b);
	case SL_OP_hypot:
		return sl_hypot(a, b);
	case SL_OP_atan2:
		return sl_atan2(a, b);
	case SL_OP_exp:
		return sl_exp_double(b);
	case SL_OP_log:
		return sl_log_double(b);
	case SL_OP_pow:
		return sl_pow(a, b);
	case SL_OP_min:
		return sl_min(a, b);
	case SL_OP_max:
		return sl_max(a, b);
	case SL_OP_wavelength:
		return sl_wavelength(a, b);
	default:
		return sl_program_operate(operation, operand, a, b);
	}
}

/* The value of a derived column: rounded, with the one NaN. */
SL_HD float sl_derived_value(double x)
{
	return x == x ? (float)x : sl_float(SL_NAN_BITS);
}

/* Stores a value in a derived column of particle i. */
SL_HD void sl_program_store(const struct sl_columns *c, uint32_t column, uint64_t i, double value)
{
	switch (column) {
#define X(name)                                       \
	case SL_COLUMN_##name:                        \
		c->name[i] = sl_derived_value(value); \
		break;
		SL_DERIVED_LIST(X)
#undef X
	default:
		break;
	}
}

/*
 * Executes a program for particle i of the columns, which has the given id and fate; returns the
 * last value on the stack. derives: it has functions and stores, and no fates; pdg is not read
 * without the column.
 */
SL_HD_PART double sl_program_execute(const struct sl_program *p, bool derives,
	const struct sl_columns *c, uint64_t i, uint64_t id, uint8_t fate)
{
	double stack[SL_PROGRAM_DEPTH + 1] = {0}; /* entry 0 is below the first operand */
	uint32_t top = 0;

	for (uint32_t step = 0; step < p->n; step++) {
		uint32_t operand = p->operand[step];
		enum sl_operation operation = (enum sl_operation)p->operation[step];

		if (operation == SL_OP_column) {
			stack[++top] = sl_program_value((enum sl_column)operand, c, i, id);
		} else if (operation == SL_OP_number) {
			stack[++top] = p->number[operand];
		} else if (!derives && operation == SL_OP_fate) {
			stack[++top] = fate == operand ? 1.0 : 0.0;
		} else if (derives && operation == SL_OP_rest) {
			stack[++top] = sl_rest_energy((double)c->pdg[i]);
		} else if (derives && operation == SL_OP_store) {
			sl_program_store(c, operand, i, stack[top--]);
		} else {
			uint32_t under = top + 1 - sl_program_takes(operation);
			double a = stack[under], b = stack[top];

			stack[under] = derives ? sl_program_call(operation, operand, a, b)
			                       : sl_program_operate(operation, operand, a, b);
			top = under;
		}
	}
	return stack[top];
}

/* Whether particle i of the columns, with the given id and fate, meets the condition. */
SL_HD bool sl_condition_holds(const struct sl_program *p, const struct sl_columns *c, uint64_t i,
	uint64_t id, uint8_t fate)
{
	return sl_program_execute(p, false, c, i, id, fate) != 0.0;
}

/* The final fate of particle i: its own, or dropped. */
SL_HD uint8_t sl_condition_fate(const struct sl_program *p, const struct sl_columns *c, uint64_t i,
	uint64_t id, uint8_t fate)
{
	if (fate >= SL_FATE_COUNT || !sl_has_fate(p->fates, fate) ||
		sl_condition_holds(p, c, i, id, fate))
		return fate;
	return SL_FATE_dropped;
}

/* Derives the columns of particle i, which has the given id. */
SL_HD void sl_derive(
	const struct sl_program *p, const struct sl_columns *c, uint64_t i, uint64_t id)
{
	sl_program_execute(p, true, c, i, id, 0);
}

/* Derives the columns of one particle. */
SL_HD void sl_derive_particle(const struct sl_program *program, struct sl_particle *p)
{
	struct sl_columns columns = sl_columns_of(p);

	sl_derive(program, &columns, 0, p->id);
}

SL_C_END

#endif
