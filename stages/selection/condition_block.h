/*
 * condition_block.h - evaluates a condition on the host for SL_CONDITION_BLOCK particles at once.
 *
 * Each step of the program is a loop over the particles of a block, which the compiler vectorises
 * for the level of the processor. A lane performs the operations of sl_condition_holds(), so the
 * results are the same.
 */
#ifndef SL_STAGES_SELECTION_CONDITION_BLOCK_H
#define SL_STAGES_SELECTION_CONDITION_BLOCK_H

#include "stages/selection/condition.h"

enum { SL_CONDITION_BLOCK = 64 };

/* The numbers of n particles from particle `first` on, which has the given id. */
struct sl_condition_block {
	const struct sl_columns *c;
	uint32_t first, n;
	uint64_t id;
	double stack[SL_CONDITION_DEPTH + 1][SL_CONDITION_BLOCK];
};

/* Loads a column; each case is a loop over values of one type. */
static inline void sl_condition_load(
	enum sl_column column, const struct sl_condition_block *b, double *to)
{
	switch (column) {
#define COLUMN(name, type, unit, record, component, help)                                   \
	case SL_COLUMN_##name:                                                              \
		for (uint32_t k = 0; k < b->n; k++)                                         \
			to[k] = sl_condition_value(                                         \
				SL_COLUMN_##name, b->c, (uint64_t)b->first + k, b->id + k); \
		break;
#include "stages/particle/columns.def"
#undef COLUMN
	case SL_COLUMN_COUNT:
		break;
	}
}

/* Replaces the operands a and b, or b alone, by the results of an operation, which go to a. */
static inline void sl_condition_operate_block(
	enum sl_operation operation, uint32_t operand, uint32_t n, double *a, const double *b)
{
	switch (operation) {
#define X(name, takes)                                                                  \
	case SL_OP_##name:                                                              \
		for (uint32_t k = 0; k < n; k++)                                        \
			a[k] = sl_condition_operate(SL_OP_##name, operand, a[k], b[k]); \
		break;
		SL_OPERATIONS(X)
#undef X
	case SL_OPERATION_COUNT:
		break;
	}
}

/* Runs one step; returns the new top of the stack. */
static inline uint32_t sl_condition_step(
	const struct sl_condition *k, uint32_t step, struct sl_condition_block *b, uint32_t top)
{
	enum sl_operation operation = (enum sl_operation)k->operation[step];
	uint32_t operand = k->operand[step], under;

	switch (operation) {
	case SL_OP_column:
		sl_condition_load((enum sl_column)operand, b, b->stack[top + 1]);
		return top + 1;
	case SL_OP_number:
		for (uint32_t i = 0; i < b->n; i++)
			b->stack[top + 1][i] = k->number[operand];
		return top + 1;
	case SL_OP_fate:
		for (uint32_t i = 0; i < b->n; i++)
			b->stack[top + 1][i] = b->c->fate[b->first + i] == operand ? 1.0 : 0.0;
		return top + 1;
	default:
		under = top + 1 - sl_condition_takes(operation);
		sl_condition_operate_block(
			operation, operand, b->n, b->stack[under], b->stack[top]);
		return under;
	}
}

/* Sets the final fates of the particles of a block, as sl_condition_fate() does. */
static inline void sl_condition_end_block(
	const struct sl_condition *k, struct sl_condition_block *b)
{
	uint8_t *fate = b->c->fate + b->first;
	uint32_t top = 0;

	for (uint32_t step = 0; step < k->n; step++)
		top = sl_condition_step(k, step, b, top);
	for (uint32_t i = 0; i < b->n; i++)
		if (b->stack[top][i] == 0.0 && fate[i] < SL_FATE_COUNT &&
			sl_has_fate(k->fates, fate[i]))
			fate[i] = SL_FATE_dropped;
}

/*
 * Sets the final fates of particles from .. to - 1, of which the first has the id first_id + from.
 */
static inline void sl_condition_range(const struct sl_condition *k, const struct sl_columns *c,
	uint64_t first_id, uint32_t from, uint32_t to)
{
	struct sl_condition_block b = {.c = c};

	for (b.first = from; k->n > 0 && b.first < to; b.first += b.n) {
		b.n = to - b.first < SL_CONDITION_BLOCK ? to - b.first
		                                        : (uint32_t)SL_CONDITION_BLOCK;
		b.id = first_id + b.first;
		sl_condition_end_block(k, &b);
	}
}

#endif
