/*
 * report.c - run.json: the results of a run, its configuration, machine and times.
 *
 * Everything except times, rounds and figures of merit is computed from the lines of the manifest.
 * A resumed run therefore reports the batches of all sessions, and an interrupted and resumed run
 * reports the same numbers as an uninterrupted one.
 */
#include "pipeline/report/report.h"
#include "pipeline/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/plan/plan.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/resolve/execution/execution.h"
#include "primitives/files/files.h"
#include "stages/rounds/resample.h"

/* 1 / (R^2 T) as defined in report.h; NaN if this session computed nothing or R is unknown. */
static double figure_of_merit(const struct sl_results *r, const struct sl_session *s, int f)
{
	double error = sl_relative_error(r->fate[f].result);

	if (!s || s->particles == 0)
		return (double)NAN;
	return (double)s->particles /
	       (error * error * sl_session_computing_seconds(s) * (double)r->all.particles);
}

/* For lists: the sum of weights of a fate, and its fraction of the sum of all weights. */
static void write_weight(
	struct sl_json *j, const struct sl_plan *plan, const struct sl_results *r, int f)
{
	struct sl_fraction share = sl_share_of_weight(plan, r, (enum sl_fate)f);

	sl_json_add(j, "weight %g weight_fraction %g weight_fraction_error %g",
		sl_sum_of_weights(plan, r, SL_FATE_BIT(f)), share.value, share.error);
}

/*
 * The results of one fate. A run without weights has the same value in fraction and
 * weight_fraction. standard_error is that of weight_fraction, of a list that of fraction. The check
 * is missing while no batch is committed: its deviation needs a number of particles.
 */
static void write_fate(struct sl_json *j, const struct sl_plan *plan, const struct sl_results *r,
	const struct sl_session *session, int f)
{
	const struct sl_fate_result *fate = &r->fate[f];
	const double deviation = sl_check_deviation(plan, r, (enum sl_fate)f);

	sl_json_add(j, "%s { kept %d count %lu fraction %g standard_error %g",
		sl_fate_facts[f].name, SL_HAS(plan->recipe.keep, f), fate->count, fate->fraction,
		fate->result.error);
	if (plan->recipe.model->read) /* weights of lists have any size */
		write_weight(j, plan, r, f);
	else
		sl_json_real(j, "weight_fraction", fate->result.value);
	sl_json_add(j,
		"mean_over_batches %g standard_error_over_batches %g relative_error %g "
		"figure_of_merit %g",
		fate->result.value,
		sl_precision_error(&fate->precision, r->all) * (r->counts ? 1 : 0x1p-32),
		sl_relative_error(fate->result), figure_of_merit(r, session, f));
	if (!isnan(plan->config.check.fate[f]) && r->all.particles > 0)
		sl_json_add(j, "check { expected %g deviation_in_sigma %g met %d }",
			plan->config.check.fate[f], deviation,
			fabs(deviation) <= plan->config.check.sigma);
	sl_json_close(j);
}

/*
 * The sums of the whole run. Only fates that the model and the condition can give are written, also
 * with a count of 0, so that a reader finds the same keys in all runs of a configuration. Lists
 * have the sums of weights too, with their unit: the smallest difference of two weights.
 */
static void write_tallies(struct sl_json *j, const struct sl_workspace *w,
	const struct sl_results *r, const struct sl_session *session)
{
	const struct sl_plan *plan = w->plan;

	sl_json_add(j, "tallies { particles %lu survivors %lu", r->all.particles, r->survivors);
	if (plan->recipe.model->read) {
		sl_json_real(j, "weight", sl_sum_of_weights(plan, r, SL_EVERY_FATE));
		sl_json_real(j, "survivors_weight", sl_sum_of_weights(plan, r, plan->recipe.keep));
		sl_json_real(j, "weight_step", sl_weight_of(&plan->recipe, 1));
	}
	sl_json_add(j, "steps %lu collisions %lu fates {", r->steps, r->collisions);
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(sl_fates_of(&plan->recipe), f))
			write_fate(j, plan, r, session, f);
	sl_json_close(j);
	sl_tallies_json(j, w);
	sl_json_close(j);
}

