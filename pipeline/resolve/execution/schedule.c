/*
 * schedule.c - transport: how a batch of many steps is run, histories or rounds.
 *
 *	compact: every | every 3 | alive < 0.5 | never      and sort: and finish: in the same words
 */
#include "pipeline/resolve/execution/schedule.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/output/sort_key.h"
#include "pipeline/text/messages.h"

/* The keys that only rounds have. */
static const char *const of_rounds[] = {"transport.steps_per_launch", "transport.compact",
	"transport.sort", "transport.key", "transport.finish"};
enum { N_OF_ROUNDS = sizeof(of_rounds) / sizeof(of_rounds[0]) };

enum { KEY_BITS_MOST = 32 };

/* --- when ------------------------------------------------------------------------------------- */

/* What follows word in text, without spaces; NULL when text does not begin with it. */
static const char *behind(const char *text, const char *word)
{
	size_t n = strlen(word);

	text += strspn(text, " ");
	return strncmp(text, word, n) == 0 ? text + n + strspn(text + n, " ") : NULL;
}

static bool parse_below(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	when->kind = SL_BELOW;
	if (!sl_part_parse(text, &when->below, why))
		return false;
	if (when->below > 0 && when->below <= 1)
		return true;
	return sl_refuse(why,
		"'%s' is out of range (it is a part of those that were alive before, above 0 and "
		"up to 1), try alive < 0.5",
		text);
}

static bool parse_every(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	uint64_t rounds = 1;

	when->kind = SL_EVERY;
	if (*text != '\0' && !sl_count_parse(text, &rounds, why))
		return false;
	when->every = (uint32_t)rounds;
	if (rounds >= 1 && rounds <= UINT32_MAX)
		return true;
	return sl_refuse(
		why, "'%s' is no number of rounds (from 1 on they can be had), try every", text);
}

static bool parse_when(const char *text, struct sl_when *when, char why[SL_WHY_BYTES])
{
	const char *rest = behind(text, "never"), *part = behind(text, "alive");
	char shown[SL_SHOWN_BYTES];

	*when = (struct sl_when){.kind = SL_NEVER};
	if (rest && *rest == '\0')
		return true;
	if (part && (part = behind(part, "<")) != NULL)
		return parse_below(part, when, why);
	rest = behind(text, "every");
	if (rest)
		return parse_every(rest, when, why);
	return sl_refuse(why,
		"%s does not tell when (every, every 4, never or alive < 0.5 do), try alive < 0.5",
		sl_show(shown, text));
}

static void resolve_when(
	struct sl_reader *r, const char *key, const char *text, struct sl_when *when)
{
	char why[SL_WHY_BYTES];

	if (!sl_config_flawed(r, key) && !parse_when(text, when, why))
		sl_config_complain(r, key, "%s", why);
}

static void resolve_finish(
	const struct sl_config *c, struct sl_reader *r, struct sl_schedule *rounds)
{
	struct sl_when when = {.kind = SL_NEVER};

	resolve_when(r, "transport.finish", c->transport.finish, &when);
	if (when.kind == SL_EVERY)
		sl_config_complain(r, "transport.finish",
			"'%s' would finish at once (rounds are finished when few are alive), try "
			"alive < 0.01",
			c->transport.finish);
	rounds->finish = when.kind == SL_BELOW ? when.below : 0;
}

/* --- the key of the living -------------------------------------------------------------------- */

static void resolve_key(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, bool ranges, struct sl_schedule *rounds)
{
	static const char key[] = "transport.key";
	struct sl_key_fields fields = {.n = 0};

	sl_resolve_fields(c, r, choices, key, &c->transport.key, ranges, &fields);
	for (uint32_t k = 0; k < fields.n; k++) {
		rounds->field[k] = sl_key_rule_make(&fields.field[k]);
		if (fields.field[k].column == SL_COLUMN_id)
			sl_config_complain(r, key,
				"has the id (the living are in its order anyway), try removing it");
	}
	rounds->n_fields = fields.n;
	rounds->key_bits = fields.bits;
	if (fields.bits > KEY_BITS_MOST)
		sl_config_complain(r, key, "has %u bits in all (at most %d), try fewer a field",
			fields.bits, KEY_BITS_MOST);
	if (rounds->sort.kind == SL_NEVER && c->transport.key.n > 0)
		sl_config_complain(r, key,
			"does nothing here (transport.sort is never), try transport.sort: every 8");
	if (rounds->sort.kind != SL_NEVER && c->transport.key.n == 0)
		sl_config_complain(r, "transport.sort",
			"has nothing to sort by (transport.key is missing), try transport.key: "
			"[z:8]");
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Does one of them say what rounds are to be? */
static bool is_one_changed(const struct sl_reader *r)
{
	for (int k = 0; k < N_OF_ROUNDS; k++)
		if (sl_config_changed(r, of_rounds[k]))
			return true;
	return false;
}

/* Complains of every key in vain. */
static void refuse_all(
	struct sl_reader *r, const char *const *keys, int n, const char *why, const char *what)
{
	for (int k = 0; k < n; k++)
		if (sl_config_changed(r, keys[k]) && !sl_config_flawed(r, keys[k]))
			sl_config_complain(r, keys[k], "does nothing here (%s), try %s", why, what);
}

void sl_refuse_rounds(struct sl_reader *r, const char *why, const char *what_to_try)
{
	refuse_all(r, of_rounds, N_OF_ROUNDS, why, what_to_try);
}

void sl_resolve_schedule(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges)
{
	static const char *const schedule[] = {"transport.schedule"};
	struct sl_schedule *rounds = &choices->rounds;
	char why[SL_WORD_BYTES];

	choices->schedule = (enum sl_schedule_choice)c->transport.schedule;
	if (!choices->model->steps) {
		snprintf(why, sizeof(why), "%s flies one step", choices->model->name);
		refuse_all(r, schedule, 1, why, "removing it");
		sl_refuse_rounds(r, why, "removing it");
		choices->schedule = SL_BY_HISTORY;
	} else if (choices->schedule == SL_BY_HISTORY) {
		sl_refuse_rounds(r, "transport.schedule is history", "transport.schedule: rounds");
	}
	choices->rounds_named = is_one_changed(r);
	rounds->steps = (uint32_t)c->transport.steps_per_launch;
	resolve_when(r, "transport.compact", c->transport.compact, &rounds->compact);
	resolve_when(r, "transport.sort", c->transport.sort, &rounds->sort);
	resolve_finish(c, r, rounds);
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
