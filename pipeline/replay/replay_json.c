/*
 * replay_json.c - prints a history as one JSON object.
 *
 * The text goes to the output as it is made, so a history may have any length and no memory is
 * allocated. Input: the callbacks of sl_follow_history(). Keys are read by users: never rename one.
 */
#include "pipeline/text/json.h"
#include "pipeline/replay/replay_json.h"
#include "stages/host/history.h"

enum { WORD_DIGITS = 8 }; /* hexadecimal digits of a random word of 32 bits */

/* A history that is being printed; the context of the callbacks. */
struct document {
	const struct sl_replay_writer *t;
	struct sl_json json;
	uint64_t steps; /* number of the last step */
};

static void write_head(struct sl_json *j, const struct sl_replay_writer *t)
{
	const struct sl_recipe *r = &t->plan->recipe;

	sl_json_object(j, NULL);
	sl_json_text(j, "config", t->config);
	sl_json_text(j, "run", t->plan->config.run.name);
	sl_json_text(j, "model", sl_models[r->model]->name);
	sl_json_u64(j, "seed", r->seed);
	sl_json_u64(j, "particles", r->particles);
	sl_json_u64(j, "id", t->id);
	sl_json_u64(j, "batch", t->id / r->batch);
	sl_json_u64(j, "index", t->id % r->batch);
	sl_json_array(j, "history");
}

/* Closes the draws and the object of a step; a step stays open until the next one begins. */
static void close_step(struct sl_json *j)
{
	sl_json_close(j);
	sl_json_close(j);
}

static void write_values(
	struct sl_json *j, const struct sl_replay_writer *t, const struct sl_particle *p)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		double value = sl_replay_value(p, c);

		if (!sl_replay_shows(t, c))
			continue;
		if (sl_column_facts[c].type == SL_TYPE_F32 || value < 0)
			sl_json_real(j, sl_column_facts[c].name, value);
		else
			sl_json_u64(j, sl_column_facts[c].name, (uint64_t)value);
	}
	sl_json_text(j, sl_column_facts[SL_COLUMN_fate].name, sl_fate_facts[p->fate].name);
}

/* Writes a step and opens the array of its draws. A closed output ends the history early. */
static bool write_step(void *ctx, const struct sl_history_step *s)
{
	struct document *d = (struct document *)ctx;
	struct sl_json *j = &d->json;

	d->steps = s->number;
	if (s->number > 0)
		close_step(j);
	sl_json_object(j, NULL);
	sl_json_u64(j, "step", s->number);
	sl_json_text(j, "event", s->event);
	write_values(j, d->t, &s->p);
	sl_json_array(j, "draws");
	return !ferror(d->t->out);
}

/* Writes one block of four random words, each also as the uniform number in (0, 1] made of it. */
static void write_draw(void *ctx, uint64_t block, struct sl_words words)
{
	struct document *d = (struct document *)ctx;
	struct sl_json *j = &d->json;

	sl_json_object(j, NULL);
	sl_json_u64(j, "block", block);
	sl_json_array(j, "words");
	for (int i = 0; i < 4; i++)
		sl_json_hex(j, NULL, words.at[i], WORD_DIGITS);
	sl_json_close(j);
	sl_json_array(j, "uniforms");
	for (int i = 0; i < 4; i++)
		sl_json_real(j, NULL, (double)sl_uniform(words.at[i]));
	sl_json_close(j);
	sl_json_close(j);
}

static void write_end(struct document *d, const struct sl_particle *p)
{
	const struct sl_replay_writer *t = d->t;
	struct sl_json *j = &d->json;
	char key[SL_REPLAY_KEY_BYTES];

	close_step(j);
	sl_json_close(j);
	sl_json_text(j, "fate", sl_fate_facts[p->fate].name);
	sl_json_u64(j, "steps", d->steps);
	if (sl_replay_shows(t, SL_COLUMN_collisions))
		sl_json_u64(j, "collisions", p->collisions);
	sl_json_bool(j, "survives", SL_HAS(t->plan->recipe.keep, p->fate));
	if (sl_replay_key(t, *p, key)[0])
		sl_json_text(j, "key", key);
	sl_json_close(j);
	fputc('\n', t->out);
}

void sl_replay_write_json(const struct sl_replay_writer *t)
{
	struct document d = {.t = t, .json = sl_json_stream(t->out)};
	const struct sl_history_observer observer = {
		.step = write_step, .draw = write_draw, .ctx = &d};
	struct sl_particle p;

	write_head(&d.json, t);
	p = sl_follow_history(&t->plan->recipe, t->id, &observer);
	write_end(&d, &p);
}
