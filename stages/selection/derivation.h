/*
 * derivation.h - derived columns: a short program that computes columns of a particle from its
 * other columns, the same on host and device.
 *
 * The program is that of a condition (condition.h) with functions and an operation that stores: a
 * stack of doubles in postfix order. Columns are derived after the last step of a particle and
 * before the condition of keep. A value is rounded to a float when it is stored, and a column that
 * is derived from another one reads that float. All NaNs have the same bits.
 */
#ifndef SL_STAGES_SELECTION_DERIVATION_H
#define SL_STAGES_SELECTION_DERIVATION_H

#include "stages/particle/math.h"
#include "stages/selection/condition.h"
#include "stages/selection/functions.h"

SL_C_BEGIN

/* The functions and the number of operands that each pops; store pops one and pushes nothing. */
#define SL_FUNCTIONS(X)  \
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

/* They follow enum sl_operation. Conditions have none of them: more cases would slow them down. */
enum {
	SL_FUNCTION_BEFORE = SL_OPERATION_COUNT - 1,
#define X(name, takes) SL_FN_##name,
	SL_FUNCTIONS(X)
#undef X
};

enum {
	SL_DERIVATION_STEPS = 160,
	SL_DERIVATION_NUMBERS = 40,
	SL_DERIVE_BLOCK = 64 /* particles that the host derives together */
};

struct sl_derivation {
	uint32_t n;            /* steps; 0: no column is derived */
	sl_column_set columns; /* set of the columns that the program stores */
	sl_column_set reads;   /* set of the other columns that it reads */
	uint32_t n_numbers;
	uint8_t operation[SL_DERIVATION_STEPS]; /* enum sl_operation or a function */
	uint8_t operand[SL_DERIVATION_STEPS];   /* of store: the column */
	double number[SL_DERIVATION_NUMBERS];
};

/* The number of operands that an operation or function pops. */
SL_HD uint32_t sl_derivation_takes(uint32_t operation)
{
	switch (operation) {
#define X(name, takes)     \
	case SL_FN_##name: \
		return takes;
		SL_FUNCTIONS(X)
#undef X
	default:
		return sl_condition_takes((enum sl_operation)operation);
	}
}

/* The result of an operation or function on the two top numbers a and b, or on b. */
SL_HD_PART double sl_derivation_operate(uint32_t operation, uint32_t operand, double a, double b)
{
	switch (operation) {
	case SL_FN_sqrt:
		return sqrt(b);
	case SL_FN_hypot:
		return sl_hypot(a, b);
	case SL_FN_atan2:
		return sl_atan2(a, b);
	case SL_FN_exp:
		return sl_exp_double(b);
	case SL_FN_log:
		return sl_log_double(b);
	case SL_FN_pow:
		return sl_pow(a, b);
	case SL_FN_min:
		return sl_min(a, b);
	case SL_FN_max:
		return sl_max(a, b);
	case SL_FN_wavelength:
		return sl_wavelength(a, b);
	default:
		return sl_condition_operate((enum sl_operation)operation, operand, a, b);
	}
}

/* The value of a derived column: rounded, with the one NaN. */
SL_HD float sl_derived_value(double x)
{
	return x == x ? (float)x : sl_float(SL_NAN_BITS);
}

/* Stores a value in a derived column of particle i. */
SL_HD void sl_derivation_store(
	const struct sl_columns *c, uint32_t column, uint64_t i, double value)
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

/* Derives the columns of particle i, which has the given id. pdg is not read without the column. */
SL_HD void sl_derive(
	const struct sl_derivation *d, const struct sl_columns *c, uint64_t i, uint64_t id)
{
	double stack[SL_CONDITION_DEPTH + 1] = {0}; /* entry 0 is below the first operand */
	uint32_t top = 0;

	for (uint32_t step = 0; step < d->n; step++) {
		uint32_t operation = d->operation[step], operand = d->operand[step];

		if (operation == SL_OP_column) {
			stack[++top] = sl_condition_value((enum sl_column)operand, c, i, id);
		} else if (operation == SL_OP_number) {
			stack[++top] = d->number[operand];
		} else if (operation == SL_FN_rest) {
			stack[++top] = sl_rest_energy((double)c->pdg[i]);
		} else if (operation == SL_FN_store) {
			sl_derivation_store(c, operand, i, stack[top--]);
		} else {
			uint32_t under = top + 1 - sl_derivation_takes(operation);

			stack[under] =
				sl_derivation_operate(operation, operand, stack[under], stack[top]);
			top = under;
		}
	}
}

/* Derives the columns of one particle. */
SL_HD void sl_derive_particle(const struct sl_derivation *d, struct sl_particle *p)
{
	struct sl_columns columns = sl_columns_of(p);

	sl_derive(d, &columns, 0, p->id);
}

SL_C_END

#endif
