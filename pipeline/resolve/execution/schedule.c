/*
 * schedule.c - parses the triggers and the sort key of rounds.
 *
 *	compact: every | every 3 | alive < 0.5 | never
 *	sort:    the same
 *	finish:  alive < 0.01 | never
 */
#include "pipeline/resolve/execution/schedule.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/output/sort_key.h"
#include "pipeline/text/messages.h"

/* The keys that only rounds use. */
static const char *const round_keys[] = {"transport.steps_per_launch", "transport.compact",
	"transport.sort", "transport.key", "transport.finish"};
enum { N_ROUND_KEYS = sizeof(round_keys) / sizeof(round_keys[0]) };

enum { KEY_BITS_MOST = 32 };

/* --- triggers --------------------------------------------------------------------------------- */

/* The text after word and blanks; NULL when text does not start with word. */
static const char *after(const char *text, const char *word)
{
	size_t n = strlen(word);

	text += strspn(text, " ");
	return strncmp(text, word, n) == 0 ? text + n + strspn(text + n, " ") : NULL;
}

/* Parses the fraction of "alive < F", relative to the number alive after the last compaction. */
static bool parse_below(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	when->kind = SL_BELOW;
	if (!sl_fraction_parse(text, &when->below, why))
		return false;
	if (when->below > 0 && when->below <= 1)
		return true;
	return sl_refuse(why,
		"'%s' is out of range: the alive fraction is above 0 and at most 1; use "
		"alive < 0.5",
		text);
}

/* Parses the number of launches of "every N"; without a number it is 1. */
static bool parse_every(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	uint64_t rounds = 1;

	when->kind = SL_EVERY;
	if (*text != '\0' && !sl_count_parse(text, &rounds, why))
		return false;
	when->every = (uint32_t)rounds;
	if (rounds >= 1 && rounds <= UINT32_MAX)
		return true;
	return sl_refuse(why, "'%s' is not a number of rounds from 1; use every or every 4", text);
}

/* Parses a trigger; false with why set when it is none. */
static bool parse_when(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	const char *rest = after(text, "never"), *part = after(text, "alive");
	char shown[SL_SHOWN_BYTES];

	*when = (struct sl_when){.kind = SL_NEVER};
	if (rest && *rest == '\0')
		return true;
	if (part && (part = after(part, "<")) != NULL)
		return parse_below(part, when, why);
	rest = after(text, "every");
	if (rest)
		return parse_every(rest, when, why);
	return sl_refuse(why, "%s is not a schedule; use every, every N, never or alive < F",
		sl_show(shown, text));
}

/* Parses the trigger of a key, or adds a problem. */
static void resolve_when(
	struct sl_reader *r, const char *key, const char *text, struct sl_when *when)
{
	char why[SL_WHY_BYTES];

	if (!sl_config_has_problem(r, key) && !parse_when(text, when, why))
		sl_config_add_problem(r, key, "%s", why);
}

/* Resolves transport.finish, which has no meaning as "every N". */
static void resolve_finish(
	const struct sl_config *c, struct sl_reader *r, struct sl_schedule *rounds)
{
	struct sl_when when = {.kind = SL_NEVER};

	resolve_when(r, "transport.finish", c->transport.finish, &when);
	if (when.kind == SL_EVERY)
		sl_config_add_problem(r, "transport.finish",
			"'%s' has no meaning here: the rounds finish when few particles are alive; use alive < "
			"F, such as alive < 0.01",
			c->transport.finish);
	rounds->finish = when.kind == SL_BELOW ? when.below : 0;
}

/* --- the sort key of rounds ------------------------------------------------------------------- */

