/*
 * keep.c - turns keep into a set of fates and a condition on some of them.
 *
 *	transmitted                              a fate
 *	[transmitted, reflected]                 any of them
 *	ekin > 1 keV and abs(z) < 5 cm           particles of any fate with these properties
 *	pdg in [neutron, photon]                 (operators: condition.h)
 *	transmitted and not (w < 0.5)            both
 *
 * Expressions become the postfix program of condition.h. The program is then evaluated for each
 * fate in three-valued logic, with all comparisons unknown. A result of false means that the fate
 * never survives, true that it always does, and unknown that the condition must be evaluated per
 * particle.
 */
#include "pipeline/resolve/condition/condition.h"

#include <stdio.h>
#include <string.h>

#include "stages/formats/formats.h"

/* --- the fates -------------------------------------------------------------------------------- */

/* A truth value in three-valued logic. */
enum known { NO, YES, MAYBE };

/* The three-valued result of a logical operation; a is ignored by unary ones. */
static enum known operate(enum sl_operation operation, enum known a, enum known b)
{
	switch (operation) {
	case SL_OP_both:
		return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
	case SL_OP_either:
		return a == YES || b == YES ? YES : a == NO && b == NO ? NO : MAYBE;
	case SL_OP_opposite:
		return b == MAYBE ? MAYBE : b == YES ? NO : YES;
	default: /* comparisons and arithmetic: the numbers are unknown */
		return MAYBE;
	}
}

/* Evaluates the program for a particle of which only the fate is known. */
static enum known evaluate(const struct sl_program *k, int fate)
{
	enum known stack[SL_PROGRAM_DEPTH + 1] = {NO};
	uint32_t top = 0;

	for (uint32_t step = 0; step < k->n; step++) {
		enum sl_operation operation = (enum sl_operation)k->operation[step];
		uint32_t takes = sl_program_takes(operation), under = top + 1 - takes;

		/* operands are replaced by the result, as on the device */
		if (operation == SL_OP_fate)
			stack[under] = k->operand[step] == fate ? YES : NO;
		else
			stack[under] =
				operate(operation, takes > 1 ? stack[under] : NO, stack[top]);
		top = under;
	}
	return stack[top];
}

/* Sets the fates that can survive, and the condition if some fate needs it. */
static void divide_fates(sl_fate_set fates, struct sl_program *k, struct sl_choices *choices)
{
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		enum known known = SL_HAS(fates, f) ? evaluate(k, f) : NO;

		choices->keep |= known != NO ? SL_FATE_BIT(f) : 0;
		k->fates |= known == MAYBE ? SL_FATE_BIT(f) : 0;
	}
	if (k->fates != 0)
		choices->condition = *k;
}

/* --- the items -------------------------------------------------------------------------------- */

void sl_resolve_keep(struct sl_resolver *v)
{
	sl_fate_set fates = sl_final_fates(v->to) & ~SL_FATE_BIT(SL_FATE_damaged), seen = 0;
	struct sl_program k = {.n = 0};
	bool right = v->c->keep.n > 0;

	if (!right && v->to->model->resampling && v->to->format != &sl_format_none)
		v->to->keep = fates;
	for (uint32_t i = 0; i < v->c->keep.n; i++) {
		const char *text = v->c->keep.at[i];
		char key[SL_WORD_BYTES];
		enum sl_fate fate;

		snprintf(key, sizeof(key), "keep[%u]", i);
		/* a single word can only be the name of a fate; that of a particle gets a hint */
		if (text[sl_word_length(text)] == '\0' && !sl_species_find(text))
			right &= sl_resolve_fate_once(v, key, text, &seen, &fate) &&
			         sl_expression_add_fate(v, key, fate, &k);
		else
			right &= sl_expression_add(v, key, text, &k);
	}
	if (!right)
		return;
	divide_fates(fates, &k, v->to);
	if (v->to->keep == 0)
		sl_config_add_problem(v->r, "keep",
			"keeps no particle: no fate of model %s meets it; use another condition",
			v->to->model->name);
}