/*
 * Which part of the run this is, and the settings that the stored configuration leaves out and that
 * sluice join needs for the files of the whole run.
 */
static void write_part(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_batch_range batches = sl_plan_batches(plan);

	sl_json_add(j, "part { number %lu of %lu first_batch %lu batches %lu settings [",
		plan->config.part.number, plan->config.part.of, batches.first,
		batches.end - batches.first);
	sl_json_text(
		j, NULL, plan->config.output.joined ? "output.joined=true" : "output.joined=false");
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		if (isnan(plan->config.check.fate[f]))
			continue;
		sl_json_text(j, NULL,
			sl_said("check.%s=%s", sl_fate_facts[f].name,
				sl_double_text(plan->config.check.fate[f])));
	}
	sl_json_text(j, NULL, sl_said("check.sigma=%s", sl_double_text(plan->config.check.sigma)));
	sl_json_add(j, "] deflate %s }", plan->facts.deflate->name);
}

/*
 * The results of filters: likelihoods from the manifest, and, once there are batches, the steps.
 * Errors are those of means over filters.
 */
static void write_filter(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_manifest *m)
{
	const struct sl_resampling *f = &w->plan->recipe.resampling;
	struct sl_filter_likelihood l = sl_filter_likelihood_of(m);

	sl_json_add(j, "filter { filters %lu particles %u observations %u", l.filters,
		w->plan->recipe.batch, f->steps);
	if (m->n > 0)
		sl_json_add(j,
			"log_likelihood %g standard_error %g deviation %g log_mean_likelihood %g",
			l.sum.mean, sl_filter_sum_error(&l.sum, m->n),
			m->n > 1 ? sqrt(l.sum.scatter / (double)(m->n - 1)) : (double)NAN,
			l.log_of_mean);
	if (w->tallies.batches->n > 0) {
		sl_json_object(j, "steps");
		for (uint32_t k = 0; k < 2 * sl_filter_quantities(&w->plan->recipe); k++)
			sl_json_reals(j, sl_filter_name(f, k),
				sl_filter_steps(&w->plan->recipe, &w->tallies, k), f->steps);
		sl_json_close(j);
	}
	sl_json_close(j);
}

/* Writes the stop rule and whether it was met. */
static void write_stop_rule(
	struct sl_json *j, const struct sl_plan *plan, const struct sl_manifest *m)
{
	const struct sl_stop_rule *g = &plan->choices.stop_rule;
	struct sl_stop_state o = sl_stop_rule_state(g, plan->recipe.n_batches, m);

	/* absolute: of the logarithm of a likelihood, which has no unit */
	sl_json_add(j,
		"stop { when %s min_batches %lu most_batches %lu batches %lu "
		"relative_error %g absolute? %d met %d }",
		sl_stop_rule_text(g), g->min_batches, plan->recipe.n_batches, o.batches,
		o.relative_error, g->likelihood, o.met);
}

/* The image files exist only after the run is done, so only then is this member written. */
static void write_image(struct sl_json *j, const struct sl_workspace *w)
{
	const struct sl_image *p = &w->plan->choices.image;
	const uint64_t pixels[] = {p->width, p->height};
	const char *run = w->plan->config.run.name;
	char png[SL_FILE_NAME_BYTES], numbers[SL_FILE_NAME_BYTES];

	sl_json_add(j, "image { png %s numbers %s", sl_side_file_name(run, SL_SIDE_PNG, png),
		sl_side_file_name(run, SL_SIDE_IMAGE, numbers));
	sl_json_u64s(j, "pixels", pixels, 2);
	sl_json_add(j, "white %g }", sl_image_sum_white(&w->image_sum));
}

