/*
 * tune.c - the command tune: finds the fastest tuning of each backend, type and size on this
 * device, and writes a tuning file (primitives/tuning.h).
 *
 * Every block, items and padding that a backend can run with are timed with a few samples. The
 * fastest of them and the default tuning of the backend are then timed with the usual number of samples. A
 * tuning is written only where it is faster than the default by more than the noise, so that the
 * file contains only lines that matter.
 *
 * The result of a size holds for all sizes up to the geometric mean of this size and the next,
 * rounded down to a power of two.
 */
#include "bench/commands/tune.h"

#include <math.h>
#include <string.h>

#include "bench/cells/cell.h"
#include "bench/cells/row.h"
#include "bench/cells/tunings.h"
#include "bench/measure/output_file.h"
#include "primitives/tuning.h"

enum {
	FEW_SAMPLES = 3, /* of a first measurement */
	FINALISTS = 4,   /* tunings that are measured a second time */
	TRIES_MAX = 160, /* tunings of a backend */
	SIZES = SL_NUMBER_LIST_MAX
};

/* A tuning is written if its time is less than this share of the time of the default. */
static const double worthwhile = 0.98;

/* Time limit of a first measurement. */
static const double few_budget_ms = 100;

struct tuning_time {
	struct sl_tuning tuning;
	double ms;
};

/* The result for a backend and type, size by size. */
struct tuning_result {
	uint32_t n;
	uint32_t size[SIZES];
	struct sl_tuning tuning[SIZES]; /* 0: the default */
	double gain[SIZES];             /* speed divided by that of the default */
};

struct tuner {
	struct sl_bench *b;
	struct sl_cross_check *c;
	const struct sl_backend *backend;
	struct tuning_time tried[TRIES_MAX];
	uint32_t n;
	bool incomplete; /* time or table space ended before all tunings were tried */
	FILE *file;
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

/* By time, the fastest first. */
static void sort_tries(struct tuner *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		for (uint32_t k = i; k > 0 && t->tried[k].ms < t->tried[k - 1].ms; k--) {
			struct tuning_time swap = t->tried[k];

			t->tried[k] = t->tried[k - 1];
			t->tried[k - 1] = swap;
		}
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
	sort_tries(t);
	return s;
}

/* *tuning: the fastest, 0 for the default; *gain: its speed divided by that of the default. */
static enum sl_status find_best(struct tuner *t, struct sl_tuning *tuning, double *gain)
{
	struct sl_call_times own, times;
	double best;

	*tuning = (struct sl_tuning){0};
	*gain = 1;
	SL_TRY(try_all(t));
	SL_TRY(sl_cell_measure(t->b, t->c, t->backend, *tuning, &own));
	best = own.ms.median * worthwhile;
	for (uint32_t i = 0; i < t->n && i < FINALISTS; i++) {
		if (t->tried[i].tuning.block == 0)
			continue;
		SL_TRY(sl_cell_measure(t->b, t->c, t->backend, t->tried[i].tuning, &times));
		if (times.ms.n == 0 || times.ms.median >= best)
			continue;
		best = times.ms.median;
		*tuning = t->tried[i].tuning;
		*gain = own.ms.median / best;
	}
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The geometric mean of two sizes, rounded down to a power of two. */
static uint32_t size_between(uint32_t a, uint32_t b)
{
	return (uint32_t)exp2(floor((log2(a) + log2(b)) / 2));
}

static bool is_same(struct sl_tuning a, struct sl_tuning b)
{
	return a.block == b.block && a.items == b.items && a.padding == b.padding;
}

/* The seventh word of a line, with a blank before it; "" for a backend without padding. */
static const char *padding_word(struct sl_tuning tuning)
{
	static const char *const words[] = {"", " padding=on", " padding=off"};

	return words[tuning.padding];
}

/*
 * A line holds for all larger sizes until the next line. So the default is written too where it follows
 * another tuning.
 */
static void write_lines(struct tuner *t, enum sl_type type, const struct tuning_result *f)
{
	struct sl_tuning before = {0};
	const struct sl_tunable *own = &t->backend->tunable;

	for (uint32_t i = 0; i < f->n; i++) {
		struct sl_tuning now = f->tuning[i];

		if (now.block == 0 && before.block != 0)
			now = (struct sl_tuning){own->block, own->items, own->padding};
		if (!is_same(now, before))
			fprintf(t->file,
				"%s/%s %s from %-10u block=%u items=%u%s  # n=%u: %.2f times as "
				"fast as the default\n",
				sl_primitive_name(t->backend->primitive), t->backend->name,
				type == SL_U32 ? "u32" : "u64",
				i > 0 ? size_between(f->size[i - 1], f->size[i]) : 0, now.block,
				now.items, padding_word(now), f->size[i], f->gain[i]);
		before = now;
	}
	(void)fflush(t->file);
}

static enum sl_status open_file(struct tuner *t, const char *name)
{
	SL_TRY(sl_output_create(name, &t->file));
	sl_about_print(&t->b->about, t->file);
	fprintf(t->file, "device %s\n", t->b->device.name);
	return SL_OK;
}

/* Reads the file again, which checks that sluice accepts it. */
static enum sl_status close_file(struct tuner *t, const char *name)
{
	SL_TRY(sl_output_close(name, &t->file));
	return sl_tuning_read(name);
}

/* --- all -------------------------------------------------------------------------------------- */

static void leave_out(struct tuner *t, const struct sl_job *job)
{
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + 64];

