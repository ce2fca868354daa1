/*
 * compare.c - plans a comparison and runs its cases in order.
 *
 * The first case is the reference. A case that differs or fails is recorded and the next case runs,
 * because each case is independent of the others. All output goes to one temporary directory.
 */
#include "pipeline/compare/cases/cases.h"
#include "pipeline/compare/compare.h"

#include <string.h>
#include <time.h>

#include "pipeline/compare/cases/case_run.h"
#include "pipeline/compare/cases/copy_speed.h"
#include "pipeline/compare/cases/temp_dir.h"
#include "pipeline/plan/memory.h"

/* --- planning --------------------------------------------------------------------------------- */

/*
 * The plan of the configuration sets the batch size, also for run.batch: auto. All cases then use
 * that batch size, because digests are only comparable between equal batches.
 */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c)
{
	struct sl_config *changed = &c->config;

	memset(c, 0, sizeof(*c));
	if (choices->pack && strcmp(config->primitives.deflate, "auto") != 0)
		return sl_fail(SL_USAGE,
			"primitives.deflate: %s is not compared (it compresses columns on the "
			"device, and a comparison needs them uncompressed on the host); use auto",
			config->primitives.deflate);
	if (choices->n_devices > 1)
		return sl_fail(SL_USAGE,
			"run.device: %s names %u devices, but a comparison measures one, whose "
			"copy speed is its measure; name one, such as cuda:0 or emulated",
			config->run.device, choices->n_devices);
	c->config = *config;
	c->choices = *choices;
	c->choices.form = SL_AS_COLUMNS;
	c->choices.pack = NULL;
	c->choices.reads_columns = true;
	c->configured = config->run.particles;
	/* Every case must do the same work, and a stop rule would discard timed batches. */
	c->choices.stop_rule.below = 0;
	/* Cases vary the schedule themselves, so auto must not choose one here. */
	if (choices->schedule != SL_BY_ROUNDS)
		c->choices.schedule = SL_BY_HISTORY;
	if (choices->device == SL_ON_EMULATED && !all &&
		changed->run.particles > SL_EMULATED_PARTICLES)
		changed->run.particles = SL_EMULATED_PARTICLES;
	c->particles = changed->run.particles;
	c->choices.n_batches = sl_ceil_div(c->particles, c->choices.batch);
	SL_TRY(sl_plan_make(changed, &c->choices, &c->plan));
	c->batch = sl_memory_plan_batch(c->plan);
	c->n_batches = c->plan->recipe.n_batches;
	sl_cases_choose(c);
	return SL_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/*
 * Does this failure end the comparison? Without the reference nothing can be compared. A signal, a
 * disk error or a directory in use affects all later cases too.
 */
static bool ends_comparison(
	enum sl_status s, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	return entry == c->cases || s == SL_STOPPED || s == SL_DISK || s == SL_OUTPUT_IN_USE;
}

/* The status of the first case that differs; if none differs, of the first that failed. */
static enum sl_status verdict(const struct sl_comparison *c)
{
	const struct sl_comparison_case *bad = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison_case *entry = &c->cases[i];

		if (entry->status != SL_OK && (!bad || (entry->status == SL_CHECK_FAILED &&
							       bad->status != SL_CHECK_FAILED)))
			bad = entry;
	}
	return bad ? sl_fail(bad->status, "%s", bad->message) : SL_OK;
}

static enum sl_status run_case(struct sl_comparison *c, struct sl_comparison_case *entry,
	struct sl_reference *r, struct sl_dir *dir, struct sl_control *control)
{
	enum sl_status s = sl_case_run(c, entry, r, dir, control);
	char name[SL_CASE_BYTES];

	if (entry->answer == SL_ANSWER_DIFFERS)
		return ends_comparison(s, c, entry) ? s : SL_OK;
	entry->answer = s == SL_OK ? SL_ANSWER_SAME : SL_ANSWER_FAILED;
	entry->status = s;
	if (s == SL_OK)
		return SL_OK;
	(void)sl_add_context(s, "%s", sl_case_text(entry, name));
	memcpy(entry->message, sl_last_error(), sizeof(entry->message));
	if (ends_comparison(s, c, entry))
		return s;
	return sl_dir_empty(dir);
}

static enum sl_status run_cases(struct sl_comparison *c, struct sl_dir *dir,
	struct sl_control *control, sl_case_begins *begins)
{
	struct sl_reference reference;
	enum sl_status s = sl_reference_open(c, &reference);

	for (size_t i = 0; s == SL_OK && i < c->n; i++) {
		if (begins)
			begins(c, i);
		s = run_case(c, &c->cases[i], &reference, dir, control);
	}
	sl_reference_close(&reference);
	c->ended = s == SL_OK;
	if (s == SL_STOPPED)
		return sl_fail(
			s, "stopped by a signal: a comparison keeps no results; run it again");
	return s == SL_OK ? verdict(c) : s;
}

static enum sl_status measure_copies(struct sl_comparison *c)
{
	const struct sl_plan *plan = c->plan;

	if (plan->on_device && !sl_device_is_emulated())
		SL_TRY(sl_copy_speed(SL_DEVICE, plan->device[0].free_bytes, &c->device_copy));
	return sl_copy_speed(SL_HOST, plan->machine.free_bytes, &c->host_copy);
}

enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins)
{
	char why[SL_MESSAGE_BYTES];
	time_t now = time(NULL);
	struct tm utc;
	struct sl_dir dir;
	enum sl_status s, removed;

	if (c->plan->recipe.particles == 0)
		return sl_fail(SL_USAGE,
			"the lists have no particles, so all backends would give the same empty "
			"answer; use lists with particles");
	strftime(c->date, sizeof(c->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	s = sl_temp_dir_open(c->plan->to, &dir);
	if (s == SL_OK)
		s = measure_copies(c);
	if (s == SL_OK)
		s = run_cases(c, &dir, control, begins);
	memcpy(why, sl_last_error(), sizeof(why));
	removed = sl_temp_dir_close(&dir);
	if (s == SL_OK)
		return removed;
	sl_set_last_error(why);
	return s;
}
