/*
 * stop.c - parses stop.when, the relative error of a fate below which a run ends.
 *
 *	rel_error(reflected) < 1e-3
 *	rel_error(reflected) < 0.1 %
 *	sd(log_likelihood) < 0.01		the standard error of the mean over filters
 */
#include "pipeline/resolve/output/output.h"

#include <stdio.h>
#include <string.h>

#define WHEN    "stop.when"
#define MEASURE "rel_error"

enum { MIN_BATCHES = 5 }; /* so that a few heavy weights do not decide */

/* The parts of a rule "measure(fate) sign bound". */
struct stop_rule {
	char measure[SL_WORD_BYTES], fate[SL_WORD_BYTES], bound[SL_WORD_BYTES];
	char sign; /* the first character after the bracket; NUL at the end */
};

/* Copies the bytes from..to without blanks around them; cuts what does not fit. */
static void copy_word(const char *from, const char *to, char word[SL_WORD_BYTES])
{
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	snprintf(word, SL_WORD_BYTES, "%.*s", (int)(to - from), from);
}

/* Splits a rule into its parts; false when it has no fate in brackets. */
static bool split(const char *text, struct stop_rule *p)
{
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;

	if (!close)
		return false;
	copy_word(text, open, p->measure);
	copy_word(open + 1, close, p->fate);
	close += 1 + strspn(close + 1, " ");
	p->sign = *close;
	copy_word(close + (p->sign != '\0'), text + strlen(text), p->bound);
	return true;
}

/* The fate for an example in a message: the first that is kept, or else the first of the model. */
static const char *example(const struct sl_choices *choices)
{
	sl_fate_set set = choices->keep ? choices->keep : sl_final_fates(choices);
	int f = SL_FATE_alive + 1;

	while (f + 1 < SL_FATE_COUNT && !SL_HAS(set, f))
		f++;
	return sl_fate_facts[f].name;
}

/*
 * Resolves stop.when. The parts are checked from left to right, and the first problem is
 * reported.
 */
static void resolve_when(struct sl_resolver *v)
{
	const char *fate = example(v->to);
	struct sl_stop_rule *g = &v->to->stop_rule;
	struct stop_rule p;
	const bool parts = split(v->c->stop.when, &p);

	g->likelihood = parts && v->to->model->resampling && strcmp(p.measure, "sd") == 0 &&
	                strcmp(p.fate, "log_likelihood") == 0;
	if (v->to->model->resampling && !g->likelihood &&
		!(parts && strcmp(p.measure, MEASURE) == 0)) {
		sl_config_add_problem(v->r, WHEN,
			"cannot stop a filter on %s; use sd(log_likelihood) < 0.01",
			sl_shown(v->c->stop.when));
	} else if (!parts) {
		sl_config_add_problem(v->r, WHEN,
			"%s is not a stop rule; use " MEASURE "(%s) < 1e-3",
			sl_shown(v->c->stop.when), fate);
	} else if (!g->likelihood && strcmp(p.measure, MEASURE) != 0) {
		sl_config_add_problem(v->r, WHEN, "cannot stop on %s; use " MEASURE "(%s) < 1e-3",
			sl_shown(p.measure), fate);
	} else if (!g->likelihood && !sl_resolve_fate(v, WHEN, p.fate, &g->fate)) {
		return; /* the problem has been added */
	} else if (p.sign != '<' || *p.bound == '=') {
		sl_config_add_problem(v->r, WHEN, "%s lacks a < after the %s; use %s(%s) < 1e-3",
			sl_shown(v->c->stop.when), g->likelihood ? "bracket" : "fate",
			g->likelihood ? "sd" : MEASURE, p.fate);
	} else if (!sl_fraction_parse(p.bound, &g->below)) {
		sl_config_add_problem(v->r, WHEN, "%s", sl_last_error());
	} else if (!(g->below > 0 && g->below < 1)) {
		sl_config_add_problem(v->r, WHEN,
			"%s is out of range: the bound is above 0 and below 1; use for example 1e-3",
			sl_shown(p.bound));
	}
	g->min_batches = v->c->stop.min_batches ? v->c->stop.min_batches : MIN_BATCHES;
}

void sl_resolve_stop(struct sl_resolver *v)
{
	if (v->c->stop.when[0])
		resolve_when(v);
	else if (!sl_config_has_problem(v->r, "stop"))
		sl_config_refuse_unused(v->r, "stop.min_batches", "stop.when is missing",
			"remove it or add stop.when");
}
