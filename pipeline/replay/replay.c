/*
 * replay.c - checks the id and prints the history of that particle. Keys are read by users: never
 * rename one.
 *
 * A particle depends on (seed, id) only, so one particle is computed alone on the CPU, by the same
 * rules of the model as in a run. The cost is that of one history, whatever the size of the run. A
 * particle of a filter has ancestors: the filter runs again and records who was copied where; then
 * the states of the ancestors are computed alone.
 * The columns and the key are those of the files of the run, so that a row of a file can be
 * compared with the last step.
 */
#include "pipeline/replay/replay.h"

#include <string.h>

#include "pipeline/plan/plan.h"
#include "pipeline/print/result.h"
#include "pipeline/run/run.h"
#include "stages/host/host.h"

static const struct sl_line lines[] = {
	{"config", "config", "{}"},
	{"", "run", "{run}: {particles~particle}, seed {seed}, model {model}"},
	{"", "particle", "{id}: number {index} of batch {batch} ({batches~batch} of {batch_size})"},
	{"", "draws",
		"blocks of Philox4x32-10: four words each, in hexadecimal, then their uniforms"},
	{"history.*", "\nstep  event       {row.*:-13}fate\n",
		"{step:-5} {event:-12}{row.*:-13r}{fate}"
		"<draws|\n      block {block:-5} {words.*:-8}{uniforms.*:-13r}>"},
	{"", "\n", "fate        {fate}: [{?survives}survives][{!survives}does not survive]"},
	{"", "steps", "{steps}"},
	{"", NULL, "[collisions  {collisions}]"},
	{"key", "key", "{} ({^key_bits} bits)"},
	{NULL, NULL, NULL},
};

enum { WORD_DIGITS = 8 };

/* A history that is being printed; the context of the callbacks. */
struct replay {
	const struct sl_plan *plan;
	uint64_t id, steps; /* number of the last step */
	bool text;
	struct sl_result result;
};

void sl_replay_use_cpu(struct sl_config *c)
{
	static const char automatic[] = "auto";

	snprintf(c->run.device, sizeof(c->run.device), "cpu");
	c->run.mode = 0;
	c->run.threads = 1;
	memcpy(c->primitives.scan, automatic, sizeof(automatic));
	memcpy(c->primitives.compact, automatic, sizeof(automatic));
	memcpy(c->primitives.sort, automatic, sizeof(automatic));
}

/* All columns of the model are shown, except id, which is constant, and fate, which is a name. */
static bool is_shown(const struct replay *t, int column)
{
	return column != SL_COLUMN_id && column != SL_COLUMN_fate &&
	       SL_HAS(t->plan->recipe.model->columns, column);
}

/* Only ids can exceed 2^53. */
static double value_of(const struct sl_particle *p, int column)
{
	return sl_column_value(
		(enum sl_column)column, (const char *)p + sl_column_facts[column].in_particle);
}

/* The packed sort key, with as many digits as its bits need; "" if there is none. */
static const char *key_of(const struct replay *t, struct sl_particle p)
{
	const struct sl_recipe *r = &t->plan->recipe;
	struct sl_columns columns = sl_columns_of(&p);
	int digits = (int)(r->key_bits + 3) / 4;

	if (r->n_fields == 0 || !SL_HAS(r->keep, p.fate))
		return "";
	return sl_said("%0*lx", digits, sl_key_pack(r->field, r->n_fields, &columns, 0, p.id));
}

static void put_head(struct sl_json *j, const struct replay *t, const char *config)
{
	const struct sl_recipe *r = &t->plan->recipe;

	sl_json_add(j, "{ config %s run %s model %s seed %lu particles %lu id %lu", config,
		t->plan->config.run.name, r->model->name, r->seed, r->particles, t->id);
	sl_json_add(j, "batch %lu index %lu batches %lu batch_size %u key_bits %u history [",
		t->id / r->batch, t->id % r->batch, r->n_batches, r->batch, r->key_bits);
}

/* The columns of a row, with their units in the names if they are read by people. */
static void put_values(struct sl_json *j, const struct replay *t, const struct sl_particle *p)
{
	if (t->plan->recipe.resampling.steps > 0)
		sl_json_u64(j, "slot", p->id % t->plan->recipe.batch);
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_column_facts *facts = &sl_column_facts[c];
		const char *unit = sl_units[facts->unit].text;
		const char *name = sl_said(t->text && unit[0] ? "%s, %s" : "%s", facts->name, unit);
		double value = value_of(p, c);

		if (!is_shown(t, c) || (t->text && c == SL_COLUMN_steps))
			continue;
		if (facts->type == SL_TYPE_F32 || value < 0)
			sl_json_real(j, name, value);
		else
			sl_json_u64(j, name, (uint64_t)value);
	}
}

/* Closes the draws and the object of a step; a step stays open until the next one begins. */
static void close_step(struct sl_json *j)
{
	sl_json_add(j, "} }");
}

