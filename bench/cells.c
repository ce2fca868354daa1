/*
 * cells.c - a job done by one backend after another, each with one tuning after another: checked,
 * timed, printed.
 *
 * All that do a job are held to the same answer (tests/cases/contest.h). Sorts have outputs, as
 * CUB's have. The copy is of n words
 * within the device's memory: 8 bytes an item, the speed that none can pass. A backend's bytes are
 * the least that any algorithm must move: input read once, output written once.
 */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "primitives/base/clock.h"

bool sl_bench_has_time(const struct sl_bench *b, double seconds)
{
	return b->deadline_ns == 0 || sl_now_ns() + (uint64_t)(1e9 * seconds) < b->deadline_ns;
}

/* --- what a job is called --------------------------------------------------------------------- */

double sl_input_entropy(enum sl_input input)
{
	for (int i = 0; i < SL_ENTROPIES; i++)
		if (sl_entropies[i].value == (uint32_t)input)
			return sl_entropies[i].number;
	return NAN;
}

double sl_alive_percent(enum sl_alive alive)
{
	for (int i = 0; i < SL_SURVIVORS; i++)
		if (sl_survivors[i].value == (uint32_t)alive)
			return sl_survivors[i].number;
	return NAN;
}

static const char *type_name(enum sl_type type)
{
	return type == SL_U32 ? "u32" : "u64";
}

/* A sort of keys alone is another than that of pairs. */
static const char *job_name(const struct sl_job *job)
{
	if (job->primitive == SL_SORT && job->set.keys_only)
		return "sort-keys";
	return sl_primitive_name(job->primitive);
}