/* Resolves transport.key and checks it against transport.sort: each needs the other. */
static void resolve_key(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, bool ranges, struct sl_schedule *rounds)
{
	static const char key[] = "transport.key";
	struct sl_key_fields fields = {.n = 0};

	sl_resolve_fields(c, r, choices, NULL, key, &c->transport.key, ranges, &fields);
	for (uint32_t k = 0; k < fields.n; k++) {
		rounds->field[k] = sl_key_rule_make(&fields.field[k]);
		if (fields.field[k].column == SL_COLUMN_id)
			sl_config_add_problem(r, key,
				"contains id, but alive particles are in the order of id already; remove it");
	}
	rounds->n_fields = fields.n;
	rounds->key_bits = fields.bits;
	if (fields.bits > KEY_BITS_MOST)
		sl_config_add_problem(r, key,
			"has %u bits in total, at most %d are allowed; use fewer per field",
			fields.bits, KEY_BITS_MOST);
	if (rounds->sort.kind == SL_NEVER && c->transport.key.n > 0)
		sl_config_add_problem(r, key,
			"has no effect: transport.sort is never; use transport.sort: every 8");
	if (rounds->sort.kind != SL_NEVER && c->transport.key.n == 0)
		sl_config_add_problem(r, "transport.sort",
			"needs a sort key, but transport.key is missing; add transport.key: [z:8]");
}

/* --- the interface -------------------------------------------------------------------------------- */

/* Does any parameter of rounds differ from its default? */
static bool is_any_changed(const struct sl_reader *r)
{
	for (int k = 0; k < N_ROUND_KEYS; k++)
		if (sl_config_changed(r, round_keys[k]))
			return true;
	return false;
}

void sl_refuse_rounds(struct sl_reader *r, const char *why, const char *advice)
{
	for (int k = 0; k < N_ROUND_KEYS; k++)
		sl_config_refuse_unused(r, round_keys[k], why, advice);
}

void sl_resolve_schedule(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges)
{
	static const char why[] = "the model has a single step";
	struct sl_schedule *rounds = &choices->rounds;

	choices->schedule = (enum sl_schedule_choice)c->transport.schedule;
	/* a model with a single step has nothing to schedule */
	if (!choices->model->steps) {
		sl_config_refuse_unused(r, "transport.schedule", why, "remove it");
		sl_refuse_rounds(r, why, "remove it");
		choices->schedule = SL_BY_HISTORY;
	} else if (choices->schedule == SL_BY_HISTORY) {
		sl_refuse_rounds(
			r, "transport.schedule is history", "use transport.schedule: rounds");
	}
	choices->rounds_named = is_any_changed(r);
	rounds->steps = (uint32_t)c->transport.steps_per_launch;
	resolve_when(r, "transport.compact", c->transport.compact, &rounds->compact);
	resolve_when(r, "transport.sort", c->transport.sort, &rounds->sort);
	resolve_finish(c, r, rounds);
	/* with histories, every key of rounds that was given is refused already */
	if (choices->schedule != SL_BY_HISTORY)
		resolve_key(c, r, choices, ranges, rounds);
}

const char *sl_when_text(const struct sl_when *when, char text[SL_WHEN_BYTES])
{
	switch (when->kind) {
	case SL_NEVER:
		return "never";
	case SL_EVERY:
		snprintf(text, SL_WHEN_BYTES, when->every > 1 ? "every %u" : "every", when->every);
		break;
	case SL_BELOW:
		snprintf(text, SL_WHEN_BYTES, "alive < %.6g", when->below);
		break;
	}
	return text;
}

const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES])
{
	char compact[SL_WHEN_BYTES], sort[SL_WHEN_BYTES], finish[SL_WHEN_BYTES];
	const struct sl_when last = {
		.kind = s->finish > 0 ? SL_BELOW : SL_NEVER, .below = s->finish};

	if (s->steps == 0)
		return "histories: each particle to its end";
	snprintf(text, SL_SCHEDULE_BYTES, "rounds of %u steps, compact %s, sort %s, finish %s",
		s->steps, sl_when_text(&s->compact, compact), sl_when_text(&s->sort, sort),
		sl_when_text(&last, finish));
	return text;
}
