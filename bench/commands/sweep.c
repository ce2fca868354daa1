/*
 * sweep.c - the command sweep: measures the whole data set of a device, within a time limit, and
 * writes it to a folder as CSV files.
 *
 *	sizes.csv       every backend by size             inputs.csv    by property of the input
 *	tunings.csv     by block and items                pipeline.csv  the whole batch
 *
 * The rounds are ordered by importance, so a short sweep contains something of everything. Each
 * file ends with the list of what was not measured for lack of time.
 */
#include "bench/commands/sweep.h"

#include <string.h>

#include "bench/cells/cell.h"
#include "bench/cells/row.h"
#include "bench/commands/pipeline.h"
#include "primitives/base/clock.h"

enum { SECONDS_DEFAULT = 300 };

enum table_number { SIZES_TABLE, INPUTS_TABLE, TUNINGS_TABLE, PIPELINE_TABLE, TABLES };
static const char *const table_names[TABLES] = {"sizes", "inputs", "tunings", "pipeline"};

/* The property that a round varies in addition to n. */
enum axis { NOTHING, SURVIVORS, COLUMNS, ENTROPY, BITS, OFF, KEYS, TUNINGS, BLOCKS, PARTICLES };

#define P(power)    (UINT32_C(1) << (power))
#define LESS(power) (P(power) - 3)

/* A round measures one or all of the three primitives, with one or both types. */
static const struct sweep_round {
	enum table_number table;
	enum axis axis;
	const char *only; /* NULL: all */
	bool both_types;  /* u64 in addition to u32 */
	struct sl_number_list sizes;
} rounds[] = {
	{PIPELINE_TABLE, PARTICLES, NULL, false, {1, {P(16)}}},
	{SIZES_TABLE, NOTHING, NULL, true, {4, {P(24), P(20), P(16), P(27)}}},
	{SIZES_TABLE, KEYS, "sort", true, {4, {P(24), P(20), P(16), P(27)}}},
	{PIPELINE_TABLE, PARTICLES, NULL, false, {3, {P(24), P(20), P(26)}}},
	{TUNINGS_TABLE, TUNINGS, "scan/shared", false, {1, {P(24)}}},
	{TUNINGS_TABLE, TUNINGS, "compact/shared", false, {1, {P(24)}}},
	{TUNINGS_TABLE, TUNINGS, "sort/shared", false, {1, {P(24)}}},
	{INPUTS_TABLE, SURVIVORS, "compact", false, {1, {P(26)}}},
	{INPUTS_TABLE, COLUMNS, "compact", false, {1, {P(26)}}},
	{INPUTS_TABLE, BITS, "sort", false, {1, {P(26)}}},
	{INPUTS_TABLE, ENTROPY, "sort", false, {1, {P(26)}}},
	{SIZES_TABLE, NOTHING, NULL, true,
		{8, {P(12), P(18), P(22), P(8), P(26), P(14), P(10), P(4)}}},
	{SIZES_TABLE, KEYS, "sort", true,
		{8, {P(12), P(18), P(22), P(8), P(26), P(14), P(10), P(4)}}},
	{TUNINGS_TABLE, BLOCKS, "scan", false, {1, {P(24)}}},
	{TUNINGS_TABLE, BLOCKS, "compact", false, {1, {P(24)}}},
	{TUNINGS_TABLE, BLOCKS, "sort", false, {1, {P(24)}}},
	{INPUTS_TABLE, OFF, NULL, false, {1, {P(24)}}},
	{SIZES_TABLE, NOTHING, NULL, false, {4, {LESS(24), LESS(20), LESS(16), LESS(27)}}},
	{SIZES_TABLE, NOTHING, NULL, false, {3, {P(28), P(6), P(30)}}},
	{SIZES_TABLE, NOTHING, NULL, false,
		{10, {P(5), P(7), P(9), P(11), P(13), P(15), P(17), P(19), P(21), P(23)}}},
	{SIZES_TABLE, NOTHING, NULL, false, {2, {P(25), P(29)}}},
	{SIZES_TABLE, NOTHING, NULL, false,
		{10, {LESS(4), LESS(6), LESS(8), LESS(10), LESS(12), LESS(14), LESS(18), LESS(22),
			     LESS(26), LESS(28)}}},
	{PIPELINE_TABLE, PARTICLES, NULL, false, {4, {P(12), P(14), P(18), P(22)}}},
	{SIZES_TABLE, NOTHING, NULL, false,
		{11, {LESS(5), LESS(7), LESS(9), LESS(11), LESS(13), LESS(15), LESS(17), LESS(19),
			     LESS(21), LESS(23), LESS(25)}}},
	{SIZES_TABLE, NOTHING, NULL, false, {2, {LESS(30), LESS(29)}}},
};

struct sweep_state {
	struct sl_bench *b;
	const struct sl_bench_options *options; /* of the command line */
	struct sl_bench_options round;          /* of the current round */
	struct sl_bench_table table[TABLES];
};

/* --- one job ---------------------------------------------------------------------------------- */

