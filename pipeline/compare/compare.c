/*
 * compare.c - plans a comparison, runs its cases in order, and prints it as text, JSON or CSV.
 *
 * The first case is the reference. A case that differs or fails is recorded and the next case runs,
 * because each case is independent of the others. Nothing is written. Keys of
 * the JSON and columns of the CSV are read by users: never rename one.
 */
#include "pipeline/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pipeline/plan/plan.h"
#include "pipeline/report/report.h"
#include "pipeline/text/text.h"

void sl_compare_choose_device(struct sl_config *config, char reason[SL_MESSAGE_BYTES])
{
	struct sl_device device;

	reason[0] = '\0';
	if (strcmp(config->run.device, "auto") != 0 || sl_device_use(0, &device) == SL_OK)
		return;
	memcpy(reason, sl_last_error(), SL_MESSAGE_BYTES);
	snprintf(config->run.device, sizeof(config->run.device), "emulated");
}

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
			"run.device: %s names %u devices, but a comparison runs on one; name one, "
			"such as cuda:0 or emulated",
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

static enum sl_status on_batch(void *ctx, struct sl_host_slot *slot)
{
	sl_reference_check((struct sl_reference *)ctx, &slot->batch);
	return SL_OK;
}

static enum sl_status run_once(
	struct sl_reference *r, struct sl_workspace *w, struct sl_control *control)
{
	const struct sl_manifest none = {0};
	struct sl_session session;
	enum sl_status s;

	control->batch = on_batch;
	control->ctx = r;
	control->discard = true;
	s = sl_run(w, NULL, &none, control, &session);
	r->recorded |= s == SL_OK;
	r->entry->seconds = sl_case_is_emulated(r->entry) ? 0 : session.seconds;
	return s == SL_OK && atomic_load(&control->stop) ? SL_STOPPED : s;
}

/*
 * The second run is timed, because the first one pays for page faults and for loading kernels; of a
 * long run that is a small part.
 */
static enum sl_status run_twice(
	struct sl_reference *r, struct sl_workspace *w, struct sl_control *control)
{
	static const double seconds_long = 1;
	enum sl_status s;

	if (!sl_case_is_emulated(r->entry)) {
		SL_TRY(run_once(r, w, control));
		return r->entry->seconds < seconds_long ? run_once(r, w, control) : SL_OK;
	}
	sl_access_start();
	s = run_once(r, w, control);
	r->entry->accesses = sl_access_stop();
	return s;
}

static enum sl_status plan_and_run(struct sl_comparison *c, struct sl_comparison_case *entry,
	struct sl_reference *r, struct sl_control *control)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;

	SL_TRY(sl_case_plan(c, entry, false, &plan, &w));
	entry->threads = plan->threads;
	entry->device_slots = plan->n_device_slots;
	r->entry = entry;
	return run_twice(r, w, control);
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

/* Without the reference nothing can be compared, and a signal ends all cases. */
static enum sl_status run_case(struct sl_comparison *c, struct sl_comparison_case *entry,
	struct sl_reference *r, struct sl_control *control)
{
	enum sl_status s = plan_and_run(c, entry, r, control);
	bool ends = s == SL_STOPPED || entry == c->cases;

	if (entry->answer == SL_ANSWER_DIFFERS)
		return ends ? s : SL_OK;
	entry->answer = s == SL_OK ? SL_ANSWER_SAME : SL_ANSWER_FAILED;
	entry->status = s;
	if (s == SL_OK)
		return SL_OK;
	(void)sl_add_context(s, "%s", sl_case_text(entry));
	memcpy(entry->message, sl_last_error(), sizeof(entry->message));
	return ends ? s : SL_OK;
}

enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins)
{
	time_t now = time(NULL);
	SL_CLOSED_BY(sl_reference_close) struct sl_reference reference = {.recorded = false};
	struct tm utc;
	enum sl_status s;

	if (c->plan->recipe.particles == 0)
		return sl_fail(SL_USAGE,
			"the lists have no particles, so all backends would give the same empty "
			"answer; use lists with particles");
	strftime(c->date, sizeof(c->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	s = sl_reference_open(c, &reference);
	for (size_t i = 0; s == SL_OK && i < c->n; i++) {
		if (begins)
			begins(c, i);
		s = run_case(c, &c->cases[i], &reference, control);
	}
	c->ended = s == SL_OK;
	if (s == SL_STOPPED)
		return sl_fail(
			s, "stopped by a signal: a comparison keeps no results; run it again");
	return s == SL_OK ? verdict(c) : s;
}

/* --- printing --------------------------------------------------------------------------------- */

#define CASE_COLUMNS "{where:-8}{scan:-16}{compact:-16}{sort:-16}{schedule:-14}"
#define CASE_HEADING "where   scan            compact         sort            schedule      "

const struct sl_line sl_compare_text[] = {
	{"", NULL, "{name}: {particles} particles in {batches~batch} of {batch}"},
	{"", NULL,
		"[{!complete}The emulated device is slow: only the first of {particles_configured} "
		"particles are compared; use --full for all.]"},
	{"stop_ignored", NULL, "All batches run: a comparison ignores stop.when."},
	{"machine", "host", "{processor}, {cores~core}, {threads~thread}"},
	{"machine.device", "device", "{name}[{?^emulated} on the CPU], {slots~slot}"},
	{"no_gpu", "", "no GPU: {}"},
	{"emulated", "", "The emulated device is not timed: its memory accesses are counted."},
	{"rows.*", "\n" CASE_HEADING "M particles/s  answer\n",
		CASE_COLUMNS "{without_output.particles_per_s/1e6:13.4g}  {answer}"},
	{"rows.*", "\nmemory accesses per particle\n" CASE_HEADING "{accesses_per_particle.*:10}\n",
		"[{?accesses_per_particle}" CASE_COLUMNS "{accesses_per_particle.*:10.5g}]"},
	{"rows.*", NULL, "[\n{message}]"},
	{NULL, NULL, NULL},
};

#define X(name) "," #name
#define Y(name) ",[{accesses_per_particle." #name ":.6g}]"
const struct sl_line sl_compare_csv[] = {
	{"rows.*",
		"where,machine,mode,scan,compact,sort,schedule,batch,seconds,particles_per_s" SL_ACCESS_COUNTS(
			X) ",answer\n",
		"{where},\"[{?where=host}{^machine.processor}][{?where=device}{^machine.device.name}]\","
		"{mode},{scan},{compact},{sort},{schedule},{^batch},[{without_output.seconds:.9g}],"
		"[{without_output.particles_per_s:.6g}]" SL_ACCESS_COUNTS(Y) ",{answer}"},
	{NULL, NULL, NULL},
};
#undef X
#undef Y

static const char *const answers[] = {
	[SL_ANSWER_NONE] = "none",
	[SL_ANSWER_SAME] = "same",
	[SL_ANSWER_DIFFERS] = "differs",
	[SL_ANSWER_FAILED] = "failed",
};

/* All particles of the comparison per second. The emulated device has accesses instead. */
static void put_measure(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	const double n = (double)c->particles;

	sl_json_add(j, "without_output { seconds? %g particles_per_s %g }", entry->seconds,
		entry->seconds > 0 ? n / entry->seconds : (double)NAN);
	if (!sl_case_is_emulated(entry))
		return;
	sl_json_object(j, "accesses_per_particle");
	for (int i = 0; i < SL_ACCESS_COUNT_COUNT; i++)
		sl_json_real(j, sl_access_count_names[i],
			sl_access_per_item(&entry->accesses, (enum sl_access_count)i, n));
	sl_json_close(j);
}

static void put_case(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	struct sl_case_names names = sl_case_names(entry);

	sl_json_add(j,
		"{ where %s mode %s scan %s compact %s sort %s schedule %s answer %s message? %s "
		"threads %u slots? %u",
		sl_case_space(entry), sl_device_modes[entry->mode].name, names.scan, names.compact,
		names.sort, names.schedule, answers[entry->answer], entry->message, entry->threads,
		entry->on_device ? entry->device_slots : 0);
	put_measure(j, c, entry);
	sl_json_close(j);
}

static void put_head(struct sl_json *j, const struct sl_comparison *c)
{
	sl_json_add(j, "program %s version %s rules_version %u date %s command [", "sluice",
		sl_version(), SL_RULES_VERSION, c->date);
	for (size_t i = 0; c->argv && c->argv[i]; i++)
		sl_json_text(j, NULL, c->argv[i]);
	sl_json_add(j, "] name %s model %s format %s deflate %s config %s particles %lu",
		c->config.run.name, c->plan->recipe.model->name, c->plan->choices.format->name,
		c->plan->facts.deflate->name, c->plan->config_text, c->particles);
	sl_json_add(j, "particles_configured %lu complete %d stop_ignored %d batches %lu batch %u",
		c->configured, c->particles == c->configured, c->config.stop.when[0], c->n_batches,
		c->batch);
	sl_report_machine(j, c->plan);
	sl_json_add(j, "emulated %d no_gpu? %s", c->plan->on_device && sl_device_is_emulated(),
		c->choices.device_reason);
}

enum sl_status sl_compare_print(
	const struct sl_comparison *c, const struct sl_line *lines, FILE *out)
{
	struct sl_result r;

	SL_TRY(sl_result_begin(&r, lines, out));
	sl_json_object(&r.json, NULL);
	put_head(&r.json, c);
	sl_json_array(&r.json, "rows");
	for (size_t i = 0; i < c->n; i++)
		put_case(&r.json, c, &c->cases[i]);
	return sl_result_end(&r, SL_OK);
}
