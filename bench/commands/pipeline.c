/*
 * pipeline.c - the command pipeline: times one batch from particles to sorted columns, by each mode
 * of this project and by the CUB pipeline, on one device.
 *
 * All of them must give the same number of survivors and the same digests of all columns, and those
 * of the host reference for batches of at most HOST_MAX particles. Each is timed after that.
 *
 * A time is measured from the first launch to the end of the last kernel. It includes the transfer
 * of the number of survivors to the host, which every implementation needs, and the time that the
 * host then takes to continue. It does not include the transfer of the columns. There is no gate:
 * the stream starts while the host is still queueing, as in a run.
 */
#include "bench/commands/commands.h"

#include <math.h>
#include <string.h>

#include "bench/cells/cells.h"
#include "bench/contenders/contenders.h"
#include "primitives/base/clock.h"

enum {
	SAMPLES_MAX = 31,
	WARM_UPS = 2,
	HOST_MAX = 1 << 24 /* particles; the host needs one or two seconds for them */
};

/* All modes and CUB at one size, and their common result. */
struct contender_table {
	struct sl_bench *b;
	uint32_t n;
	struct sl_batch_result expected; /* of the host, or of the first one */
	bool has_expected;
	bool has_scores; /* along histories; of the last mode */
};

/* The times of one mode, or of CUB; on the emulated device its memory accesses instead. */
struct contender_row {
	const char *name;
	uint32_t steps;
	const char *step[SL_CONTENDER_STEPS_MAX];
	struct sl_spread all, ms[SL_CONTENDER_STEPS_MAX];
	struct sl_access_counts accesses;
};

/* --- rows ------------------------------------------------------------------------------------- */

#define NAME "{way:-8} {n:10.0f}  "

static const struct sl_line time_lines[] = {
	{"", NULL,
		NAME SL_TIMES "  {g_particles_per_s:10.3f}[ {times_cub:6.2f}x ]"
			      "[{!times_cub}       - ]<steps|  {name} {ms:.4f}>"},
	{NULL, NULL, NULL},
};
static const struct sl_line access_lines[] = {{"", NULL, NAME SL_ACCESSES}, {NULL, NULL, NULL}};

/* The speed of the memory. */
static const struct sl_line copy_lines[] = {
	{"", NULL, NAME SL_TIMES "  ({step} of 4 bytes, {n/ms_median/125000:.0f} GB/s)"},
	{NULL, NULL, NULL}};

/* A row of the table; lines: it is printed too. of: the mode, if the row is that of all steps. */
static void write_row(const struct contender_table *r, const struct sl_line *lines,
	const char *name, const char *step, const struct sl_spread *ms,
	const struct contender_row *of)
{
	struct sl_json *j = sl_bench_row_begin(r->b->table);

	sl_json_add(j, "way %s n %u step %s", name, r->n, step);
	sl_spread_put(j, ms);
	sl_json_add(j, "survivors %g g_particles_per_s %g times_cub %g",
		strcmp(name, "copy") ? r->expected.n_survivors : (double)NAN,
		of ? 1e-6 * r->n / ms->median : (double)NAN,
		of && r->b->cub_ms > 0 ? r->b->cub_ms / ms->median : (double)NAN);
	sl_accesses_put(j, of && sl_device_is_emulated() ? &of->accesses : NULL, r->n);
	if (of) {
		sl_json_array(j, "steps");
		for (uint32_t k = 0; k < of->steps; k++)
			sl_json_add(j, "{ name %s ms %g }", of->step[k], of->ms[k].median);
		sl_json_close(j);
	}
	sl_bench_row_end(r->b->table, lines, true);
}

static void show(const struct contender_table *r, const struct contender_row *e)
{
	write_row(
		r, sl_device_is_emulated() ? access_lines : time_lines, e->name, "all", &e->all, e);
	for (uint32_t k = 0; k < e->steps; k++)
		write_row(r, NULL, e->name, e->step[k], &e->ms[k], NULL);
}

/* A copy of one column of 4 bytes. */
static enum sl_status show_copy(const struct contender_table *r)
{
	struct sl_call_times times;

	SL_TRY(sl_copy_time(r->b, r->n, &times));
	write_row(r, copy_lines, "copy", "one column", &times.ms, NULL);
	return SL_OK;
}

/* --- one implementation ----------------------------------------------------------------------- */

static enum sl_status check_result(
	struct contender_table *r, const struct sl_batch_result *a, const char *name)
{
	if (!r->has_expected)
		r->expected = *a;
	r->has_expected = true;
	if (a->n_survivors != r->expected.n_survivors)
		return sl_fail(SL_CHECK_FAILED, "%s: %u particles survive, %u are expected", name,
			a->n_survivors, r->expected.n_survivors);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		if (a->digest[k] != r->expected.digest[k])
			return sl_fail(SL_CHECK_FAILED,
				"%s: the digest of column %s is not the expected one", name,
				sl_column_facts[k].name);
	return SL_OK;
}

/* The call whose result is checked is the first warm-up. */
static enum sl_status check_contender(
	struct contender_table *r, struct sl_contender *c, const char *name)
{
	struct sl_batch_result result;
	struct sl_contender_times times;