/* Upper bound of the time that the host needs to make and check a job. */
static double host_seconds(const struct sl_job *job)
{
	static const double ns_per_item[] = {[SL_SCAN] = 15, [SL_COMPACT] = 15, [SL_SORT] = 60};
	const struct sl_moved_columns *columns = &job->set.columns;

	return 1e-9 * (ns_per_item[job->primitive] + columns->n * columns->bytes) *
	       (double)job->set.n;
}

/* --- a round ---------------------------------------------------------------------------------- */

/* The i-th variant of a job along an axis; false past the last. */
static bool vary(struct sl_job *job, enum axis axis, size_t i)
{
	static const uint32_t bits[] = {8, 16, 24, 30, 32};
	static const struct sl_moved_columns columns[] = {{8, 4}, {1, 32}, {1, 4}};

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
	struct sweep_state *w, const struct sweep_round *r, enum sl_type type, uint32_t n)
{
	for (int p = SL_SCAN; p <= SL_SORT; p++) {
		struct sl_job job = sl_job_usual((enum sl_primitive)p, type, n);

		if (p == SL_COMPACT && type == SL_U64)
			continue;
		for (size_t i = 0; vary(&job, r->axis, i); i++)
			SL_TRY(sl_job_measure(w->b, &job, host_seconds(&job)));
	}
	return SL_OK;
}

static enum sl_status measure_size(struct sweep_state *w, const struct sweep_round *r, uint32_t n)
{
	char text[64];

	if (r->axis != PARTICLES) {
		SL_TRY(measure_primitives(w, r, SL_U32, n));
		return r->both_types ? measure_primitives(w, r, SL_U64, n) : SL_OK;
	}
	if (sl_bench_has_time(w->b, 1e-7 * (double)n)) {
		sl_pipeline_heading();
		return sl_pipeline_row(w->b, n);
	}
	snprintf(text, sizeof(text), "pipeline, n=%u", n);
	sl_bench_table_leave_out(w->b->table, text);
	return SL_OK;
}

/* The emulated device measures one small size per round. */
static enum sl_status run_round(struct sweep_state *w, const struct sweep_round *r)
{
	static const struct sl_number_list blocks = {8, {32, 64, 128, 256, 384, 512, 768, 1024}};
	static const struct sl_number_list few = {2, {64, 256}};
	struct sl_bench_options *options = &w->round;
	bool emulated = sl_device_is_emulated();
	enum sl_status s = SL_OK;

	*options = *w->options;
	options->only = r->only;
	options->tunings = r->axis == TUNINGS && !emulated;
	if (r->axis == BLOCKS || (r->axis == TUNINGS && emulated))
		options->blocks = emulated ? few : blocks;
	w->b->options = options;
	w->b->table = &w->table[r->table];
	w->b->copy_n = 0; /* each file contains its own rows of the copy */
	if (r->axis != PARTICLES)
		sl_cell_row_heading();
	for (uint32_t i = 0; s == SL_OK && i < (emulated ? 1 : r->sizes.n); i++) {
		uint32_t n = r->sizes.at[i];

		s = measure_size(w, r, emulated && n > 300 ? 200 + n % 100 : n);
	}
	w->b->options = w->options;
	return s;
}

/* --- the command ------------------------------------------------------------------------------ */

static enum sl_status open_tables(struct sweep_state *w, const char *folder)
{
	char name[SL_PATH_BYTES];
	struct sl_dir dir;

	SL_TRY(sl_dir_open(folder, true, &dir));
	sl_dir_close(&dir);
	for (int i = 0; i < TABLES; i++) {
		snprintf(name, sizeof(name), "%.4000s/%s.csv", folder, table_names[i]);
		SL_TRY(sl_bench_table_open(&w->table[i], &w->b->about, name, NULL));
	}
	return SL_OK;
}

enum sl_status sl_bench_sweep(struct sl_bench *b)
{
	static struct sweep_state w;
	struct sl_bench_table *table = b->table;
	char message[SL_MESSAGE_BYTES];
	enum sl_status s, closed;

	if (!b->options->out)
		return sl_fail(SL_USAGE, "sweep needs --out FOLDER");
	w.b = b;
	w.options = b->options;
	if (b->deadline_ns == 0)
		b->deadline_ns = sl_now_ns() + UINT64_C(1000000000) * SECONDS_DEFAULT;
	s = open_tables(&w, b->options->out);
	for (size_t i = 0; s == SL_OK && i < sizeof(rounds) / sizeof(rounds[0]); i++)
		s = run_round(&w, &rounds[i]);
	if (s == SL_OK && b->wrong)
		s = sl_fail(SL_CHECK_FAILED,
			"a backend gave a wrong answer; the rows above show which");
	memcpy(message, sl_last_error(), sizeof(message));
	for (int i = 0; i < TABLES; i++) {
		closed = sl_bench_table_close(&w.table[i]);
		if (s == SL_OK && closed != SL_OK)
			memcpy(message, sl_last_error(), sizeof(message));
		s = s != SL_OK ? s : closed;
	}
	b->table = table;
	if (s != SL_OK)
		sl_set_last_error(message);
	return s;
}
