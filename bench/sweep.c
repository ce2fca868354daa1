/*
 * sweep.c - the command: the whole data set of a device, as CSV files in a folder, within a time.
 *
 *	sizes.csv       every backend against n           inputs.csv    against what the keys are
 *	tunings.csv     against block and items           pipeline.csv  end to end
 *
 * Rounds come in the order of what matters, so that a short sweep has something of everything. What
 * there was no time for is named at the foot of its file.
 */
#include <string.h>

#include "bench/bench.h"
#include "primitives/base/clock.h"

enum { SECONDS_USUAL = 300 };

enum sheet_number { ON_SIZES, ON_INPUTS, ON_TUNINGS, ON_PIPELINE, SHEETS };
static const char *const sheet_names[SHEETS] = {"sizes", "inputs", "tunings", "pipeline"};

/* What a round varies, beside n. */
enum axis { NOTHING, SURVIVORS, COLUMNS, ENTROPY, BITS, OFF, KEYS, TUNINGS, BLOCKS, PARTICLES };

#define P(power)    (UINT32_C(1) << (power))
#define LESS(power) (P(power) - 3)

/* Its jobs: one or all of the three primitives, of one or both types. */
static const struct round {
	enum sheet_number sheet;
	enum axis axis;
	const char *only; /* NULL: all */
	bool wide;        /* u64 too */
	struct sl_numbers sizes;
} rounds[] = {
	{ON_PIPELINE, PARTICLES, NULL, false, {1, {P(16)}}},
	{ON_SIZES, NOTHING, NULL, true, {4, {P(24), P(20), P(16), P(27)}}},
	{ON_SIZES, KEYS, "sort", true, {4, {P(24), P(20), P(16), P(27)}}},
	{ON_PIPELINE, PARTICLES, NULL, false, {3, {P(24), P(20), P(26)}}},
	{ON_TUNINGS, TUNINGS, "scan/shared", false, {1, {P(24)}}},
	{ON_TUNINGS, TUNINGS, "compact/shared", false, {1, {P(24)}}},
	{ON_TUNINGS, TUNINGS, "sort/shared", false, {1, {P(24)}}},
	{ON_INPUTS, SURVIVORS, "compact", false, {1, {P(26)}}},
	{ON_INPUTS, COLUMNS, "compact", false, {1, {P(26)}}},
	{ON_INPUTS, BITS, "sort", false, {1, {P(26)}}},
	{ON_INPUTS, ENTROPY, "sort", false, {1, {P(26)}}},
	{ON_SIZES, NOTHING, NULL, true,
		{8, {P(12), P(18), P(22), P(8), P(26), P(14), P(10), P(4)}}},
	{ON_SIZES, KEYS, "sort", true, {8, {P(12), P(18), P(22), P(8), P(26), P(14), P(10), P(4)}}},
	{ON_TUNINGS, BLOCKS, "scan", false, {1, {P(24)}}},
	{ON_TUNINGS, BLOCKS, "compact", false, {1, {P(24)}}},
	{ON_TUNINGS, BLOCKS, "sort", false, {1, {P(24)}}},
	{ON_INPUTS, OFF, NULL, false, {1, {P(24)}}},
	{ON_SIZES, NOTHING, NULL, false, {4, {LESS(24), LESS(20), LESS(16), LESS(27)}}},
	{ON_SIZES, NOTHING, NULL, false, {3, {P(28), P(6), P(30)}}},
	{ON_SIZES, NOTHING, NULL, false,
		{10, {P(5), P(7), P(9), P(11), P(13), P(15), P(17), P(19), P(21), P(23)}}},
	{ON_SIZES, NOTHING, NULL, false, {2, {P(25), P(29)}}},
	{ON_SIZES, NOTHING, NULL, false,
		{10, {LESS(4), LESS(6), LESS(8), LESS(10), LESS(12), LESS(14), LESS(18), LESS(22),
			     LESS(26), LESS(28)}}},
	{ON_PIPELINE, PARTICLES, NULL, false, {4, {P(12), P(14), P(18), P(22)}}},
	{ON_SIZES, NOTHING, NULL, false,
		{11, {LESS(5), LESS(7), LESS(9), LESS(11), LESS(13), LESS(15), LESS(17), LESS(19),
			     LESS(21), LESS(23), LESS(25)}}},
	{ON_SIZES, NOTHING, NULL, false, {2, {LESS(30), LESS(29)}}},
};

