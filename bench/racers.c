/* racers.c - see racers.h: memory, what is queued, and when. */
#include "bench/racers.h"

#include <string.h>

#include "stages/particle/digest.h"

static double ms_between(sl_event from, sl_event to, enum sl_status *s)
{
	float ms = 0;

	if (*s == SL_OK)
		*s = sl_event_ms(from, to, &ms);
	return (double)ms;
}

static void take_answer(const struct sl_batch *b, struct sl_outcome *a)
{
	memset(a, 0, sizeof(*a));
	a->n_survivors = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		a->digest[b->table.column[k].column] = b->table.column[k].digest;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What a way cuts; the first time it only measures. */
typedef void lay_out(struct sl_racer *w, struct sl_arena *device, struct sl_arena *pinned);

static enum sl_status get_memory(struct sl_racer *w, lay_out *cut)
{
	struct sl_arena device = {0}, pinned = {0};

	cut(w, &device, &pinned);
	w->device.size = device.used;
	w->pinned.size = pinned.used;
	SL_TRY(sl_memory_get(SL_DEVICE, device.used, &w->device.base));
	SL_TRY(sl_memory_get(SL_PINNED, pinned.used, &w->pinned.base));
	device = w->device;
	pinned = w->pinned;
	cut(w, &device, &pinned);
	return SL_OK;
}

enum sl_status sl_racer_open(
	const struct sl_racer_kind *kind, const struct sl_recipe *r, struct sl_racer *w)
{
	memset(w, 0, sizeof(*w));
	w->kind = kind;
	w->recipe = r;
	SL_TRY(sl_event_make(&w->from));
	return sl_add_context(kind->open(w), "%s", kind->name);
}

void sl_racer_close(struct sl_racer *w)
{
	w->kind->close(w);
	sl_event_free(w->from);
	sl_memory_give(SL_DEVICE, w->device.base);
	sl_memory_give(SL_PINNED, w->pinned.base);
	memset(w, 0, sizeof(*w));
}

/* --- this project's --------------------------------------------------------------------------- */

static void lay_out_lane(struct sl_racer *w, struct sl_arena *device, struct sl_arena *pinned)
{
	sl_device_pipeline_lay_out(device, pinned, w->recipe, w->recipe->batch, &w->lane);
	sl_table_lay_out(pinned, w->recipe, w->recipe->batch, UINT32_MAX, &w->home.table);
}

static enum sl_status open_lane(struct sl_racer *w)
{
	SL_TRY(get_memory(w, lay_out_lane));
	return sl_device_pipeline_open(&w->lane);
}

static void close_lane(struct sl_racer *w)
{
	sl_device_pipeline_close(&w->lane);
}

/* The copies to the host, which CUB's way does not make, come last and are not counted. */
static enum sl_status run_lane(struct sl_racer *w, struct sl_lap *lap)
{
	uint64_t ns[SL_STAGE_COUNT] = {0};
	enum sl_status s;

	sl_batch_begin(w->recipe, &w->home, 0);
	SL_TRY(sl_event_record(w->from, w->lane.exec.stream));
	SL_TRY(sl_device_pipeline_run(w->recipe, &w->lane, &w->home, ns));
	s = SL_OK;
	lap->all_ms = ms_between(w->from, w->lane.copied, &s) - 1e-6 * (double)w->lane.transfer_ns;
	lap->n = 0;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		if (ns[i] > 0) {
			lap->step[lap->n] = sl_stages[i].name;
			lap->ms[lap->n++] = 1e-6 * (double)ns[i];
		}
	return s;
}

/* What came home must be what was digested on the device. */
static enum sl_status answer_of_lane(struct sl_racer *w, struct sl_outcome *a)
{
	take_answer(&w->home, a);
	return sl_digest_check(&w->home.table);
}

const struct sl_racer_kind sl_racer_lane = {
	.name = "sluice",
	.open = open_lane,
	.run = run_lane,
	.answer = answer_of_lane,
	.close = close_lane,
};

/* --- CUB's ------------------------------------------------------------------------------------ */

#ifdef SL_WITH_CUDA

static struct sl_cub_pipeline cub_of(const struct sl_recipe *r)
{
	struct sl_cub_pipeline p = {.model = r->model,
		.rules = r->rules.bytes,
		.seed = r->seed,
		.keep = r->keep,
		.key_bits = r->key_bits,
		.needed = SL_BIT(SL_COLUMN_fate)};

	for (uint32_t k = 0; k < r->n_fields; k++)
		p.needed |= SL_BIT(r->field[k].column);
	for (uint32_t k = 0; k < r->n_columns; k++)
		p.needed |= SL_BIT(r->column[k]);
	p.needed = SL_STORED(p.needed & ~r->constants);
	return p;
}

static void lay_out_cub(struct sl_racer *w, struct sl_arena *device, struct sl_arena *pinned)
{
	uint32_t n = w->recipe->batch;

	w->cub = cub_of(w->recipe);
	sl_table_lay_out(device, w->recipe, n, UINT32_MAX, &w->cub.batch.table);
	sl_cub_lay_out(device, n, &w->cub);
	w->seen = (uint32_t *)sl_cut(pinned, sizeof(*w->seen));
	sl_table_lay_out(pinned, w->recipe, n, UINT32_MAX, &w->home.table);
}

static enum sl_status open_cub(struct sl_racer *w)
{
	SL_TRY(get_memory(w, lay_out_cub));
	SL_TRY(sl_stream_make(&w->stream));
	for (int i = 0; i < SL_RACER_MARKS; i++)
		SL_TRY(sl_event_make(&w->mark[i]));
	return SL_OK;
}

static void close_cub(struct sl_racer *w)
{
	for (int i = 0; i < SL_RACER_MARKS; i++)
		sl_event_free(w->mark[i]);
	sl_stream_free(w->stream);
}

/* Up to the number of survivors, which sizes what follows. */
static enum sl_status count_survivors(struct sl_racer *w)
{
	SL_TRY(sl_event_record(w->mark[0], w->stream));
	SL_TRY(sl_cub_generate(&w->cub, w->stream));
	SL_TRY(sl_event_record(w->mark[1], w->stream));
	SL_TRY(sl_cub_select(&w->cub, w->stream));
	SL_TRY(sl_event_record(w->mark[2], w->stream));
	SL_TRY(sl_copy(w->seen, w->cub.n_survivors, sizeof(*w->seen), w->stream));
	SL_TRY(sl_stream_wait(w->stream));
	w->cub.batch.n_survivors = *w->seen;
	return SL_OK;
}

static enum sl_status make_table(struct sl_racer *w)
{
	const struct sl_recipe *r = w->recipe;

	SL_TRY(sl_event_record(w->mark[3], w->stream));
	SL_TRY(r->kernels->key(r->field, r->n_fields, true, &w->cub.batch, w->stream));
	SL_TRY(sl_cub_sort(&w->cub, w->stream));
	SL_TRY(sl_event_record(w->mark[4], w->stream));
	SL_TRY(sl_cub_gather(&w->cub, w->stream));
	SL_TRY(sl_event_record(w->mark[5], w->stream));
	return sl_event_wait(w->mark[5]);
}

static enum sl_status run_cub(struct sl_racer *w, struct sl_lap *lap)
{
	static const struct {
		const char *name;
		int from;
	} steps[] = {{"generate", 0}, {"compact", 1}, {"sort", 3}, {"write", 4}};
	enum sl_status s = count_survivors(w);

	if (s == SL_OK)
		s = make_table(w);
	lap->all_ms = ms_between(w->mark[0], w->mark[5], &s);
	lap->n = sizeof(steps) / sizeof(steps[0]);
	for (uint32_t i = 0; i < lap->n; i++) {
		lap->step[i] = steps[i].name;
		lap->ms[i] = ms_between(w->mark[steps[i].from], w->mark[steps[i].from + 1], &s);
	}
	return s;
}

static enum sl_status answer_of_cub(struct sl_racer *w, struct sl_outcome *a)
{
	struct sl_table *home = &w->home.table;

	w->home.n_survivors = home->n = w->cub.batch.n_survivors;
	for (uint32_t k = 0; k < home->n_columns; k++) {
		const struct sl_table_column *c = &w->cub.batch.table.column[k];

		if (!c->constant)
			SL_TRY(sl_copy(home->column[k].data, c->data, home->n * sizeof(uint32_t),
				w->stream));
	}
	SL_TRY(sl_stream_wait(w->stream));
	for (uint32_t k = 0; k < home->n_columns; k++)
		home->column[k].digest = sl_digest_column(&home->column[k], home->n);
	take_answer(&w->home, a);
	return SL_OK;
}

static const struct sl_racer_kind cub_racer = {
	.name = "CUB",
	.open = open_cub,
	.run = run_cub,
	.answer = answer_of_cub,
	.close = close_cub,
};

const struct sl_racer_kind *const sl_racer_cub = &cub_racer;

#else

const struct sl_racer_kind *const sl_racer_cub = NULL;

#endif

/* --- the host's ------------------------------------------------------------------------------- */

static enum sl_status run_on_host(const struct sl_recipe *r, struct sl_outcome *a)
{
	struct sl_arena measure = {0}, arena;
	struct sl_exec x = {.space = SL_HOST};
	size_t scratch = sl_stages_scratch(r, r->batch);
	struct sl_batch b;
	void *block;
	enum sl_status s;

	sl_batch_lay_out(&measure, r, r->batch, &b);
	sl_cut(&measure, scratch);
	SL_TRY(sl_memory_get(SL_HOST, measure.used, &block));
	arena = (struct sl_arena){.base = block, .size = measure.used};
	sl_batch_lay_out(&arena, r, r->batch, &b);
	x.scratch = (struct sl_arena){.base = sl_cut(&arena, scratch), .size = scratch};
	sl_batch_begin(r, &b, 0);
	s = sl_stages_run(r, &x, &b, NULL);
	take_answer(&b, a);
	sl_memory_give(SL_HOST, block);
	return sl_add_context(s, "on the host");
}

enum sl_status sl_racer_host(const struct sl_recipe *r, struct sl_outcome *a)
{
	struct sl_recipe host = *r;

	host.kernels = NULL;
	host.scan = host.compact = host.sort = (struct sl_choice){0};
	SL_TRY(sl_find(SL_COMPACT, "cpu", &host.compact.backend));
	SL_TRY(sl_find(SL_SORT, "cpu", &host.sort.backend));
	return run_on_host(&host, a);
}
