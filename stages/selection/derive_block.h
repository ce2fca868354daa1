/*
 * derive_block.h - derives columns on the host, for SL_DERIVE_BLOCK particles at once.
 *
 * Each step of the program is a loop over the particles of a block, which the compiler vectorises
 * for the level of the processor. A lane performs the operations of sl_derive(), so the bits are
 * the same.
 */
#ifndef SL_STAGES_SELECTION_DERIVE_BLOCK_H
#define SL_STAGES_SELECTION_DERIVE_BLOCK_H

#include "stages/selection/derivation.h"

/* The numbers of n particles from particle `first` on, which has the given id. */
struct sl_derive_block {
	const struct sl_columns *c;
	uint32_t first, n;
	uint64_t id;
	double stack[SL_CONDITION_DEPTH + 1][SL_DERIVE_BLOCK];
};

/* Replaces the operands a and b, or b alone, by the results of an operation, which go to a. */
static inline void sl_derive_operate(
	uint32_t operation, uint32_t operand, uint32_t n, double *a, const double *b)
{
	switch (operation) {
#define X(name, takes)                                                                   \
	case SL_OP_##name:                                                               \
		for (uint32_t k = 0; k < n; k++)                                         \
			a[k] = sl_derivation_operate(SL_OP_##name, operand, a[k], b[k]); \
		break;
		SL_OPERATIONS(X)
#undef X
#define X(name, takes)                                                                   \
	case SL_FN_##name:                                                               \
		for (uint32_t k = 0; k < n; k++)                                         \
			a[k] = sl_derivation_operate(SL_FN_##name, operand, a[k], b[k]); \
		break;
		SL_FUNCTIONS(X)
#undef X
	default:
		break;
	}
}

/* Runs one step; returns the new top of the stack. */
static inline uint32_t sl_derive_step(
	const struct sl_derivation *d, uint32_t step, struct sl_derive_block *b, uint32_t top)
{
	uint32_t operation = d->operation[step], operand = d->operand[step], under;

	switch (operation) {
	case SL_OP_column:
		for (uint32_t k = 0; k < b->n; k++)
			b->stack[top + 1][k] = sl_condition_value(
				(enum sl_column)operand, b->c, b->first + k, b->id + k);
		return top + 1;
	case SL_OP_number:
		for (uint32_t k = 0; k < b->n; k++)
			b->stack[top + 1][k] = d->number[operand];
		return top + 1;
	case SL_FN_rest:
		for (uint32_t k = 0; k < b->n; k++)
			b->stack[top + 1][k] = sl_rest_energy((double)b->c->pdg[b->first + k]);
		return top + 1;
	case SL_FN_store:
		for (uint32_t k = 0; k < b->n; k++)
			sl_derivation_store(b->c, operand, b->first + k, b->stack[top][k]);
		return top - 1;
	default:
		under = top + 1 - sl_derivation_takes(operation);
		sl_derive_operate(operation, operand, b->n, b->stack[under], b->stack[top]);
		return under;
	}
}

/* Derives the columns of particles from to to - 1; particle 0 has the id first_id. */
static inline void sl_derive_range(const struct sl_derivation *d, const struct sl_columns *c,
	uint64_t first_id, uint32_t from, uint32_t to)
{
	struct sl_derive_block b = {.c = c};

	for (b.first = from; b.first < to; b.first += b.n) {
		uint32_t top = 0;

		b.n = to - b.first < SL_DERIVE_BLOCK ? to - b.first : (uint32_t)SL_DERIVE_BLOCK;
		b.id = first_id + b.first;
		for (uint32_t step = 0; step < d->n; step++)
			top = sl_derive_step(d, step, &b, top);
	}
}

#endif
