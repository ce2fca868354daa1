/* compare.c - a comparison is planned, and its rows are run. */
#include "pipeline/compare/cases.h"
#include "pipeline/compare/compare.h"

#include <string.h>
#include <time.h>

#include "pipeline/compare/case_run.h"
#include "pipeline/compare/copy_speed.h"
#include "pipeline/compare/temp_dir.h"
#include "pipeline/plan/memory.h"

/* --- planning --------------------------------------------------------------------------------- */

/* The batch is that of a run of the configuration: what fits this machine, if it says auto. */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c)
{
	struct sl_config *mine = &c->config;

	memset(c, 0, sizeof(*c));
	if (choices->pack && strcmp(config->primitives.deflate, "auto") != 0)
		return sl_fail(SL_USAGE,
			"primitives.deflate: %s is not compared (a comparison looks at the columns "
			"as they are, which do not come home from it), try auto",
			config->primitives.deflate);
	c->config = *config;
	c->choices = *choices;
	c->choices.form = SL_AS_COLUMNS;
	c->choices.pack = NULL;
	c->configured = config->run.particles;
	/* the same work for every row, nothing dropped while it is timed */
	c->choices.stop_rule.below = 0;
	/* histories and rounds have rows */
	if (choices->schedule != SL_BY_ROUNDS)
		c->choices.schedule = SL_BY_HISTORY;
	if (choices->device == SL_ON_EMULATED && !all &&
		mine->run.particles > SL_EMULATED_PARTICLES)
		mine->run.particles = SL_EMULATED_PARTICLES;
	c->particles = mine->run.particles;
	c->choices.n_batches = sl_ceil_div(c->particles, c->choices.batch);
	SL_TRY(sl_plan_make(mine, &c->choices, &c->plan));
	c->batch = sl_memory_plan_batch(c->plan);
	c->n_batches = c->plan->recipe.n_batches;
	sl_cases_choose(c);
	return SL_OK;
}

void sl_compare_free(struct sl_comparison *c)
{
	sl_plan_free(c->plan);
	c->plan = NULL;
}

/* --- running ---------------------------------------------------------------------------------- */

/* Are the other rows in vain? */
static bool ends_all(
	enum sl_status s, const struct sl_comparison *c, const struct sl_comparison_case *row)
{
	return row == c->row || s == SL_STOPPED || s == SL_DISK || s == SL_OUTPUT_IN_USE;
}

/* How the first row that differs, else the first that failed, did. */
static enum sl_status verdict(const struct sl_comparison *c)
{
	const struct sl_comparison_case *bad = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison_case *row = &c->row[i];

		if (row->status != SL_OK && (!bad || (row->status == SL_CHECK_FAILED &&
							     bad->status != SL_CHECK_FAILED)))
			bad = row;
	}
	return bad ? sl_fail(bad->status, "%s", bad->message) : SL_OK;
}

static enum sl_status run_row(struct sl_comparison *c, struct sl_comparison_case *row,
	struct sl_reference *r, const struct sl_dir *dir, struct sl_control *control)
{
	enum sl_status s = sl_case_run(c, row, r, dir, control);
	char name[SL_CASE_BYTES];

	if (row->answer == SL_ANSWER_DIFFERS)
		return ends_all(s, c, row) ? s : SL_OK;
	row->answer = s == SL_OK ? SL_ANSWER_SAME : SL_ANSWER_FAILED;
	row->status = s;
	if (s == SL_OK)
		return SL_OK;
	(void)sl_add_context(s, "%s", sl_case_text(row, name));
	memcpy(row->message, sl_last_error(), sizeof(row->message));
	if (ends_all(s, c, row))
		return s;
	return sl_temp_dir_empty(dir);
}

static enum sl_status run_rows(struct sl_comparison *c, const struct sl_dir *dir,
	struct sl_control *control, sl_case_begins *begins)
{
	struct sl_reference reference;
	enum sl_status s = sl_reference_open(c, &reference);

	for (size_t i = 0; s == SL_OK && i < c->n; i++) {
		if (begins)
			begins(c, i);
		s = run_row(c, &c->row[i], &reference, dir, control);
	}
	sl_reference_close(&reference);
	c->ended = s == SL_OK;
	if (s == SL_STOPPED)
		return sl_fail(s, "stopped (asked by a signal): nothing is kept of a comparison");
	return s == SL_OK ? verdict(c) : s;
}

static enum sl_status measure_copies(struct sl_comparison *c)
{
	const struct sl_plan *plan = c->plan;

	if (plan->on_device)
		SL_TRY(sl_copy_speed(SL_DEVICE, plan->device.free_bytes, &c->device_copy));
	return sl_copy_speed(SL_HOST, plan->machine.free_bytes, &c->host_copy);
}

static void take_date(struct sl_comparison *c)
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(c->date, sizeof(c->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

/* Beside the output: the same file system, for the times of writing. */
static void passing_path(const struct sl_plan *plan, char path[SL_TEXT_BYTES + 16])
{
	size_t n = strlen(plan->to);

	while (n > 1 && plan->to[n - 1] == '/')
		n--;
	snprintf(path, SL_TEXT_BYTES + 16, "%.*s.compare", (int)n, plan->to);
}

enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins)
{
	char path[SL_TEXT_BYTES + 16], why[SL_MESSAGE_BYTES];
	struct sl_temp_dir temp_dir;
	enum sl_status s, removed;

	take_date(c);
	passing_path(c->plan, path);
	s = sl_temp_dir_open(path, &temp_dir);
	if (s == SL_OK)
		s = measure_copies(c);
	if (s == SL_OK)
		s = run_rows(c, &temp_dir.dir, control, begins);
	memcpy(why, sl_last_error(), sizeof(why));
	removed = sl_temp_dir_close(&temp_dir);
	if (s == SL_OK)
		return removed;
	sl_set_last_error(why);
	return s;
}
