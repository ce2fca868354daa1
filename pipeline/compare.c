/* compare.c - rows are run, timed and held against the first. */
#include "pipeline/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/room.h"
#include "pipeline/run.h"
#include "pipeline/sink.h"
#include "primitives/base/clock.h"
#include "stages/traffic.h"

enum {
	SAMPLES_WANTED = 11,
	SAMPLES_MOST = 4096,
	RUNS_MOST = 11,
	COPIES = 11,
	COPY_BYTES = 64 << 20
};

/* A run of the rows that goes on: what a batch is held against, and where its times go. */
struct contest {
	struct sl_comparison *c;
	struct sl_plan *reference;     /* of the first row, its memory got */
	struct sl_manifest_line *line; /* n_batches: what the first row gave */
	struct sl_row *row;
	const struct sl_plan *plan; /* of the row */
	const struct sl_dir *dir;   /* of what is written */
	bool first;                 /* row is the first one: it sets the lines */
	bool timed;
	double (*sample)[SL_STAGE_COUNT + 1]; /* SAMPLES_MOST, in ms */
};

/* --- equal answers ---------------------------------------------------------------------------- */

static void name_of(const struct sl_row *row, char text[3 * SL_ROW_NAME_BYTES])
{
	snprintf(text, 3 * SL_ROW_NAME_BYTES, "%s%s/%s/%s", row->on_device ? "device " : "host ",
		sl_row_scans(row) && row->scan.backend ? row->scan.backend->name : "-",
		row->compact.backend->name, row->sort.backend->name);
}

/* The first row of a column that is not the same; n if all are. */
static uint32_t first_difference(
	const struct sl_table_column *a, const struct sl_table_column *b, uint32_t n)
{
	size_t item = sl_column_facts[a->column].bytes;
	uint32_t i = 0;

	if (a->constant)
		return n;
	while (i < n && memcmp((const char *)a->data + i * item, (const char *)b->data + i * item,
				item) == 0)
		i++;
	return i;
}

static void tell(struct sl_row *row, const char *what, uint64_t batch)
{
	char name[3 * SL_ROW_NAME_BYTES];

	name_of(row, name);
	row->differs = true;
	snprintf(row->story, sizeof(row->story),
		"%s differs from the host's own backends: batch %llu, %s", name,
		(unsigned long long)batch, what);
}

/* What of b is not as in the reference. */
static void describe(const struct sl_batch *b, const struct sl_batch *reference, char what[128])
{
	const struct sl_table *t = &reference->table;

	if (b->n_survivors != reference->n_survivors) {
		snprintf(what, 128, "%u survivors and not %u", b->n_survivors,
			reference->n_survivors);
		return;
	}
	snprintf(what, 128, "the tally");
	for (uint32_t i = 0; i < t->n_columns; i++) {
		const struct sl_table_column *c = &t->column[i];
		uint32_t at = first_difference(c, &b->table.column[i], t->n);

		if (at < t->n) {
			snprintf(what, 128, "column %s, index %u", sl_column_facts[c->column].name,
				at);
			return;
		}
	}
}

/* Makes the batch again as the first row does, and finds the first place that is not the same. */
static void find_difference(struct contest *k, const struct sl_batch *b)
{
	struct sl_slot *slot = &k->reference->slot[0];
	char what[128] = "and the host's failed as well";

	sl_batch_begin(&k->reference->recipe, &slot->batch, b->number);
	if (sl_stages_run(&k->reference->recipe, &slot->exec, &slot->batch, NULL) == SL_OK)
		describe(b, &slot->batch, what);
	tell(k->row, what, b->number);
}

static bool is_same(const struct sl_manifest_line *l, const struct sl_batch *b)
{
	if (l->survivors != b->n_survivors || memcmp(&l->tally, &b->tally, sizeof(l->tally)) != 0)
		return false;
	for (uint32_t i = 0; i < b->table.n_columns; i++)
		if (l->digest[b->table.column[i].column] != b->table.column[i].digest)
			return false;
	return true;
}

static void add_sample(struct contest *k, const struct sl_slot *slot)
{
	double *ms = k->sample[k->row->samples];

	/* a last batch that is smaller would be too fast */
	if (k->row->samples == SAMPLES_MOST || slot->batch.n < sl_room_batch(k->plan))
		return;
	for (int s = 0; s < SL_STAGE_COUNT; s++) {
		ms[s] = 1e-6 * (double)slot->ns[s];
		k->row->bytes[s] = sl_stage_bytes(&k->plan->recipe, (enum sl_stage_number)s,
			slot->batch.n, slot->batch.n_survivors);
	}
	ms[SL_STAGE_COUNT] = 1e-6 * (double)slot->home_ns;
	k->row->samples++;
}

