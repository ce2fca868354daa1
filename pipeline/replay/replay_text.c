/*
 * replay_text.c - prints a history as text: a line per step, followed by a line per draw.
 *
 * Columns have fixed widths, so that the lines of draws align with those of steps. Floats have the
 * fewest digits that read back to the same bits: the text can be compared with the files of the run.
 */
#include "pipeline/replay/replay_text.h"
#include "stages/formats/common/decimal.h"
#include "stages/host/history.h"

/* Column widths; a space follows each. A float has at most 15 characters, few more than 13. */
enum { STEP_WIDTH = 5, EVENT_WIDTH = 11, VALUE_WIDTH = 13 };

/* A history that is being printed; the context of the callbacks. */
struct history_text {
	const struct sl_replay_writer *t;
	struct sl_powers powers; /* tables of the conversion to decimal */
	uint64_t steps;          /* number of the last step */
};

/* Prints the fewest digits that read back to the same float, then a separator. */
static void print_real(const struct history_text *x, float real, int width, char separator)
{
	char digits[SL_F32_TEXT_BYTES];
	int n = (int)sl_print_f32(&x->powers, real, digits);

	fprintf(x->t->out, "%-*.*s%c", width, n, digits, separator);
}

/* Does the column have a field in each line? Steps do not: the first field is their number. */
static bool is_printed(const struct sl_replay_writer *t, int column)
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

		if (!is_printed(t, c))
			continue;
		snprintf(title, sizeof(title), "%s%s%s", sl_column_facts[c].name,
			unit[0] ? ", " : "", unit);
		fprintf(t->out, "%-*s ", VALUE_WIDTH, title);
	}
	fprintf(t->out, "%s\n", sl_column_facts[SL_COLUMN_fate].name);
}

/* Prints the line of a step. A closed output ends the history early. */
static bool print_step(void *ctx, const struct sl_history_step *s)
{
	struct history_text *x = (struct history_text *)ctx;
	FILE *out = x->t->out;

	x->steps = s->number;
	fprintf(out, "%-*llu %-*s ", STEP_WIDTH, (unsigned long long)s->number, EVENT_WIDTH,
		s->event);
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		double value = sl_replay_value(&s->p, c);

		if (!is_printed(x->t, c))
			continue;
		if (sl_column_facts[c].type == SL_TYPE_F32)
			print_real(x, (float)value, VALUE_WIDTH, ' ');
		else
			fprintf(out, "%-*.0f ", VALUE_WIDTH, value);
	}
	fprintf(out, "%s\n", sl_fate_facts[s->p.fate].name);
	return !ferror(out);
}

/* Prints a block of four random words, each followed by the uniform number in (0, 1] made of it. */
static void print_draw(void *ctx, uint64_t block, struct sl_words words)
{
	const struct history_text *x = (const struct history_text *)ctx;

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
	char key[SL_REPLAY_KEY_BYTES];

	fprintf(t->out, "\nfate        %s: %s\n", sl_fate_facts[p->fate].name,
		SL_HAS(t->plan->recipe.keep, p->fate) ? "survives" : "does not survive");
	fprintf(t->out, "steps       %llu\n", (unsigned long long)x->steps);
	if (sl_replay_shows(t, SL_COLUMN_collisions))
		fprintf(t->out, "collisions  %u\n", p->collisions);
	if (sl_replay_key(t, *p, key)[0])
		fprintf(t->out, "key         %s (%u bits)\n", key, t->plan->recipe.key_bits);
}

void sl_replay_write_text(const struct sl_replay_writer *t)
{
	struct history_text x = {.t = t};
	const struct sl_history_observer observer = {
		.step = print_step, .draw = print_draw, .ctx = &x};
	struct sl_particle p;

	sl_powers_make(&x.powers);
	print_head(t);
	print_columns(t);
	p = sl_follow_history(&t->plan->recipe, t->id, &observer);
	print_end(&x, &p);
}