	snprintf(line, sizeof(line), "%s, %s%s", sl_job_text(job, text), t->backend->name,
		t->incomplete ? ", some tunings" : "");
	sl_bench_table_leave_out(t->b->table, line);
	fprintf(t->file, "# left out: %s\n", line);
}

static enum sl_status tune_size(struct tuner *t, const struct sl_job *job, struct tuning_result *f)
{
	struct sl_cross_check c;
	enum sl_status s;

	t->incomplete = false;
	if (!sl_bench_has_time(t->b, 0)) {
		leave_out(t, job);
		return SL_OK;
	}
	t->c = &c;
	s = sl_job_open(t->b, job, &c);
	if (s == SL_OK)
		s = find_best(t, &f->tuning[f->n], &f->gain[f->n]);
	f->size[f->n++] = job->set.n;
	if (c.of)
		sl_cross_check_close(&c);
	if (t->incomplete)
		leave_out(t, job);
	return s;
}

static enum sl_status tune_backend(
	struct tuner *t, enum sl_type type, const struct sl_number_list *sizes)
{
	static struct tuning_result f;

	memset(&f, 0, sizeof(f));
	for (uint32_t i = 0; i < sizes->n; i++) {
		const struct sl_job job = sl_job_usual(t->backend->primitive, type, sizes->at[i]);
		char text[SL_JOB_BYTES];

		SL_TRY(sl_add_context(tune_size(t, &job, &f), "%s", sl_job_text(&job, text)));
	}
	write_lines(t, type, &f);
	return SL_OK;
}

/* Ascending, as the lines of the file. */
static void sort_sizes(struct sl_number_list *sizes)
{
	for (uint32_t i = 1; i < sizes->n; i++)
		for (uint32_t k = i; k > 0 && sizes->at[k] < sizes->at[k - 1]; k--) {
			uint32_t swap = sizes->at[k];

			sizes->at[k] = sizes->at[k - 1];
			sizes->at[k - 1] = swap;
		}
}

static bool has_type(const struct sl_number_list *types, enum sl_type type)
{
	for (uint32_t i = 0; i < types->n; i++)
		if (types->at[i] == (uint32_t)type)
			return true;
	return types->n == 0;
}

/* Tunes every backend of that name that has tunings. */
static enum sl_status tune_named(
	struct tuner *t, const char *name, const struct sl_number_list *sizes)
{
	for (int p = SL_SCAN; p <= SL_SORT; p++)
		for (int type = SL_U32; type <= SL_U64; type++)
			for (size_t i = 0; (t->backend = sl_job_backend(t->b->options,
						    (enum sl_primitive)p, i)) != NULL;
				i++)
				if (strcmp(t->backend->name, name) == 0 &&
					t->backend->tunable.block > 0 &&
					!(p == SL_COMPACT && type == SL_U64) &&
					has_type(&t->b->options->types, (enum sl_type)type))
					SL_TRY(tune_backend(t, (enum sl_type)type, sizes));
	return SL_OK;
}

/* "shared", the default backend, is tuned first. */
static enum sl_status tune_all(struct tuner *t)
{
	static const char *const names[] = {"shared", "tiled", "work_efficient", "naive"};
	static const struct sl_number_list usual = {4, {1 << 16, 1 << 20, 1 << 24, 1 << 27}};
	static const struct sl_number_list emulated = {1, {1 << 8}};
	struct sl_number_list sizes = t->b->options->sizes.n > 0 ? t->b->options->sizes
	                              : sl_device_is_emulated()  ? emulated
	                                                         : usual;

	sort_sizes(&sizes);
	sl_cell_row_heading();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		SL_TRY(tune_named(t, names[i], &sizes));
	return SL_OK;
}

enum sl_status sl_bench_tune(struct sl_bench *b)
{
	static struct tuner t;
	const char *out = b->options->out;
	char message[SL_MESSAGE_BYTES];
	enum sl_status s, closed;

	t.b = b;
	if (!out)
		return sl_fail(SL_USAGE,
			"tune needs --out FILE; sluice reads ~/.config/sluice/tuning and the file "
			"that the environment variable SL_TUNING names");
	SL_TRY(open_file(&t, out));
	s = tune_all(&t);
	memcpy(message, sl_last_error(), sizeof(message));
	closed = close_file(&t, out);
	if (s != SL_OK)
		sl_set_last_error(message);
	return s != SL_OK ? s : closed;
}
