/* replay_text.c - prints a history as text: a line per step, followed by a line per draw. */
#include "pipeline/replay/replay_text.h"
#include "stages/formats/common/decimal.h"
#include "stages/host/history.h"

/* Column widths; a space follows each. A float has at most 15 characters, few more than 13. */
enum { STEP_WIDTH = 5, EVENT_WIDTH = 11, VALUE_WIDTH = 13 };

struct history_text {
	const struct sl_replay_writer *t;
	struct sl_powers powers;
	uint64_t steps; /* until now */
};

/* Prints the fewest digits that read back to the same float, then the character behind. */
static void print_real(const struct history_text *x, float real, int width, char behind)
{
	char digits[SL_F32_TEXT_BYTES];
	int n = (int)sl_print_f32(&x->powers, real, digits);

	fprintf(x->t->out, "%-*.*s%c", width, n, digits, behind);
}

/* Has the column a field in each line? The number of steps is the first field, so not again. */
static bool has_place(const struct sl_replay_writer *t, int column)
{
	return sl_replay_shows(t, column) && column != SL_COLUMN_steps;
}

static void print_head(const struct sl_replay_writer *t)
{
	const struct sl_recipe *r = &t->plan->recipe;

	fprintf(t->out, "config      %s\n", t->config);
	fprintf(t->out, "run         %s: %llu particles, seed %llu, model %s\n",
		t->plan->config.run.name, (unsigned long long)r->particles,
		(unsigned long long)r->seed, sl_models[r->model]->name);
	fprintf(t->out, "particle    %llu: number %llu of batch %llu (%llu batch%s of %u)\n",
		(unsigned long long)t->id, (unsigned long long)(t->id % r->batch),
		(unsigned long long)(t->id / r->batch), (unsigned long long)r->n_batches,
		r->n_batches == 1 ? "" : "es", r->batch);
	fprintf(t->out, "draws       blocks of Philox4x32-10: four words each, in hexadecimal, "
			"with their uniforms\n\n");
}

static void print_columns(const struct sl_replay_writer *t)
{
	fprintf(t->out, "%-*s %-*s ", STEP_WIDTH, "step", EVENT_WIDTH, "event");
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const char *unit = sl_units[sl_column_facts[c].unit].text;
		char title[32];

		if (!has_place(t, c))
			continue;
		snprintf(title, sizeof(title), "%s%s%s", sl_column_facts[c].name,
			unit[0] ? ", " : "", unit);
		fprintf(t->out, "%-*s ", VALUE_WIDTH, title);
	}
	fprintf(t->out, "%s\n", sl_column_facts[SL_COLUMN_fate].name);
}

static bool print_step(void *of, const struct sl_history_step *s)
{
	struct history_text *x = (struct history_text *)of;
	FILE *out = x->t->out;

	x->steps = s->number;
	fprintf(out, "%-*llu %-*s ", STEP_WIDTH, (unsigned long long)s->number, EVENT_WIDTH,
		s->event);
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		struct sl_replay_value told = sl_replay_value_of(&s->p, c);

		if (!has_place(x->t, c))
			continue;
		if (told.is_real)
			print_real(x, told.real, VALUE_WIDTH, ' ');
		else
			fprintf(out, "%-*lld ", VALUE_WIDTH, (long long)told.count);
	}
	fprintf(out, "%s\n", sl_fate_facts[s->p.fate].name);
	return !ferror(out);
}

static void print_draw(void *of, uint64_t block, struct sl_words words)
{
	const struct history_text *x = (const struct history_text *)of;

	fprintf(x->t->out, "%*s block %-*llu ", STEP_WIDTH, "", EVENT_WIDTH - 6,
		(unsigned long long)block);
	for (int i = 0; i < 4; i++) {
		fprintf(x->t->out, "%08x ", words.at[i]);
		print_real(x, sl_uniform(words.at[i]), i < 3 ? VALUE_WIDTH : 0, i < 3 ? ' ' : '\n');
	}
}

static void print_end(const struct history_text *x, const struct sl_particle *p)
{
	const struct sl_replay_writer *t = x->t;

	fprintf(t->out, "\nfate        %s: %s\n", sl_fate_facts[p->fate].name,
		sl_replay_survives(t, p) ? "survives" : "does not survive");
	fprintf(t->out, "steps       %llu\n", (unsigned long long)x->steps);
	if (sl_replay_has_collisions(t))
		fprintf(t->out, "collisions  %u\n", p->collisions);
	if (sl_replay_has_key(t, p))
		fprintf(t->out, "key         %0*llx (%u bits)\n", sl_replay_key_digits(t),
			(unsigned long long)sl_replay_key(t, *p), t->plan->recipe.key_bits);
}

void sl_replay_write_text(const struct sl_replay_writer *t)
{
	struct history_text x = {.t = t};
	const struct sl_history_observer watcher = {
		.step = print_step, .draw = print_draw, .ctx = &x};
	struct sl_particle p;

	sl_powers_make(&x.powers);
	print_head(t);
	print_columns(t);
	p = sl_follow_history(&t->plan->recipe, t->id, &watcher);
	print_end(&x, &p);
}
