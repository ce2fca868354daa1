/*
 * stop.c - the rule by which a run ends early, as a goal.
 *
 *	rel_error(reflected) < 1e-3
 *	rel_error(reflected) < 0.1 %
 */
#include "pipeline/resolve/output/stop.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/choices/names.h"
#include "pipeline/text/messages.h"

#define WHEN  "stop.when"
#define WORTH "rel_error"

enum { MIN_BATCHES = 5 }; /* below, an error from their scatter is itself off by half and more */

/* A rule while it is taken apart: "worth(fate) sign bound", as far as it goes. */
struct parts {
	char worth[SL_WORD_BYTES], fate[SL_WORD_BYTES], bound[SL_WORD_BYTES];
	char sign; /* NUL when something else stands there */
};

/* Copies the bytes from..to without the spaces around them; cut where they are too many. */
static void cut(const char *from, const char *to, char word[SL_WORD_BYTES])
{
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	snprintf(word, SL_WORD_BYTES, "%.*s", (int)(to - from), from);
}

/* False when text has not the shape of a rule. */
static bool split(const char *text, struct parts *p)
{
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;

	if (!close)
		return false;
	cut(text, open, p->worth);
	cut(open + 1, close, p->fate);
	close += 1 + strspn(close + 1, " ");
	p->sign = *close;
	cut(close + (p->sign != '\0'), text + strlen(text), p->bound);
	return true;
}

/* The fate that an example is made with: one that is kept, or else any. */
static const char *example(const struct sl_choices *choices)
{
	sl_fate_set set = choices->keep ? choices->keep : choices->model->fates;
	int f = SL_FATE_alive + 1;

	while (f + 1 < SL_FATE_COUNT && !SL_HAS(set, f))
		f++;
	return sl_fate_facts[f].name;
}

/* Reads "1e-3" or "0.1 %"; why says what is wrong. */
static bool parse_bound(const char *bound, double *below, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES];

	if (!sl_part_parse(bound, below, why))
		return false;
	if (*below > 0 && *below < 1)
		return true;
	return sl_refuse(why,
		"%s is out of range (a relative error worth waiting for is above 0 and below 1), "
		"try 1e-3",
		sl_show(shown, bound));
}

static void resolve_when(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	const char *fate = example(choices);
	char shown[SL_SHOWN_BYTES], why[SL_WHY_BYTES];
	struct sl_stop_rule *g = &choices->stop_rule;
	struct parts p;

	if (!split(c->stop.when, &p)) {
		sl_config_complain(r, WHEN,
			"%s is no rule (one tells what is to fall below what), try " WORTH
			"(%s) < 1e-3",
			sl_show(shown, c->stop.when), fate);
	} else if (strcmp(p.worth, WORTH) != 0) {
		sl_config_complain(r, WHEN,
			"%s is nothing to stop by (the relative error of a fate is), try " WORTH
			"(%s) < 1e-3",
			sl_show(shown, p.worth), fate);
	} else if (!sl_resolve_fate(r, WHEN, p.fate, choices, &g->fate)) {
		return; /* which has been said */
	} else if (p.sign != '<' || *p.bound == '=') {
		sl_config_complain(r, WHEN,
			"%s has no < behind its fate (an error is waited for to fall), try " WORTH
			"(%s) < 1e-3",
			sl_show(shown, c->stop.when), p.fate);
	} else if (!parse_bound(p.bound, &g->below, why)) {
		sl_config_complain(r, WHEN, "%s", why);
	}
	g->counts = choices->model->read;
	g->min_batches = c->stop.min_batches ? c->stop.min_batches : MIN_BATCHES;
}

void sl_resolve_stop(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	if (c->stop.when[0])
		resolve_when(c, r, choices);
	else if (sl_config_given(r, "stop.min_batches") && !sl_config_flawed(r, "stop"))
		sl_config_complain(r, "stop.min_batches",
			"does nothing here (there is no stop.when to wait with), try removing it");
}
