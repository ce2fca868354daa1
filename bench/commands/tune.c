/*
 * tune.c - the command tune: finds the fastest tuning of each backend, type and size on this
 * device, and prints it as an option of sluice.
 *
 * Every block, items and padding that a backend can run with are timed with a few samples. The
 * fastest of them and the default tuning of the backend are then timed with the usual number of
 * samples. A tuning is printed only where it is faster than the default by more than the noise.
 */
#include "bench/commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "bench/cells/cells.h"

enum {
	FEW_SAMPLES = 3, /* of a first measurement */
	FINALISTS = 4,   /* tunings that are measured a second time */
	TRIES_MAX = 160  /* tunings of a backend */
};

/* A tuning is printed if its time is less than this share of the time of the default. */
static const double worthwhile = 0.98;

/* Time limit of a first measurement. */
static const double few_budget_ms = 100;

struct tuning_time {
	struct sl_tuning tuning;
	double ms;
};

struct tuner {
	struct sl_bench *b;
	struct sl_cross_check *c;
	const struct sl_backend *backend;
	struct tuning_time tried[TRIES_MAX];
	uint32_t n;
	bool incomplete; /* time or table space ended before all tunings were tried */
};

/* --- one backend, one size -------------------------------------------------------------------- */

/* First measurements print nothing: there are hundreds. */
static enum sl_status try_tuning(void *ctx, struct sl_tuning tuning)
{
	struct tuner *t = (struct tuner *)ctx;
	struct sl_call_times times;
	enum sl_status s;

	if (t->n == TRIES_MAX || !sl_bench_has_time(t->b, 0)) {
		t->incomplete = true;
		return SL_OK;
	}
	s = sl_cell_time(t->b, t->c, t->backend, tuning, &times);
	if (s == SL_OK)
		t->tried[t->n++] = (struct tuning_time){tuning, times.ms.median};
	return s == SL_DEVICE_FAILED || s == SL_CHECK_FAILED ? s : SL_OK;
}

/* The fastest first. */
static int by_time(const void *a, const void *b)
{
	const double x = ((const struct tuning_time *)a)->ms,
		     y = ((const struct tuning_time *)b)->ms;

	return (x > y) - (x < y);
}

static enum sl_status try_all(struct tuner *t)
{
	static const struct sl_bench_options all = {.tunings = true};
	const struct sl_stopwatch whole = t->b->watch;
	enum sl_status s;

	t->n = 0;
	t->incomplete = false;
	t->b->watch.samples = whole.samples < FEW_SAMPLES ? whole.samples : FEW_SAMPLES;
	t->b->watch.budget_ms = few_budget_ms;
	s = sl_tunings_each(t->backend, t->c->trial.set.type, &all, try_tuning, t);
	t->b->watch = whole;
	qsort(t->tried, t->n, sizeof(t->tried[0]), by_time);
	return s;
}

/* As it is written after the name of a backend: ":block=256:items=4". A block of 0 is the default. */
static void print_best(const struct tuner *t, struct sl_tuning best, double gain)
{
	const struct sl_setting *set = &t->c->trial.set;

	if (best.block == 0)
		return;
	printf("--%s %s:block=%u:items=%u%s%s  # %s, n=%u: %.2f times as fast as the default\n",
		sl_primitive_name(t->backend->primitive), t->backend->name, best.block, best.items,
		best.padding ? ":padding=" : "", best.padding ? sl_padding_name(best.padding) : "",
		set->type == SL_U32 ? "u32" : "u64", set->n, gain);
}

/* Prints the fastest tuning, and its speed divided by that of the default. */
static enum sl_status find_best(struct tuner *t)
{
	struct sl_tuning tuning = {0};
	struct sl_call_times own, times;
	double best;

	SL_TRY(try_all(t));
	SL_TRY(sl_cell_measure(t->b, t->c, t->backend, tuning, &own));
	best = own.ms.median * worthwhile;
	for (uint32_t i = 0; i < t->n && i < FINALISTS; i++) {
		if (t->tried[i].tuning.block == 0)
			continue;
		SL_TRY(sl_cell_measure(t->b, t->c, t->backend, t->tried[i].tuning, &times));
		if (times.ms.n == 0 || times.ms.median >= best)
			continue;
		best = times.ms.median;
		tuning = t->tried[i].tuning;
	}
	print_best(t, tuning, own.ms.median / best);
	return SL_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

static enum sl_status tune_job(struct tuner *t, const struct sl_job *job)
{
	SL_CLOSED_BY(sl_cross_check_close) struct sl_cross_check c = {.of = NULL};
	char text[SL_JOB_BYTES];

	t->c = &c;
	t->incomplete = !sl_bench_has_time(t->b, 0);
	if (!t->incomplete) {
		SL_TRY(sl_job_open(t->b, job, &c));
		SL_TRY(find_best(t));
	}
	if (t->incomplete)
		sl_bench_table_leave_out(t->b->table, "%s, %s%s", sl_job_text(job, text),
			t->backend->name, c.of ? ", some tunings" : "");
	return SL_OK;
}

/* Tunes a backend at all sizes. Compactions have no type. */
static enum sl_status tune_backend(
	struct tuner *t, enum sl_type type, const struct sl_number_list *sizes)
{
	const enum sl_primitive p = t->backend->primitive;

	if (t->backend->tunable.block == 0 || sl_type_is_float(type) ||
		(p == SL_COMPACT && type == SL_U64))
		return SL_OK;
	for (uint32_t i = 0; i < sizes->n; i++) {
		const struct sl_job job = sl_job_usual(p, type, sizes->at[i]);
		char text[SL_JOB_BYTES];

		SL_TRY(sl_add_context(tune_job(t, &job), "%s", sl_job_text(&job, text)));
	}
	return SL_OK;
}

/* Tunes every backend of that name. */
static enum sl_status tune_named(
	struct tuner *t, const char *name, const struct sl_number_list *sizes)
{
	static const struct sl_number_list both = {2, {SL_U32, SL_U64}};
	const struct sl_number_list *types = sl_number_list_or(&t->b->options->types, &both);

	for (int p = SL_SCAN; p < SL_PRIMITIVE_COUNT; p++)
		for (uint32_t k = 0; k < types->n; k++)
			for (size_t i = 0; (t->backend = sl_job_backend(t->b->options,
						    (enum sl_primitive)p, i)) != NULL;
				i++)
				if (strcmp(t->backend->name, name) == 0)
					SL_TRY(tune_backend(t, (enum sl_type)types->at[k], sizes));
	return SL_OK;
}

/* "shared", the default backend, is tuned first. */
enum sl_status sl_bench_tune(struct sl_bench *b)
{
	static const char *const names[] = {"shared", "tiled", "work_efficient", "naive"};
	static const struct sl_number_list usual = {4, {1 << 16, 1 << 20, 1 << 24, 1 << 27}};
	static const struct sl_number_list emulated = {1, {1 << 8}};
	static struct tuner t;
	const struct sl_number_list *sizes =
		sl_number_list_or(&b->options->sizes, sl_device_is_emulated() ? &emulated : &usual);

	t.b = b;
	sl_cell_row_heading();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		SL_TRY(tune_named(&t, names[i], sizes));
	return SL_OK;
}
