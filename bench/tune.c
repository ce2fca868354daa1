/*
 * tune.c - the command: finds block and items of each backend, type and size on this device, and
 * writes a tuning file (primitives/tuning.h).
 *
 * A backend is tried with every block and items it can have, a few samples each; the best of them
 * and its own choice then run again, with as many samples as any cell. The best is taken only where
 * it is faster by more than noise: a file of few lines says what matters.
 *
 * A size that was measured stands for all up to halfway, in powers of two, to the next.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "primitives/base/clock.h"

enum {
	FEW = 3,     /* samples of a first try */
	FINALS = 4,  /* that run again */
	TRIES = 128, /* tunings of a backend, at most */
	SIZES = SL_NUMBERS
};

/* A tuning must be that much faster than a backend's own to be written. */
static const double worth_it = 0.98;

/* What a first try may take. */
static const double few_budget_ms = 100;

/* A tuning that was tried. */
struct attempt {
	struct sl_tuning tuning;
	double ms;
};

/* What was found for a backend and type, size by size. */
struct found {
	uint32_t n;
	uint32_t size[SIZES];
	struct sl_tuning tuning[SIZES]; /* 0: its own */
	double gain[SIZES];             /* how many times as fast as its own */
};

struct tuner {
	struct sl_bench *b;
	struct sl_contest *c;
	const struct sl_backend *backend;
	struct attempt attempt[TRIES];
	uint32_t n;
	bool cut; /* there was no time for all */
	FILE *file;
};

/* --- one backend, one size -------------------------------------------------------------------- */

/* First tries print nothing: there are hundreds. */
static enum sl_status try_tuning(void *of, struct sl_tuning tuning)
{
	struct tuner *t = (struct tuner *)of;
	struct sl_times times;
	enum sl_status s;

	if (t->n == TRIES || !sl_bench_has_time(t->b, 0)) {
		t->cut = true;
		return SL_OK;
	}
	s = sl_cell_time(t->b, t->c, t->backend, tuning, &times);
	if (s == SL_OK)
		t->attempt[t->n++] = (struct attempt){tuning, times.ms.median};
	return s == SL_DEVICE_FAILED || s == SL_CHECK_FAILED ? s : SL_OK;
}

/* The fastest first. */
static void sort_tries(struct tuner *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		for (uint32_t k = i; k > 0 && t->attempt[k].ms < t->attempt[k - 1].ms; k--) {
			struct attempt swap = t->attempt[k];

			t->attempt[k] = t->attempt[k - 1];
			t->attempt[k - 1] = swap;
		}
}

static enum sl_status try_all(struct tuner *t)
{
	static const struct sl_asked all = {.tunings = true};
	const struct sl_stopwatch whole = t->b->watch;
	enum sl_status s;

	t->n = 0;
	t->cut = false;
	t->b->watch.samples = whole.samples < FEW ? whole.samples : FEW;
	t->b->watch.budget_ms = few_budget_ms;
	s = sl_tunings_each(t->backend, t->c->trial.set.type, &all, try_tuning, t);
	t->b->watch = whole;
	sort_tries(t);
	return s;
}

/* *tuning: the best, 0 for its own; *gain: over its own. */
static enum sl_status find_best(struct tuner *t, struct sl_tuning *tuning, double *gain)
{
	struct sl_times own, times;
	double best;

	*tuning = (struct sl_tuning){0};
	*gain = 1;
	SL_TRY(try_all(t));
	SL_TRY(sl_cell_measure(t->b, t->c, t->backend, *tuning, &own));
	best = own.ms.median * worth_it;
	for (uint32_t i = 0; i < t->n && i < FINALS; i++) {
		if (t->attempt[i].tuning.block == 0)
			continue;
		SL_TRY(sl_cell_measure(t->b, t->c, t->backend, t->attempt[i].tuning, &times));
		if (times.ms.n == 0 || times.ms.median >= best)
			continue;
		best = times.ms.median;
		*tuning = t->attempt[i].tuning;
		*gain = own.ms.median / best;
	}
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Halfway between two sizes that were measured, as a power of two. */
static uint32_t halfway(uint32_t a, uint32_t b)
{
	return (uint32_t)exp2(floor((log2(a) + log2(b)) / 2));
}

static bool is_same(struct sl_tuning a, struct sl_tuning b)
{
	return a.block == b.block && a.items == b.items;
}

/* Its own is written out too, where another stands before it: a line holds up to the next. */
static void write_lines(struct tuner *t, enum sl_type type, const struct found *f)
{
	struct sl_tuning before = {0};
	const struct sl_tunable *own = &t->backend->tunable;

	for (uint32_t i = 0; i < f->n; i++) {
		struct sl_tuning now = f->tuning[i];

		if (now.block == 0 && before.block != 0)
			now = (struct sl_tuning){own->block, own->items};
		if (!is_same(now, before))
			fprintf(t->file,
				"%s/%s %s from %-10u block=%u items=%u  # n=%u: %.2f times as fast "
				"as its own\n",
				sl_primitive_name(t->backend->primitive), t->backend->name,
				type == SL_U32 ? "u32" : "u64",
				i > 0 ? halfway(f->size[i - 1], f->size[i]) : 0, now.block,
				now.items, f->size[i], f->gain[i]);
		before = now;
	}
	(void)fflush(t->file);
}

static enum sl_status open_file(struct tuner *t, const char *name)
{
	t->file = fopen(name, "w");
	if (!t->file)
		return sl_fail(SL_DISK, "%s cannot be made: %s; choose another place", name,
			strerror(errno));
	sl_about_print(&t->b->about, t->file);
	fprintf(t->file, "device %s\n", t->b->device.name);
	return SL_OK;
}

static enum sl_status close_file(struct tuner *t, const char *name)
{
	bool bad = ferror(t->file) != 0;