const char *sl_job_text(const struct sl_job *job, char text[SL_JOB_BYTES])
{
	const struct sl_setting *set = &job->set;
	size_t used = (size_t)snprintf(
		text, SL_JOB_BYTES, "%s %s, n=%u", job_name(job), type_name(set->type), set->n);

	if (job->primitive == SL_COMPACT)
		used += (size_t)snprintf(
			text + used, SL_JOB_BYTES - used, ", %s", sl_alive_name(set->alive));
	if (set->columns.n > 0)
		used += (size_t)snprintf(text + used, SL_JOB_BYTES - used,
			", %u columns of %u bytes", set->columns.n, set->columns.bytes);
	if (job->primitive == SL_SORT)
		used += (size_t)snprintf(text + used, SL_JOB_BYTES - used, ", %u bits, %s",
			set->end_bit, sl_input_file(set->input));
	if (set->off[0] > 0)
		snprintf(text + used, SL_JOB_BYTES - used, ", %u off", set->off[0]);
	return text;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* A row: who, what, and how long. */
struct cell {
	const char *primitive, *backend;
	const struct sl_job *job;
	struct sl_tuning tuning; /* 0: has none */
	struct sl_times times;
	uint64_t bytes; /* the least that must be moved */
};

static double gb_per_s(const struct cell *c)
{
	return c->times.ms.median > 0 ? (double)c->bytes / (1e6 * c->times.ms.median) : NAN;
}

/* What the copy's time, or CUB's, is in parts of a cell's; NaN: not known. */
static double share(double of, double by)
{
	return of > 0 && by > 0 ? of / by : NAN;
}

static double or_none(uint32_t n)
{
	return n > 0 ? (double)n : NAN;
}

void sl_cell_heading(void)
{
	printf("\n%-9s %-15s %-4s %10s %5s %5s  %10s %10s %10s %3s %9s  %8s %6s %6s\n", "",
		"backend", "type", "n", "block", "items", "median ms", "least", "most", "of",
		"host ms", "GB/s", "copy", "CUB");
}

/* The number, or - when there is none. */
static const char *shown(char text[16], double value, int decimals, const char *unit)
{
	if (isfinite(value))
		snprintf(text, 16, "%.*f%s", decimals, value, unit);
	else
		snprintf(text, 16, "-");
	return text;
}

/* Of columns, "8x4" stands for the type. */
static void print_name(const struct cell *c)
{
	const struct sl_taken *columns = &c->job->set.columns;
	char block[16], items[16], type[16];

	snprintf(type, sizeof(type), "%s", type_name(c->job->set.type));
	if (columns->n > 0)
		snprintf(type, sizeof(type), "%ux%u", columns->n, columns->bytes);
	printf("%-9s %-15s %-4s %10u %5s %5s  ", c->primitive, c->backend, type, c->job->set.n,
		shown(block, or_none(c->tuning.block), 0, ""),
		shown(items, or_none(c->tuning.items), 0, ""));
}

static void print_cell(const struct sl_bench *b, const struct cell *c)
{
	const struct sl_spread *ms = &c->times.ms;
	char copy[16], cub[16];

	print_name(c);
	printf("%10.4f %10.4f %10.4f %3u %9.4f%s %8.1f %6s %6s\n", ms->median, ms->least, ms->most,
		ms->n, c->times.host_ms, c->times.held ? " " : "*", gb_per_s(c),
		shown(copy, 100 * share(gb_per_s(c), b->copy_gb_s), 1, "%"),
		shown(cub, share(b->cub_ms, ms->median), 2, "x"));
	(void)fflush(stdout);
}

/* What a job does not have, is empty. */
static void write_cell(const struct sl_bench *b, const struct cell *c)
{
	const struct sl_setting *set = &c->job->set;
	const struct sl_spread *ms = &c->times.ms;
	bool copy = strcmp(c->primitive, "copy") == 0;
	bool sorts = !copy && c->job->primitive == SL_SORT;
	bool compacts = !copy && c->job->primitive == SL_COMPACT;
	const struct sl_field row[] = {
		{"primitive", c->primitive, 0, 0},
		{"backend", c->backend, 0, 0},
		{"type", type_name(set->type), 0, 0},
		{"n", NULL, set->n, 10},
		{"bits", NULL, sorts ? (double)set->end_bit : (double)NAN, 2},
		{"entropy", NULL, sorts ? sl_input_entropy(set->input) : (double)NAN, 3},
		{"survivors_percent", NULL, compacts ? sl_alive_percent(set->alive) : (double)NAN,
			3},
		{"columns", NULL, compacts ? (double)set->columns.n : (double)NAN, 3},
		{"column_bytes", NULL, or_none(set->columns.bytes), 3},
		{"items_off", NULL, set->off[0], 3},
		{"block", NULL, or_none(c->tuning.block), 4},
		{"items", NULL, or_none(c->tuning.items), 4},
		{"ms_median", NULL, ms->median, 6},
		{"ms_min", NULL, ms->least, 6},
		{"ms_lower_quartile", NULL, ms->lower, 6},
		{"ms_upper_quartile", NULL, ms->upper, 6},
		{"ms_max", NULL, ms->most, 6},
		{"samples", NULL, ms->n, 4},
		{"held", c->times.held ? "yes" : "no", 0, 0},
		{"host_ms", NULL, c->times.host_ms, 4},
		{"least_bytes", NULL, (double)c->bytes, 15},
		{"gb_per_s", NULL, gb_per_s(c), 6},
		{"share_of_copy", NULL, share(gb_per_s(c), b->copy_gb_s), 4},
		{"times_cub", NULL, share(b->cub_ms, ms->median), 4},
	};

	sl_sheet_row(b->sheet, row, sizeof(row) / sizeof(row[0]));
}

/* --- the copy --------------------------------------------------------------------------------- */

struct copy {
	void *from, *to;
	size_t bytes;
};

static enum sl_status run_copy(void *of)
{
	const struct copy *c = (const struct copy *)of;

	return sl_copy(c->to, c->from, c->bytes, NULL);
}

static enum sl_status time_copy(const struct sl_bench *b, struct copy *c, struct sl_times *times)
{
	const struct sl_timed timed = {c, NULL, run_copy};

	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->from));
	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->to));
	SL_TRY(sl_fill(c->from, 1, c->bytes, NULL));
	SL_TRY(run_copy(c));
	return sl_time(&b->watch, &timed, times);
}

enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_times *times)
{
	struct copy c = {.bytes = n * sizeof(uint32_t)};
	enum sl_status s = time_copy(b, &c, times);

	sl_memory_give(SL_DEVICE, c.from);
	sl_memory_give(SL_DEVICE, c.to);
	return sl_add_context(s, "copy of %u words", n);
}

/* Once a table and size. */
static enum sl_status measure_copy(struct sl_bench *b, uint32_t n)
{
	const struct sl_job words = {SL_SCAN, {.n = n, .type = SL_U32}};
	struct cell cell = {.primitive = "copy", .backend = "device", .job = &words};

	b->cub_ms = 0;
	SL_TRY(sl_copy_time(b, n, &cell.times));
	cell.bytes = 2 * sizeof(uint32_t) * n;
	b->copy_n = n;
	b->copy_gb_s = gb_per_s(&cell);
	print_cell(b, &cell);
	write_cell(b, &cell);
	return SL_OK;
}

/* --- a backend -------------------------------------------------------------------------------- */

static enum sl_status load_contest(void *of)
{
	return sl_contest_load((struct sl_contest *)of);
}

static enum sl_status run_contest(void *of)
{
	struct sl_contest *c = (struct sl_contest *)of;

	return c->of->run(&c->trial);
}

enum sl_status sl_cell_time(const struct sl_bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_times *times)
{
	const struct sl_timed timed = {c, load_contest, run_contest};

	SL_TRY(sl_contest_enter(c, backend, tuning));
	SL_TRY(sl_contest_try(c));
	return sl_time(&b->watch, &timed, times);
}

/* A cell that could not be timed, and why. */
static void leave_out(const struct sl_bench *b, const struct cell *c)
{
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + SL_MESSAGE_BYTES];

	print_name(c);
	printf("not timed: %s\n", sl_last_error());
	(void)fflush(stdout);
	snprintf(line, sizeof(line), "%s, %s: %s", sl_job_text(c->job, text), c->backend,
		sl_last_error());
	sl_sheet_left_out(b->sheet, line);
}

enum sl_status sl_cell_measure(struct sl_bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_times *times)
{
	const struct sl_setting *set = &c->trial.set;
	const struct sl_job job = {c->of->primitive, *set};
	struct cell cell = {.primitive = job_name(&job),
		.backend = backend->name,
		.job = &job,
		.tuning = sl_tuning_of(backend, tuning, set->type, set->n)};
	enum sl_status s = sl_cell_time(b, c, backend, tuning, &cell.times);

	if (times)
		*times = cell.times;
	cell.bytes = c->of->bytes_moved(&c->trial);
	if (s == SL_OK) {
		print_cell(b, &cell);
		write_cell(b, &cell);
		return SL_OK;
	}
	leave_out(b, &cell);
	b->wrong = b->wrong || s == SL_CHECK_FAILED;
	return s == SL_DEVICE_FAILED ? s : SL_OK;
}

/* --- tunings ---------------------------------------------------------------------------------- */

/* Block sizes that stand for all: multiples of a warp, the smaller the closer. */
static const struct sl_numbers usual_blocks = {
	13, {32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024}};

/* Those of one block size. */
static enum sl_status each_items(const struct sl_backend *backend, enum sl_type type,
	const struct sl_numbers *items, uint32_t block, sl_each_tuning *each, void *of)
{
	for (uint32_t i = 0; i < items->n; i++) {
		const struct sl_tuning tuning = {block, items->at[i]};

		if (sl_tuning_check(backend, tuning, type) == SL_OK)
			SL_TRY(each(of, tuning));
	}
	return SL_OK;
}

/* Without a choice of items: its own. */
static struct sl_numbers items_of(const struct sl_backend *backend, const struct sl_asked *asked)
{
	struct sl_numbers all = {0};

	if (asked->items.n > 0)
		return asked->items;
	if (asked->tunings)
		while (backend->tunable.items_can[all.n] != 0 && all.n < 8) {
			all.at[all.n] = backend->tunable.items_can[all.n];
			all.n++;
		}
	all.n += all.n == 0;
	return all;
}

enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_asked *asked, sl_each_tuning *each, void *of)
{
	static const struct sl_numbers own = {1, {0}};
	const struct sl_numbers *blocks = asked->blocks.n > 0 ? &asked->blocks
	                                  : asked->tunings    ? &usual_blocks
	                                                      : &own;
	struct sl_numbers items = items_of(backend, asked);

	if (asked->tunings || (asked->blocks.n == 0 && asked->items.n == 0) ||
		backend->tunable.block == 0)
		SL_TRY(each(of, (struct sl_tuning){0}));
	if ((!asked->tunings && asked->blocks.n == 0 && asked->items.n == 0) ||
		backend->tunable.block == 0)
		return SL_OK;
	for (uint32_t i = 0; i < blocks->n; i++)
		SL_TRY(each_items(backend, type, &items, blocks->at[i], each, of));
	return SL_OK;
}

/* --- a job ------------------------------------------------------------------------------------ */

static bool is_asked_for(const struct sl_asked *asked, const struct sl_backend *backend)
{
	const char *primitive = sl_primitive_name(backend->primitive);
	size_t length = strlen(primitive);

	if (!asked->only)
		return true;
	if (strncmp(asked->only, primitive, length) != 0)
		return false;
	return asked->only[length] == '\0' ||
	       (asked->only[length] == '/' && strcmp(asked->only + length + 1, backend->name) == 0);
}

const struct sl_backend *sl_job_backend(const struct sl_asked *asked, enum sl_primitive p, size_t i)
{
	const struct sl_backend *backend;

	for (size_t k = 0; (backend = sl_backend_at(k)) != NULL; k++)
		if (backend->primitive == p && backend->space == SL_DEVICE &&
			is_asked_for(asked, backend) && i-- == 0)
			return backend;
	return NULL;
}

/* CUB first: all others are compared with it. */
static enum sl_status measure_cub(struct sl_bench *b, struct sl_contest *c)
{
	b->cub_ms = 0;
#ifdef SL_WITH_CUDA
	if (!sl_device_is_emulated()) {
		struct sl_times times;

		SL_TRY(sl_cell_measure(
			b, c, &sl_bench_cub[c->of->primitive], (struct sl_tuning){0}, &times));
		b->cub_ms = times.ms.median;
	}
#endif
	(void)c;
	return SL_OK;
}

enum sl_status sl_job_open(struct sl_bench *b, const struct sl_job *job, struct sl_contest *c)
{
	memset(c, 0, sizeof(*c));
	if (b->copy_n != job->set.n)
		SL_TRY(measure_copy(b, job->set.n));
	SL_TRY(sl_contest_open(job->primitive, &job->set, c));
	return measure_cub(b, c);
}

/* A contest and who does it now. */
struct turn {
	struct sl_bench *b;
	struct sl_contest *c;
	const struct sl_backend *backend;
};

static enum sl_status measure_tuning(void *of, struct sl_tuning tuning)
{
	struct turn *t = (struct turn *)of;
	const struct sl_job job = {t->c->of->primitive, t->c->trial.set};
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + 128];

	if (sl_bench_has_time(t->b, 0))
		return sl_cell_measure(t->b, t->c, t->backend, tuning, NULL);
	snprintf(line, sizeof(line), "%s, %s, block=%u, items=%u", sl_job_text(&job, text),
		t->backend->name, tuning.block, tuning.items);
	sl_sheet_left_out(t->b->sheet, line);
	return SL_OK;
}

enum sl_status sl_job_measure(struct sl_bench *b, const struct sl_job *job)
{
	struct sl_contest c;
	struct turn turn = {b, &c, NULL};
	enum sl_status s = sl_job_open(b, job, &c);
	char text[SL_JOB_BYTES];

	for (size_t i = 0; s == SL_OK; i++) {
		turn.backend = sl_job_backend(b->asked, job->primitive, i);
		if (!turn.backend)
			break;
		s = sl_tunings_each(turn.backend, job->set.type, b->asked, measure_tuning, &turn);
	}
	if (c.of)
		sl_contest_close(&c);
	return sl_add_context(s, "%s", sl_job_text(job, text));
}
