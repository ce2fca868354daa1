/*
 * replay_json.c - prints a history as one JSON object, through a buffer of fixed size.
 *
 * The buffer is written out after each step and each draw, so a history may have any length.
 */
#include "pipeline/text/json.h"
#include "pipeline/replay/replay_json.h"
#include "stages/host/history.h"

enum {
	PIECE_BYTES = 1 << 16, /* the longest, the head, has a path of 4096 bytes, escaped */
	WORD_DIGITS = 8
};

struct document {
	const struct sl_replay_writer *t;
	struct sl_json json;
	uint64_t steps; /* until now */
};

/* Prints the text in the buffer and empties the buffer; open JSON levels stay open. */
static void hand_over(struct document *d)
{
	fwrite(d->json.text, 1, d->json.used, d->t->out);
	d->json.used = 0;
}

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
		struct sl_replay_value told = sl_replay_value_of(p, c);

		if (!sl_replay_shows(t, c))
			continue;
		if (told.is_real)
			sl_json_real(j, sl_column_facts[c].name, (double)told.real);
		else if (told.count < 0)
			sl_json_real(j, sl_column_facts[c].name, (double)told.count);
		else
			sl_json_u64(j, sl_column_facts[c].name, (uint64_t)told.count);
	}
	sl_json_text(j, sl_column_facts[SL_COLUMN_fate].name, sl_fate_facts[p->fate].name);
}

static bool write_step(void *of, const struct sl_history_step *s)
{
	struct document *d = (struct document *)of;
	struct sl_json *j = &d->json;

	d->steps = s->number;
	if (s->number > 0)
		close_step(j);
	sl_json_object(j, NULL);
	sl_json_u64(j, "step", s->number);
	sl_json_text(j, "event", s->event);
	write_values(j, d->t, &s->p);
	sl_json_array(j, "draws");
	hand_over(d);
	return !ferror(d->t->out);
}

static void write_draw(void *of, uint64_t block, struct sl_words words)
{
	struct document *d = (struct document *)of;
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
	hand_over(d);
}

static void write_end(struct document *d, const struct sl_particle *p)
{
	const struct sl_replay_writer *t = d->t;
	struct sl_json *j = &d->json;

	close_step(j);
	sl_json_close(j);
	sl_json_text(j, "fate", sl_fate_facts[p->fate].name);
	sl_json_u64(j, "steps", d->steps);
	if (sl_replay_has_collisions(t))
		sl_json_u64(j, "collisions", p->collisions);
	sl_json_bool(j, "survives", sl_replay_survives(t, p));
	if (sl_replay_has_key(t, p))
		sl_json_hex(j, "key", sl_replay_key(t, *p), sl_replay_key_digits(t));
	sl_json_close(j);
	hand_over(d);
	fputc('\n', t->out);
}

enum sl_status sl_replay_write_json(const struct sl_replay_writer *t)
{
	static char text[PIECE_BYTES];
	struct document d = {.t = t, .json = sl_json_start(text, sizeof(text), true)};
	const struct sl_history_observer watcher = {
		.step = write_step, .draw = write_draw, .ctx = &d};
	struct sl_particle p;

	write_head(&d.json, t);
	if (!sl_json_fits(&d.json))
		return sl_fail(SL_INTERNAL, "the head of the history has outgrown its buffer");
	p = sl_follow_history(&t->plan->recipe, t->id, &watcher);
	write_end(&d, &p);
	return SL_OK;
}
