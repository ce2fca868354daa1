/*
 * keep.c - keep: becomes a set of fates, and what is asked of some of them.
 *
 *	transmitted                              a fate
 *	[transmitted, reflected]                 any of them
 *	ekin > 1 keV and abs(z) < 5 cm           particles with such numbers, whatever their fate
 *	transmitted and not (w < 0.5)            both
 *
 * An expression is read by recursive descent into the postfix program of condition.h. Which fates
 * can survive at all, and of which something is asked, is found by running the program on what is
 * known of a particle when only its fate is.
 */
#include "pipeline/resolve/condition/keep.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/choices/names.h"
#include "pipeline/resolve/condition/expression.h"
#include "pipeline/text/messages.h"

/* --- the fates -------------------------------------------------------------------------------- */

/* What is known of a truth: it is false, true or either. */
enum known { NO, YES, MAYBE };

static enum known operate(enum sl_operation operation, enum known a, enum known b)
{
	switch (operation) {
	case SL_OP_both:
		return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
	case SL_OP_either:
		return a == YES || b == YES ? YES : a == NO && b == NO ? NO : MAYBE;
	case SL_OP_opposite:
		return b == MAYBE ? MAYBE : b == YES ? NO : YES;
	default: /* of numbers, which nobody knows yet */
		return MAYBE;
	}
}

/* Does a particle with that fate meet the conditions? */
static enum known meets(const struct sl_condition *k, int fate)
{
	enum known stack[SL_CONDITION_DEPTH + 1] = {NO};
	uint32_t top = 0;

	for (uint32_t step = 0; step < k->n; step++) {
		enum sl_operation operation = (enum sl_operation)k->operation[step];
		uint32_t takes = sl_condition_takes(operation), under = top + 1 - takes;

		if (operation == SL_OP_fate)
			stack[under] = k->operand[step] == fate ? YES : NO;
		else
			stack[under] =
				operate(operation, takes > 1 ? stack[under] : NO, stack[top]);
		top = under;
	}
	return stack[top];
}

/* Those that can survive, and those of which something is asked; without any of these, no steps. */
static void divide_fates(sl_fate_set fates, struct sl_condition *k, struct sl_choices *choices)
{
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		enum known known = SL_HAS(fates, f) ? meets(k, f) : NO;

		choices->keep |= known != NO ? SL_FATE_BIT(f) : 0;
		k->fates |= known == MAYBE ? SL_FATE_BIT(f) : 0;
	}
	if (k->fates != 0)
		choices->condition = *k;
}

/* --- the items -------------------------------------------------------------------------------- */

static bool is_word(const char *text)
{
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return *text == '\0';
}

/* A fate by its name; seen are those named before. */
static bool resolve_name(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, sl_fate_set *seen, struct sl_condition *k)
{
	char shown[SL_SHOWN_BYTES];
	enum sl_fate fate;

	if (!sl_resolve_fate(r, key, word, choices, &fate))
		return false;
	if (SL_HAS(*seen, fate)) {
		sl_config_complain(r, key, "%s is repeated (once is enough), try removing it",
			sl_show(shown, word));
		return false;
	}
	*seen |= SL_FATE_BIT(fate);
	return sl_expression_add_fate(r, key, fate, k);
}

void sl_resolve_keep(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	sl_fate_set fates = choices->model->fates & ~SL_FATE_BIT(SL_FATE_alive), seen = 0;
	struct sl_condition k = {.n = 0};
	bool right = c->keep.n > 0;

	for (uint32_t i = 0; i < c->keep.n; i++) {
		const char *text = c->keep.at[i];
		char key[SL_WORD_BYTES];

		snprintf(key, sizeof(key), "keep[%u]", i);
		right &= is_word(text) ? resolve_name(r, key, text, choices, &seen, &k)
		                       : sl_expression_add(r, key, text, choices->model, &k);
	}
	if (!right)
		return;
	divide_fates(fates, &k, choices);
	if (choices->keep == 0)
		sl_config_complain(r, "keep",
			"keeps nothing (no fate of %s meets it), try another condition",
			choices->model->name);
}