	if (r->n <= HOST_MAX && !r->has_expected) {
		SL_TRY(sl_host_reference(c->recipe, &r->expected));
		r->has_expected = true;
	}
	SL_TRY(sl_add_context(c->type->run(c, &times), "%s", name));
	SL_TRY(sl_add_context(c->type->result(c, &result), "%s", name));
	SL_TRY(check_result(r, &result, name));
	for (int i = 1; i < WARM_UPS && !sl_device_is_emulated(); i++)
		SL_TRY(c->type->run(c, &times));
	return SL_OK;
}

static enum sl_status time_contender(
	struct contender_table *r, struct sl_contender *c, struct contender_row *e)
{
	static double all[SAMPLES_MAX], step[SL_CONTENDER_STEPS_MAX][SAMPLES_MAX];
	uint64_t begun = sl_now_ns();
	uint32_t n = 0;
	struct sl_contender_times times;

	while (n < SAMPLES_MAX &&
		(n < 3 || (n < r->b->watch.samples && 1e-6 * (double)(sl_now_ns() - begun) <
							      2 * r->b->watch.budget_ms))) {
		SL_TRY(sl_stopwatch_flush(&r->b->watch));
		SL_TRY(c->type->run(c, &times));
		all[n] = times.all_ms;
		for (uint32_t k = 0; k < times.n; k++)
			step[k][n] = times.ms[k];
		n++;
	}
	e->steps = times.n;
	memcpy(e->step, times.step, sizeof(e->step));
	e->all = sl_spread_of(all, n);
	for (uint32_t k = 0; k < times.n; k++)
		e->ms[k] = sl_spread_of(step[k], n);
	return SL_OK;
}

static enum sl_status run_once(void *ctx)
{
	struct sl_contender *c = (struct sl_contender *)ctx;
	struct sl_contender_times times;

	return c->type->run(c, &times);
}

static enum sl_status measure_contender(
	struct contender_table *r, struct sl_contender *c, struct contender_row *e)
{
	const struct sl_timed_call call = {c, NULL, run_once};

	if (!sl_device_is_emulated())
		return time_contender(r, c, e);
	e->all = sl_no_times.ms;
	return sl_accesses_count(&call, &e->accesses);
}

static enum sl_status run_contender(struct contender_table *r, const struct sl_contender_type *type,
	const struct sl_recipe *recipe, const char *name)
{
	SL_CLOSED_BY(sl_contender_close) struct sl_contender c;
	struct contender_row e = {.name = name};

	SL_TRY(sl_contender_open(type, recipe, &c));
	if (r->b->options->wait)
		c.pipeline.whole_max = 0; /* no batch is queued as a whole */
	SL_TRY(check_contender(r, &c, name));
	SL_TRY(measure_contender(r, &c, &e));
	if (type == sl_cub_contender)
		r->b->cub_ms = e.all.median;
	show(r, &e);
	return SL_OK;
}

static enum sl_status run_way(struct contender_table *r, const struct sl_contender_type *type,
	const char *mode, const char *name)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;

	SL_TRY(sl_batch_plan_make(r->b, r->n, mode, &plan));
	r->has_scores = plan->recipe.grids.scored;
	return run_contender(r, type, &plan->recipe, name);
}

/* CUB is first, because the rows of the modes contain the ratio to it. */
static enum sl_status run_all(struct contender_table *r)
{
	static const char staged[] = "staged";
	const bool emulated = sl_device_is_emulated();
	const struct sl_model *none;
	const char *const *mode = sl_option_find("run.mode", &none)->choices;

	r->b->cub_ms = 0;
	if (!emulated)
		SL_TRY(show_copy(r));
	if (sl_cub_contender && !emulated)
		SL_TRY(run_way(r, sl_cub_contender, staged, sl_cub_contender->name));
	while (*++mode) { /* the first one is auto; fused mode has no scores along histories */
		if (!r->has_scores || strcmp(*mode, staged) == 0)
			SL_TRY(run_way(r, &sl_sluice_contender, *mode, *mode));
	}
	return SL_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

enum sl_status sl_bench_pipeline(struct sl_bench *b)
{
	static const struct sl_number_list usual = {4, {1 << 16, 1 << 20, 1 << 24, 1 << 26}};
	static const struct sl_number_list emulated = {1, {1 << 10}};
	const struct sl_number_list *sizes =
		sl_number_list_or(&b->options->sizes, sl_device_is_emulated() ? &emulated : &usual);

	printf("\n%-8s %10s  %s\n", "mode", "n",
		sl_device_is_emulated() ? SL_ACCESSES_HEADING "particle"
					: SL_TIMES_HEADING "         G/s     CUB   steps, ms");
	for (uint32_t i = 0; i < sizes->n; i++) {
		struct contender_table r = {.b = b, .n = sizes->at[i]};

		if (sl_bench_has_time(b, 1e-7 * r.n))
			SL_TRY(sl_add_context(run_all(&r), "pipeline of %u particles", r.n));
		else
			sl_bench_table_leave_out(b->table, "pipeline, n=%u", r.n);
	}
	return SL_OK;
}