static void look_at(void *of, const struct sl_slot *slot)
{
	struct contest *k = (struct contest *)of;
	struct sl_manifest_line *l = &k->line[slot->batch.number];

	if (k->first && k->timed)
		sl_sink_line(&slot->batch, l);
	else if (!k->row->differs && !is_same(l, &slot->batch))
		find_difference(k, &slot->batch);
	if (k->timed)
		add_sample(k, slot);
	if (k->dir) {
		char name[SL_FILE_NAME_BYTES];

		sl_sink_name(k->plan, slot->batch.number, name);
		(void)sl_file_remove(k->dir, name);
	}
}

/* --- a row ------------------------------------------------------------------------------------ */

static enum sl_status make_plan(const struct sl_comparison *c, const struct sl_row *row,
	bool one_at_a_time, struct sl_plan **plan)
{
	struct sl_choices choices = *c->choices;
	struct sl_config config = c->config;

	if (one_at_a_time)
		config.run.threads = config.run.slots = 1;
	if (!row->on_device)
		choices.device = SL_ON_CPU;
	choices.scan = row->scan;
	choices.compact = row->compact;
	choices.sort = row->sort;
	choices.batch = c->batch;
	choices.n_batches = c->n_batches;
	config.run.batch = c->batch;
	SL_TRY(sl_plan_make(&config, &choices, plan));
	SL_TRY(sl_room_refuse(*plan));
	return sl_plan_provide(*plan);
}

/* Runs the plan once, to dir or to nowhere; *seconds of it. */
static enum sl_status go(struct contest *k, struct sl_plan *plan, double *seconds)
{
	struct sl_control control = {.batch = look_at, .of = k, .discard = !k->dir};
	struct sl_manifest none = {0};
	struct sl_session session;