/*
 * The joined file: its name, and what it has once it is written. sample_weight is the least weight
 * that a particle of a sample counts with; 0 if all survivors are in the list.
 */
static void write_joined(struct sl_json *j, const struct sl_workspace *w, bool done)
{
	const struct sl_plan *plan = w->plan;
	char name[SL_FILE_NAME_BYTES];

	sl_json_text(j, "joined",
		sl_merged_list_name(plan->config.run.name, plan->choices.format, name));
	sl_json_text(j, "joined_order", plan->choices.list_order.run ? "run" : "batch");
	if (!done)
		return;
	sl_json_u64(j, "joined_particles", w->joined.particles);
	if (plan->choices.list_order.sample > 0)
		sl_json_real(j, "sample_weight", w->joined.threshold);
}

/*
 * A batch as in the manifest. A run can have many batches, so fates that did not occur and columns
 * that the file lacks are left out. Digests are strings, because many readers of JSON convert
 * numbers to doubles, which hold only 53 of the 64 bits.
 */
static void write_batch(struct sl_json *j, const struct sl_manifest_line *l)
{
	sl_json_add(j, "{ batch %lu file? %s bytes? %lu generated %lu survivors %lu fates {",
		l->batch, l->file.name, l->file.bytes, l->generated, l->survivors);
	for (int f = 0; f < SL_FATE_COUNT; f++)
		sl_json_add(j, "%s? %lu", sl_fate_facts[f].name, l->tally.count[f]);
	sl_json_close(j);
	sl_manifest_digests(j, l);
	sl_json_close(j);
}

/* None of these facts changes a result. They explain times, and help to find a faulty machine. */
void sl_report_machine(struct sl_json *j, const struct sl_plan *plan)
{
	sl_json_add(j,
		"machine { host %s system %s processor %s cores %u memory_bytes %lu "
		"threads %u loops %s compiler %s",
		plan->machine.host, plan->machine.system, plan->machine.processor,
		plan->machine.cores, plan->machine.memory_bytes, plan->threads,
		plan->recipe.loops->level, __VERSION__);
	if (plan->on_device)
		sl_json_add(j,
			"device { name %s number %lu multiprocessors %lu memory_bytes %lu "
			"slots %u bytes %lu }",
			plan->device[0].name, (uint64_t)plan->device[0].number,
			(uint64_t)plan->device[0].multiprocessors, plan->device[0].memory_bytes,
			plan->n_device_slots, plan->memory.device);
	sl_json_close(j);
}

/* A parameter is 0, and left out, if the backend uses its default or has no such parameter. */
static void write_choice(struct sl_json *j, const char *primitive, const struct sl_choice *c)
{
	sl_json_add(j, "%s { backend %s block? %u items? %u padding? %s }", primitive,
		c->backend->name, c->tuning.block, c->tuning.items,
		c->tuning.padding ? sl_padding_name(c->tuning.padding) : "");
}

/* The backends that were used. None of them changes a result. */
static void write_primitives(struct sl_json *j, const struct sl_workspace *w)
{
	const struct sl_choice deflate = {.backend = sl_plan_deflate(w->plan)};

	sl_json_object(j, "primitives");
	if (w->recipe.scan.backend)
		write_choice(j, "scan", &w->recipe.scan);
	if (w->recipe.compact.backend)
		write_choice(j, "compact", &w->recipe.compact);
	if (w->recipe.n_fields > 0)
		write_choice(j, "sort", &w->recipe.sort);
	write_choice(j, "deflate", &deflate);
	sl_json_close(j);
}

/* The members that say how this plan computes. Those of a joined run are from one of its parts. */
static void write_machine(struct sl_json *j, const struct sl_workspace *w)
{
	const struct sl_plan *plan = w->plan;

	sl_report_machine(j, plan);
	sl_json_add(j, "mode %s schedule? %s schedule_reason? %s",
		sl_device_modes[w->recipe.mode].name,
		w->recipe.model->steps ? sl_schedule_text(&w->recipe.schedule) : NULL,
		w->schedule_reason);
	write_primitives(j, w);
}