struct sweep {
	struct sl_bench *b;
	const struct sl_asked *asked; /* the command line's */
	struct sl_sheet sheet[SHEETS];
};

/* --- one job ---------------------------------------------------------------------------------- */

/* What the host takes to make and check a job, ns an item, at most. */
static double host_seconds(const struct sl_job *job)
{
	static const double ns[] = {[SL_SCAN] = 15, [SL_COMPACT] = 15, [SL_SORT] = 60};
	const struct sl_taken *columns = &job->set.columns;

	return 1e-9 * (ns[job->primitive] + columns->n * columns->bytes) * (double)job->set.n;
}

static enum sl_status measure(struct sweep *w, const struct sl_job *job)
{
	char text[SL_JOB_BYTES];
	enum sl_status s;

	if (!sl_job_backend(w->b->asked, job->primitive, 0))
		return SL_OK;
	if (!sl_bench_has_time(w->b, host_seconds(job))) {
		sl_sheet_left_out(w->b->sheet, sl_job_text(job, text));
		return SL_OK;
	}
	s = sl_job_measure(w->b, job);
	if (s != SL_DEVICE_MEMORY && s != SL_HOST_MEMORY)
		return s;
	printf("not measured: %s\n", sl_last_error());
	sl_sheet_left_out(w->b->sheet, sl_last_error());
	return SL_OK;
}

static struct sl_job job_of(enum sl_primitive p, enum sl_type type, uint32_t n)
{
	struct sl_job job = {p, {.n = n, .type = type, .input = SL_INPUT_RANDOM}};

	job.set.alive = SL_ALIVE_HALF;
	if (p == SL_SORT)
		job.set.end_bit = type == SL_U32 ? 32 : 64;
	return job;
}

/* --- a round ---------------------------------------------------------------------------------- */

/* The i-th variant of a job along an axis; false past the last. */
static bool vary(struct sl_job *job, enum axis axis, size_t i)
{
	static const uint32_t bits[] = {8, 16, 24, 30, 32};
	static const struct sl_taken columns[] = {{8, 4}, {1, 32}, {1, 4}};

	switch (axis) {
	case SURVIVORS:
		if (i >= SL_SURVIVORS)
			return false;
		job->set.alive = (enum sl_alive)sl_survivors[i].value;
		return true;
	case COLUMNS:
		if (i >= sizeof(columns) / sizeof(columns[0]))
			return false;
		job->set.columns = columns[i];
		job->set.no_indices = true;
		return true;
	case ENTROPY:
		if (i >= SL_ENTROPIES)
			return false;
		job->set.input = (enum sl_input)sl_entropies[i].value;
		return true;
	case BITS:
		if (i >= sizeof(bits) / sizeof(bits[0]))
			return false;
		job->set.end_bit = bits[i];
		return true;
	case OFF:
		job->set.off[0] = job->set.off[1] = (uint32_t)i;
		return i < 2;
	case KEYS:
		job->set.keys_only = true;
		return i == 0;
	case NOTHING:
	case TUNINGS:
	case BLOCKS:
	case PARTICLES:
		break;
	}
	return i == 0;
}

static enum sl_status measure_primitives(
	struct sweep *w, const struct round *r, enum sl_type type, uint32_t n)
{
	for (int p = SL_SCAN; p <= SL_SORT; p++) {
		struct sl_job job = job_of((enum sl_primitive)p, type, n);

		if (p == SL_COMPACT && type == SL_U64)
			continue;
		for (size_t i = 0; vary(&job, r->axis, i); i++)
			SL_TRY(measure(w, &job));
	}
	return SL_OK;
}

