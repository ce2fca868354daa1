/*
 * program_block.h - executes a program on the host for SL_PROGRAM_BLOCK particles at once.
 *
 * Each step is a loop over the particles of a block, which the compiler vectorises for the level of
 * the processor. A lane performs the operations of sl_program_execute(), so the results are the same.
 */
#ifndef SL_STAGES_SELECTION_PROGRAM_BLOCK_H
#define SL_STAGES_SELECTION_PROGRAM_BLOCK_H

#include "stages/selection/program.h"

enum { SL_PROGRAM_BLOCK = 128 };

/* The numbers of n particles from particle `first` on, which has the given id. */
struct sl_program_block {
	const struct sl_columns *c;
	uint32_t first, n;
	uint64_t id;
	double stack[SL_PROGRAM_DEPTH + 1][SL_PROGRAM_BLOCK];
};

/* Loads a column; each case is a loop over values of one type. Columns of a batch have no ids. */
static inline void sl_program_load_block(
	enum sl_column column, const struct sl_program_block *b, double *to)
{
	const uint64_t *id = b->c->id ? b->c->id + b->first : NULL;

	switch (column) {
#define COLUMN(name, type, unit, record, component, help)                                        \
	case SL_COLUMN_##name:                                                                   \
		for (uint32_t k = 0; k < b->n; k++)                                              \
			to[k] = sl_program_value(SL_COLUMN_##name, b->c, (uint64_t)b->first + k, \
				id ? id[k] : b->id + k);                                         \
		break;
#include "stages/particle/columns.def"
#undef COLUMN
	case SL_COLUMN_COUNT:
		break;
	}
}

/* Replaces the operands a and b, or b alone, by the results of an operation, which go to a. */
static inline void sl_program_operate_block(
	enum sl_operation operation, uint32_t operand, uint32_t n, double *a, const double *b)
{
	switch (operation) {
#define X(name, takes)                                                             \
	case SL_OP_##name:                                                         \
		for (uint32_t k = 0; k < n; k++)                                   \
			a[k] = sl_program_call(SL_OP_##name, operand, a[k], b[k]); \
		break;
		SL_OPERATIONS(X)
#undef X
	case SL_OPERATION_COUNT:
		break;
	}
}

/* Executes one step; returns the new top of the stack. */
static inline uint32_t sl_program_step_block(
	const struct sl_program *p, uint32_t step, struct sl_program_block *b, uint32_t top)
{
	enum sl_operation operation = (enum sl_operation)p->operation[step];
	uint32_t operand = p->operand[step], under = top + 1 - sl_program_takes(operation);
	double *to = b->stack[under];

	switch (operation) {
	case SL_OP_column:
		sl_program_load_block((enum sl_column)operand, b, to);
		break;
	case SL_OP_number:
		for (uint32_t k = 0; k < b->n; k++)
			to[k] = p->number[operand];
		break;
	case SL_OP_fate:
		for (uint32_t k = 0; k < b->n; k++)
			to[k] = b->c->fate[b->first + k] == operand ? 1.0 : 0.0;
		break;
	case SL_OP_rest:
		for (uint32_t k = 0; k < b->n; k++)
			to[k] = sl_rest_energy((double)b->c->pdg[b->first + k]);
		break;
	case SL_OP_store:
		for (uint32_t k = 0; k < b->n; k++)
			sl_program_store(b->c, operand, b->first + k, to[k]);
		return top - 1;
	default:
		sl_program_operate_block(operation, operand, b->n, to, b->stack[top]);
	}
	return under;
}

/* Executes a program for the particles of a block; returns the results of a condition. */
static inline const double *sl_program_results(
	const struct sl_program *p, struct sl_program_block *b)
{
	uint32_t top = 0;

	for (uint32_t step = 0; step < p->n; step++)
		top = sl_program_step_block(p, step, b, top);
	return b->stack[top];
}

/*
 * Executes a program for particles from .. to - 1, of which particle 0 has the id first_id. A
 * condition sets the final fates, as sl_condition_fate() does.
 */
static inline void sl_program_range(const struct sl_program *p, const struct sl_columns *c,
	uint64_t first_id, uint32_t from, uint32_t to)
{
	struct sl_program_block b = {.c = c};

	for (b.first = from; b.first < to; b.first += b.n) {
		uint8_t *fate = c->fate + b.first;
		const double *holds;

		b.n = to - b.first < SL_PROGRAM_BLOCK ? to - b.first : (uint32_t)SL_PROGRAM_BLOCK;
		b.id = first_id + b.first;
		holds = sl_program_results(p, &b);
		for (uint32_t k = 0; p->fates != 0 && k < b.n; k++)
			if (holds[k] == 0.0 && fate[k] < SL_FATE_COUNT &&
				sl_has_fate(p->fates, fate[k]))
				fate[k] = SL_FATE_dropped;
	}
}

#endif