/*
 * --resume and verify read some members of run.json back (existing_run.h), such as config and
 * rules_version; the others are for people and scripts. session is NULL before the first batch;
 * times and rounds are missing then.
 */
void sl_report_members(struct sl_json *j, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state)
{
	const struct sl_plan *plan = w->plan;
	struct sl_results results;

	sl_results_make(m, plan->choices.stop_rule.counts, &results);
	sl_json_add(j,
		"program %s version %s commit %s rules_version %u state %s name %s model %s "
		"format %s",
		"sluice", sl_version(), sl_commit(), SL_RULES_VERSION, state, plan->config.run.name,
		w->recipe.model->name, plan->choices.format->name);
	if (sl_plan_is_part(plan))
		write_part(j, plan);
	sl_json_text(j, "config", plan->config_text);
	if (plan->choices.stop_rule.below > 0)
		write_stop_rule(j, plan, m);
	sl_truncated_json(j, results.fate[SL_FATE_max_steps].count, results.all.particles,
		plan->config.transport.max_steps);
	if (plan->recipe.resampling.steps > 0)
		write_filter(j, w, m);
	write_tallies(j, w, &results, session);
	if (plan->config.output.image && strcmp(state, "done") == 0)
		write_image(j, w);
	if (sl_plan_is_joined(plan) || w->keeps_list)
		write_joined(j, w, sl_plan_is_joined(plan) && strcmp(state, "done") == 0);
	if (session) {
		sl_report_times(j, "times", w, session);
		sl_report_rounds(j, &session->rounds);
	}
	sl_inputs_json(j, plan);
	if (!w->origin)
		write_machine(j, w);
}

/*
 * The object stays open. The batches are last, so that what precedes can be read alone, however
 * many there are.
 */
static void write_run(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state, FILE *out)
{
	struct sl_json json = sl_json_stream(out), *j = &json;

	sl_json_object(j, NULL);
	sl_report_members(j, w, m, session, state);
	if (w->origin)
		fprintf(out, ",%s", w->origin->members);
	sl_json_array(j, "batches");
	for (size_t i = 0; i < m->n; i++)
		write_batch(j, &m->line[i]);
	sl_json_close(j);
}

void sl_report_write(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state, FILE *out)
{
	write_run(w, m, session, state, out);
	fputs("\n}\n", out);
}

/* The end of the file: its last member is the CRC-32 of all bytes before this text. */
#define CRC_END ",\n\t\"crc32\": \"%08x\"\n}\n"
enum { CRC_END_BYTES = sizeof(CRC_END) - 1 - 4 + 8 }; /* %08x becomes 8 digits */

enum sl_status sl_report_commit(const struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_session *session, const char *state)
{
	struct sl_text_file f;

	SL_TRY(sl_text_file_begin(&f, dir, "run.json"));
	write_run(w, m, session, state, f.out);
	fprintf(f.out, CRC_END, sl_text_file_crc(&f));
	return sl_text_file_commit(&f);
}

enum sl_status sl_report_check(const struct sl_dir *dir)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	bool same = false;
	size_t bytes;

	SL_TRY(sl_file_read(dir, "run.json", &file, &bytes));
	if (bytes >= CRC_END_BYTES) {
		bytes -= CRC_END_BYTES;
		same = memcmp(file + bytes, sl_said(CRC_END, sl_crc32(file, bytes)),
			       CRC_END_BYTES) == 0;
	}
	return same ? SL_OK
	            : sl_fail(SL_BAD_INPUT,
			      "%s/run.json: its member crc32 is missing or wrong: the file was changed, "
			      "is damaged, or was written by an older version of this program; use "
			      "sluice run --resume to write it again",
			      dir->path);
}