static enum sl_status measure_size(struct sweep *w, const struct round *r, uint32_t n)
{
	char text[64];

	if (r->axis != PARTICLES) {
		SL_TRY(measure_primitives(w, r, SL_U32, n));
		return r->wide ? measure_primitives(w, r, SL_U64, n) : SL_OK;
	}
	if (sl_bench_has_time(w->b, 1e-7 * (double)n)) {
		sl_pipeline_heading();
		return sl_pipeline_row(w->b, n);
	}
	snprintf(text, sizeof(text), "pipeline, n=%u", n);
	sl_sheet_left_out(w->b->sheet, text);
	return SL_OK;
}

/* On the emulated device a size stands for all of a round. */
static enum sl_status run_round(struct sweep *w, const struct round *r)
{
	static const struct sl_numbers blocks = {8, {32, 64, 128, 256, 384, 512, 768, 1024}};
	static const struct sl_numbers few = {2, {64, 256}};
	struct sl_asked asked = *w->asked;
	bool emulated = sl_device_is_emulated();
	enum sl_status s = SL_OK;

	asked.only = r->only;
	asked.tunings = r->axis == TUNINGS && !emulated;
	if (r->axis == BLOCKS || (r->axis == TUNINGS && emulated))
		asked.blocks = emulated ? few : blocks;
	w->b->asked = &asked;
	w->b->sheet = &w->sheet[r->sheet];
	w->b->copy_n = 0; /* each file has its copies */
	if (r->axis != PARTICLES)
		sl_cell_heading();
	for (uint32_t i = 0; s == SL_OK && i < (emulated ? 1 : r->sizes.n); i++) {
		uint32_t n = r->sizes.at[i];

		s = measure_size(w, r, emulated && n > 300 ? 200 + n % 100 : n);
	}
	w->b->asked = w->asked;
	return s;
}

/* --- the command ------------------------------------------------------------------------------ */

static enum sl_status open_sheets(struct sweep *w, const char *folder)
{
	char name[SL_PATH_BYTES];
	struct sl_dir dir;

	SL_TRY(sl_dir_open(folder, true, &dir));
	sl_dir_close(&dir);
	for (int i = 0; i < SHEETS; i++) {
		snprintf(name, sizeof(name), "%.4000s/%s.csv", folder, sheet_names[i]);
		SL_TRY(sl_sheet_open(&w->sheet[i], &w->b->about, name, NULL));
	}
	return SL_OK;
}

enum sl_status sl_bench_sweep(struct sl_bench *b)
{
	static struct sweep w;
	struct sl_sheet *sheet = b->sheet;
	char message[SL_MESSAGE_BYTES];
	enum sl_status s, closed = SL_OK;

	if (!b->asked->out)
		return sl_fail(SL_USAGE, "sweep has nowhere to write, name a folder by --out");
	w.b = b;
	w.asked = b->asked;
	if (b->deadline_ns == 0)
		b->deadline_ns = sl_now_ns() + UINT64_C(1000000000) * SECONDS_USUAL;
	s = open_sheets(&w, b->asked->out);
	for (size_t i = 0; s == SL_OK && i < sizeof(rounds) / sizeof(rounds[0]); i++)
		s = run_round(&w, &rounds[i]);
	if (s == SL_OK && b->wrong)
		s = sl_fail(SL_CHECK_FAILED, "an answer was wrong, see what was printed");
	memcpy(message, sl_last_error(), sizeof(message));
	for (int i = 0; i < SHEETS; i++)
		if (sl_sheet_close(&w.sheet[i]) != SL_OK)
			closed = SL_DISK;
	b->sheet = sheet;
	if (s != SL_OK)
		sl_set_last_error(message);
	return s != SL_OK ? s : closed;
}