/* Writes a step and opens the array of its draws. A lack of memory ends the history early. */
static bool put_step(void *ctx, const struct sl_history_step *s)
{
	struct replay *t = (struct replay *)ctx;
	struct sl_json *j = &t->result.json;

	t->steps = s->number;
	if (s->number > 0)
		close_step(j);
	sl_json_add(j, "{ step %lu event %s", s->number, s->event);
	if (t->text)
		sl_json_object(j, "row");
	put_values(j, t, &s->p);
	if (t->text)
		sl_json_close(j);
	sl_json_text(j, sl_column_facts[SL_COLUMN_fate].name, sl_fate_facts[s->p.fate].name);
	sl_json_array(j, "draws");
	return !ferror(j->out);
}

/* Writes one block of four random words, each also as the uniform number in (0, 1] made of it. */
static void put_draw(void *ctx, uint64_t block, struct sl_words words)
{
	struct sl_json *j = &((struct replay *)ctx)->result.json;

	sl_json_add(j, "{ block %lu words [", block);
	for (int i = 0; i < 4; i++)
		sl_json_hex(j, NULL, words.at[i], WORD_DIGITS);
	sl_json_add(j, "] uniforms [");
	for (int i = 0; i < 4; i++)
		sl_json_real(j, NULL, (double)sl_uniform(words.at[i]));
	sl_json_add(j, "] }");
}

static void put_end(struct sl_json *j, const struct replay *t, const struct sl_particle *p)
{
	close_step(j);
	sl_json_add(j, "} fate %s steps %lu", sl_fate_facts[p->fate].name, t->steps);
	if (is_shown(t, SL_COLUMN_collisions))
		sl_json_u64(j, "collisions", p->collisions);
	sl_json_add(j, "survives %d key? %s", SL_HAS(t->plan->recipe.keep, p->fate), key_of(t, *p));
}

static enum sl_status print_history(
	struct replay *t, const struct sl_batch *filter, const char *config, bool json, FILE *out)
{
	const struct sl_history_observer observer = {.step = put_step, .draw = put_draw, .ctx = t};
	struct sl_particle p;

	SL_TRY(sl_result_begin(&t->result, json ? NULL : lines, out));
	put_head(&t->result.json, t, config);
	p = sl_follow_history(&t->plan->recipe, t->id, filter, &observer);
	put_end(&t->result.json, t, &p);
	return sl_result_end(&t->result, SL_OK);
}

/* Runs the filter of the particle again, and prints the history of its ancestors. */
static enum sl_status print_ancestry(struct replay *t, const char *config, bool json, FILE *out)
{
	const struct sl_recipe *r = &t->plan->recipe;
	const uint32_t n = sl_memory_plan_batch(t->plan);
	const size_t bytes = sl_ancestry_bytes(r, n);
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;
	SL_CLOSED_BY(sl_host_give) void *ancestry = NULL;
	struct sl_batch *b;

	if (sl_size_add(t->plan->memory.host, bytes) > t->plan->machine.free_bytes)
		return sl_fail(SL_HOST_MEMORY,
			"replay: the ancestry of a filter of %u particles and %u observations needs "
			"up to %s of memory with the filter, and %s are free; replay it on a machine "
			"with more memory",
			n, r->resampling.steps,
			sl_sized((double)sl_size_add(t->plan->memory.host, bytes)),
			sl_sized((double)t->plan->machine.free_bytes));
	SL_TRY(sl_workspace_open(t->plan, &w));
	SL_TRY(sl_workspace_allocate(w));
	SL_TRY(sl_memory_get(SL_HOST, bytes, &ancestry));
	b = &w->slot[0].batch;
	b->ancestry = (uint64_t *)ancestry;
	sl_batch_begin(r, b, t->id / r->batch);
	SL_TRY(sl_stages_run(r, &w->slot[0].exec, b, NULL));
	sl_ancestry_find(r, b, (uint32_t)(t->id % r->batch));
	return print_history(t, b, config, json, out);
}

enum sl_status sl_replay(
	struct sl_plan *plan, const char *config, uint64_t id, bool json, FILE *out)
{
	struct replay t = {.plan = plan, .id = id, .text = !json};
	uint64_t particles = plan->recipe.particles;
	struct sl_particle read;

	if (particles == 0)
		return sl_fail(SL_USAGE,
			"--id %lu: the run has no particles, because its lists are empty; use "
			"lists with particles",
			id);
	if (id >= particles)
		return sl_fail(SL_USAGE,
			"--id %lu: the run has no such particle (the run has %lu, from 0 to "
			"%lu); use an id in this range",
			id, particles, particles - 1);
	if (plan->recipe.resampling.steps > 0)
		return print_ancestry(&t, config, json, out);
	/* The model list reads its particles: find the input file of this one and read it there. */
	if (plan->recipe.inputs) {
		struct sl_columns columns = sl_columns_of(&read);

		SL_TRY(sl_inputs_particle(&plan->recipe, id, &read));
		sl_inputs_set_columns(&plan->recipe, id, &columns);
	}
	return print_history(&t, NULL, config, json, out);
}