	bad = fclose(t->file) != 0 || bad;
	t->file = NULL;
	if (bad)
		return sl_fail(SL_DISK, "%s could not be written whole; make room for it", name);
	return sl_tuning_read(name); /* what we write, we can read */
}

/* --- all -------------------------------------------------------------------------------------- */

static void leave_out(struct tuner *t, const struct sl_job *job)
{
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + 64];

	snprintf(line, sizeof(line), "%s, %s%s", sl_job_text(job, text), t->backend->name,
		t->cut ? ", some tunings" : "");
	sl_sheet_left_out(t->b->sheet, line);
	fprintf(t->file, "# left out: %s\n", line);
}

static struct sl_job job_of(enum sl_primitive p, enum sl_type type, uint32_t n)
{
	struct sl_job job = {p, {.n = n, .type = type, .input = SL_INPUT_RANDOM}};

	job.set.alive = SL_ALIVE_HALF;
	if (p == SL_SORT)
		job.set.end_bit = type == SL_U32 ? 32 : 64;
	return job;
}

static enum sl_status tune_size(struct tuner *t, const struct sl_job *job, struct found *f)
{
	struct sl_contest c;
	enum sl_status s;

	t->cut = false;
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
		sl_contest_close(&c);
	if (t->cut)
		leave_out(t, job);
	return s;
}

static enum sl_status tune_backend(
	struct tuner *t, enum sl_type type, const struct sl_numbers *sizes)
{
	static struct found f;

	memset(&f, 0, sizeof(f));
	for (uint32_t i = 0; i < sizes->n; i++) {
		const struct sl_job job = job_of(t->backend->primitive, type, sizes->at[i]);
		char text[SL_JOB_BYTES];

		SL_TRY(sl_add_context(tune_size(t, &job, &f), "%s", sl_job_text(&job, text)));
	}
	write_lines(t, type, &f);
	return SL_OK;
}

/* Ascending: lines are. */
static void sort_sizes(struct sl_numbers *sizes)
{
	for (uint32_t i = 1; i < sizes->n; i++)
		for (uint32_t k = i; k > 0 && sizes->at[k] < sizes->at[k - 1]; k--) {
			uint32_t swap = sizes->at[k];

			sizes->at[k] = sizes->at[k - 1];
			sizes->at[k - 1] = swap;
		}
}

static bool has_type(const struct sl_numbers *types, enum sl_type type)
{
	for (uint32_t i = 0; i < types->n; i++)
		if (types->at[i] == (uint32_t)type)
			return true;
	return types->n == 0;
}

/* Every backend of that name that can be tuned. */
static enum sl_status tune_named(struct tuner *t, const char *name, const struct sl_numbers *sizes)
{
	for (int p = SL_SCAN; p <= SL_SORT; p++)
		for (int type = SL_U32; type <= SL_U64; type++)
			for (size_t i = 0; (t->backend = sl_job_backend(
						    t->b->asked, (enum sl_primitive)p, i)) != NULL;
				i++)
				if (strcmp(t->backend->name, name) == 0 &&
					t->backend->tunable.block > 0 &&
					!(p == SL_COMPACT && type == SL_U64) &&
					has_type(&t->b->asked->types, (enum sl_type)type))
					SL_TRY(tune_backend(t, (enum sl_type)type, sizes));
	return SL_OK;
}

/* The one that is chosen where nobody chooses comes first. */
static enum sl_status tune_all(struct tuner *t)
{
	static const char *const names[] = {"shared", "work_efficient", "naive"};
	static const struct sl_numbers usual = {4, {1 << 16, 1 << 20, 1 << 24, 1 << 27}};
	static const struct sl_numbers emulated = {1, {1 << 8}};
	struct sl_numbers sizes = t->b->asked->sizes.n > 0  ? t->b->asked->sizes
	                          : sl_device_is_emulated() ? emulated
	                                                    : usual;

	sort_sizes(&sizes);
	sl_cell_heading();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		SL_TRY(tune_named(t, names[i], &sizes));
	return SL_OK;
}

enum sl_status sl_bench_tune(struct sl_bench *b)
{
	static struct tuner t;
	const char *out = b->asked->out;
	char message[SL_MESSAGE_BYTES];
	enum sl_status s, closed;

	t.b = b;
	if (!out)
		return sl_fail(SL_USAGE,
			"tune has nowhere to write, name a file by --out (sluice looks for "
			"~/.config/sluice/tuning, and for what SL_TUNING names)");
	SL_TRY(open_file(&t, out));
	s = tune_all(&t);
	memcpy(message, sl_last_error(), sizeof(message));
	closed = close_file(&t, out);
	if (s != SL_OK)
		sl_set_last_error(message);
	return s != SL_OK ? s : closed;
}