	k->plan = plan;
	SL_TRY(sl_run(plan, k->dir, &none, &control, &session));
	*seconds = session.seconds;
	return SL_OK;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct sl_spread spread_of(const struct contest *k, int which)
{
	static double sorted[SAMPLES_MOST];
	uint32_t n = k->row->samples;
	struct sl_spread s = {0};

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = k->sample[i][which];
	qsort(sorted, n, sizeof(*sorted), by_size);
	if (n > 0)
		s = (struct sl_spread){
			(sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[0], sorted[n - 1]};
	return s;
}

static enum sl_status time_stages(struct contest *k)
{
	struct sl_plan *plan = NULL;
	enum sl_status s = make_plan(k->c, k->row, true, &plan);
	/* times of the emulated device mean little, and it takes its time over them */
	int runs = k->row->on_device && sl_device_is_emulated() ? 1 : RUNS_MOST;
	double seconds = 0;

	k->timed = true;
	for (int run = 0; s == SL_OK && run < runs && k->row->samples < SAMPLES_WANTED; run++)
		s = go(k, plan, &seconds);
	k->timed = false;
	sl_plan_free(plan);
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		k->row->stage[i] = spread_of(k, i);
	k->row->home = spread_of(k, SL_STAGE_COUNT);
	return s;
}

static enum sl_status time_all(struct contest *k)
{
	double seconds = 0, seconds_written = 0;
	struct sl_plan *plan = NULL;
	struct sl_dir dir = {.fd = -1, .lock = -1};
	char path[SL_TEXT_BYTES + 16];
	enum sl_status s = make_plan(k->c, k->row, false, &plan);

	if (s == SL_OK)
		s = go(k, plan, &seconds);
	if (s == SL_OK) {
		snprintf(path, sizeof(path), "%s.compare", plan->to);
		s = sl_dir_open(path, true, &dir);
	}
	if (s == SL_OK) {
		k->dir = &dir;
		s = go(k, plan, &seconds_written);
		k->dir = NULL;
		(void)sl_file_remove(&dir, "manifest.jsonl");
		sl_dir_close(&dir);
		(void)sl_dir_remove(path);
	}
	sl_plan_free(plan);
	if (s == SL_OK) {
		k->row->rate = (double)k->c->particles / seconds;
		k->row->rate_written = (double)k->c->particles / seconds_written;
	}
	return s;
}

static enum sl_status run_row(struct contest *k, struct sl_row *row)
{
	char name[3 * SL_ROW_NAME_BYTES];
	enum sl_status s;

	k->row = row;
	k->first = row == k->c->row;
	s = time_stages(k);
	if (s == SL_OK)
		s = time_all(k);
	name_of(row, name);
	return sl_while(s, "%s", name);
}

/* --- the speed of copies ---------------------------------------------------------------------- */

/* One copy, between two marks in time. */
static enum sl_status copy_once(
	void *to, const void *from, enum sl_space space, const sl_event mark[2], double *ns)
{
	uint64_t start = sl_now_ns();
	float ms;

	if (space == SL_HOST) {
		memcpy(to, from, COPY_BYTES);
		*ns = (double)(sl_now_ns() - start);
		return SL_OK;
	}
	SL_TRY(sl_event_record(mark[0], NULL));
	SL_TRY(sl_copy(to, from, COPY_BYTES, NULL));
	SL_TRY(sl_event_record(mark[1], NULL));
	SL_TRY(sl_event_wait(mark[1]));
	SL_TRY(sl_event_ms(mark[0], mark[1], &ms));
	*ns = (double)ms * 1e6;
	return SL_OK;
}

/* The median of COPIES copies, two more before them to warm up. */
static enum sl_status time_copies(
	void *to, void *from, enum sl_space space, const sl_event mark[2], double *gb_per_second)
{
	double ns[COPIES], warm;

	SL_TRY(sl_fill(from, 1, COPY_BYTES, NULL));
	SL_TRY(sl_fill(to, 2, COPY_BYTES, NULL));
	SL_TRY(copy_once(to, from, space, mark, &warm));
	SL_TRY(copy_once(to, from, space, mark, &warm));
	for (int i = 0; i < COPIES; i++)
		SL_TRY(copy_once(to, from, space, mark, &ns[i]));
	qsort(ns, COPIES, sizeof(*ns), by_size);
	*gb_per_second = 2.0 * COPY_BYTES / ns[COPIES / 2];
	return SL_OK;
}

static enum sl_status measure_copy(enum sl_space space, double *gb_per_second)
{
	void *from = NULL, *to = NULL;
	sl_event mark[2] = {NULL, NULL};
	enum sl_status s = sl_memory_get(space, COPY_BYTES, &from);

	if (s == SL_OK)
		s = sl_memory_get(space, COPY_BYTES, &to);
	for (int i = 0; i < 2 && s == SL_OK && space == SL_DEVICE; i++)
		s = sl_event_make(&mark[i]);
	if (s == SL_OK)
		s = time_copies(to, from, space, mark, gb_per_second);
	for (int i = 0; i < 2; i++)
		sl_event_free(mark[i]);
	sl_memory_give(space, to);
	sl_memory_give(space, from);
	return sl_while(s, "measuring the speed of copies");
}

/* --- all rows --------------------------------------------------------------------------------- */

static enum sl_status measure_copies(struct sl_comparison *c)
{
	struct sl_device device;

	if (c->choices->device != SL_ON_CPU) {
		SL_TRY(sl_device_use(c->choices->device_number, &device));
		snprintf(c->device, sizeof(c->device), "%s", device.name);
		SL_TRY(measure_copy(SL_DEVICE, &c->device_copy));
	}
	return measure_copy(SL_HOST, &c->host_copy);
}

static enum sl_status run_rows(struct contest *k)
{
	const struct sl_row *bad = NULL;

	for (size_t i = 0; i < k->c->n; i++) {
		SL_TRY(run_row(k, &k->c->row[i]));
		if (!bad && k->c->row[i].differs)
			bad = &k->c->row[i];
	}
	return bad ? sl_fail(SL_CHECK_FAILED, "%s", bad->story) : SL_OK;
}

enum sl_status sl_compare(struct sl_comparison *c)
{
	struct contest k = {.c = c};
	void *lines = NULL, *samples = NULL;
	enum sl_status s = measure_copies(c);

	if (s == SL_OK)
		s = sl_memory_get(SL_HOST, sl_size_mul(c->n_batches, sizeof(*k.line)), &lines);
	if (s == SL_OK)
		s = sl_memory_get(SL_HOST, SAMPLES_MOST * sizeof(*k.sample), &samples);
	k.line = (struct sl_manifest_line *)lines;
	k.sample = (double(*)[SL_STAGE_COUNT + 1]) samples;
	if (s == SL_OK)
		s = make_plan(c, &c->row[0], true, &k.reference);
	if (s == SL_OK)
		s = run_rows(&k);
	sl_plan_free(k.reference);
	sl_memory_give(SL_HOST, samples);
	sl_memory_give(SL_HOST, lines);
	return s;
}
