/*
 * report_print.c - prints the summary of a run: fates and checks, times, busy shares and files.
 *
 * All numbers come from sl_results_of() and the session, as those of run.json do. Texts are for
 * people and may change between versions; scripts read run.json.
 */
#include <math.h>

#include "pipeline/report/phases.h"
#include "pipeline/report/report_print.h"
#include "pipeline/report/report_devices.h"
#include "pipeline/report/report_rounds.h"
#include "pipeline/plan/input_files.h"
#include "pipeline/plan/file_names.h"
#include "pipeline/plan/memory.h"
#include "pipeline/report/tallies/run_results.h"
#include "pipeline/text/messages.h"
#include "stages/formats/formats.h"

/*
 * A line per fate that the run can give. The column weight replaces fraction if particles differ in
 * weight, because only the fraction of weight is then an unbiased estimate of the model's value.
 */
static void print_fates(const struct sl_plan *plan, const struct sl_results *r, FILE *out)
{
	bool listed = sl_fractions_count_particles(plan);

	fprintf(out, "%-14s %14s %12s %10s  %s%s\n", "fate", "particles",
		r->counts ? "fraction" : "weight", "+-", listed ? "sum of weights  " : "", "check");
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		const struct sl_fate_result *fate = &r->fate[f];
		double expected = plan->config.check.fate[f], deviation;

		if (!SL_HAS(sl_fates_of(&plan->recipe), f))
			continue;
		fprintf(out, "%-14s %14llu", sl_fate_facts[f].name,
			(unsigned long long)fate->count);
		if (r->all.particles > 0)
			fprintf(out, " %12.8f %10.2g", fate->result.value, fate->result.error);
		else
			fprintf(out, " %12s %10s", "-", "-");
		if (listed)
			fprintf(out, "  %14.8g", sl_sum_of_weights(plan, r, SL_FATE_BIT(f)));
		if (!isnan(expected)) {
			bool met = sl_check_met(plan, r, (enum sl_fate)f, &deviation);

			fprintf(out, "  %.8g: %+.2f sigma, %s", expected, deviation,
				met ? "met" : "NOT MET");
		}
		fprintf(out, "%s\n", SL_HAS(plan->recipe.keep, f) ? "  (kept)" : "");
	}
}

/* Prints whether the stop rule ended the run, or why it did not. */
static void print_stop_rule(const struct sl_plan *plan, const struct sl_manifest *m, FILE *out)
{
	const struct sl_stop_rule *g = &plan->choices.stop_rule;
	const char *fate = sl_fate_facts[g->fate].name;
	unsigned long long most = plan->recipe.n_batches;
	struct sl_stop_state o = sl_stop_rule_state(g, most, m);
	char error[32];

	snprintf(error, sizeof(error), isnan(o.relative_error) ? "unknown" : "%.4g",
		o.relative_error);
	if (o.met)
		fprintf(out,
			"stopped after batch %llu (%llu of at most %llu): rel_error(%s) %s < %.4g\n",
			(unsigned long long)o.batches - 1, (unsigned long long)o.batches, most,
			fate, error, g->below);
	else
		fprintf(out,
			"stop.when was not met: rel_error(%s) is %s after all %llu batches "
			"(wanted: < %.4g, after %llu or more)\n",
			fate, error, most, g->below, (unsigned long long)g->min_batches);
}

/* Prints the busy share of each kind of worker; the busiest one limits the run. */
static void print_busy(const struct sl_plan *plan, const struct sl_session *s, FILE *out)
{
	double busiest = -1;
	int busiest_worker = 0;

	fprintf(out, "busy ");
	for (int k = 0; k < SL_WORKER_COUNT; k++) {
		double busy = sl_session_busy_share(s, (enum sl_worker)k);

		if (k == SL_WORKER_device && !plan->on_device)
			continue;
		fprintf(out, " %s %.0f %%", sl_workers[k], 100 * busy);
		busiest_worker = busy > busiest ? k : busiest_worker;
		busiest = busy > busiest ? busy : busiest;
	}
	fprintf(out,
		"; the run waited for the %s; %.3g GB/s of columns became %.3g GB/s of files\n",
		sl_workers[busiest_worker], 1e-9 * (double)s->column_bytes / s->seconds,
		1e-9 * (double)s->file_bytes / s->seconds);
}

/* Prints what the user has waited, and for what. */
static void print_phases(const struct sl_workspace *w, const struct sl_session *s, FILE *out)
{
	struct sl_phases p;

	if (!sl_phases_find(w, s, &p))
		return;
	fprintf(out,
		"%.2f s for the whole command, %.2f M particles/s; plan %.2f, memory %.2f, preparation %.2f, "
		"batches %.2f, end %.2f s\n",
		p.all, 1e-6 * (double)s->particles / p.all, p.plan, p.memory, p.prepare, p.batches,
		p.finish);
}

/*
 * Times per particle of each stage, summed over threads, then the rate of the session. The last rate
 * is that of one core or slot without compression: it compares models and modes independently of
 * the number of threads and of the format.
 */
static void print_times(const struct sl_workspace *w, const struct sl_session *s, FILE *out)
{
	const struct sl_plan *plan = w->plan;
	double n = (double)s->particles;
	char devices[SL_DEVICES_TEXT_BYTES];

	if (s->particles == 0) {
		fprintf(out, "no batch was computed: earlier sessions committed all of them\n");
		return;
	}
	fprintf(out, "\nelapsed ns per particle ");
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		if (sl_stage_is_run(w->recipe.mode, i))
			fprintf(out, " %s %.1f", sl_stages[i].name, (double)s->stage_ns[i] / n);
	if (plan->on_device)
		fprintf(out, "  transfer %.1f", (double)s->transfer_ns / n);
	fprintf(out, "  compress %.1f\n", (double)s->pack_ns / n);
	fprintf(out,
		"%.2f M particles/s in %.2f s of batches on %s%s%u thread%s; %.2f M per second of %s, without compression\n",
		n / s->seconds * 1e-6, s->seconds,
		plan->on_device ? sl_devices_text(plan, devices) : "",
		plan->on_device ? " and " : "", s->workers[SL_WORKER_threads],
		s->workers[SL_WORKER_threads] == 1 ? "" : "s",
		n / sl_session_computing_seconds(s) * 1e-6,
		plan->on_device ? "a slot" : "processor time");
	print_phases(w, s, out);
	print_busy(plan, s, out);
	sl_devices_print(w, s, out);
	sl_ranks_print(w, out);
}

/*
 * Prints the joined file, what is in it, and its order. Batches that are sorted by a key are not sorted
 * over the run unless they were merged.
 */
static void print_joined(const struct sl_workspace *w, const struct sl_manifest *m, FILE *out)
{
	const struct sl_plan *plan = w->plan;
	const struct sl_list_order *o = &plan->choices.list_order;
	char name[SL_FILE_NAME_BYTES];

	if (!sl_plan_is_joined(plan))
		return;
	fprintf(out, "joined file of all batches in %s/%s", plan->to,
		sl_merged_list_name(plan->config.run.name, plan->choices.format, name));
	if (o->sample > 0 || o->limit > 0)
		fprintf(out, ": %llu particles", (unsigned long long)w->joined.particles);
	if (w->joined.threshold > 0)
		fprintf(out, ", a sample with weights of at least %.6g", w->joined.threshold);
	fprintf(out, "\n");
	if (plan->recipe.n_fields > 0 && m->n > 1 && o->run)
		fprintf(out, "its order is that of the key over the whole run\n");
	else if (plan->recipe.n_fields > 0 && m->n > 1)
		fprintf(out, "its order by key is within each batch only; for the order over the "
			     "run use output.order: run\n");
}

/* A part says so: its numbers are not those of the run. */
static void print_part(const struct sl_plan *plan, FILE *out)
{
	const struct sl_part *part = &plan->config.part;
	const struct sl_batch_range batches = sl_plan_batches(plan);

	if (sl_plan_is_part(plan))
		fprintf(out,
			"part %llu of %llu: batches %llu to %llu of %llu; sluice join makes the run "
			"of all parts\n",
			(unsigned long long)part->number, (unsigned long long)part->of,
			(unsigned long long)batches.first, (unsigned long long)batches.end - 1,
			(unsigned long long)plan->recipe.n_batches);
}

/* Input files are printed only if there is something to say about them, such as an incomplete file. */
void sl_report_print(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, FILE *out)
{
	const struct sl_plan *plan = w->plan;
	struct sl_truncated truncated;
	char bytes[32];
	struct sl_results r;

	sl_results_of(plan, m, &r);
	print_part(plan, out);
	sl_inputs_print(plan, true, out);
	print_fates(plan, &r, out);
	if (plan->choices.stop_rule.below > 0)
		print_stop_rule(plan, m, out);
	if (w->origin)
		fprintf(out,
			"joined from %zu parts, which took at most %.1f s, and %.1f s of computing "
			"together\n",
			w->origin->n_parts, session->seconds,
			sl_session_computing_seconds(session));
	else
		print_times(w, session, out);
	if (w->schedule_reason[0])
		fprintf(out, "%s\n", w->schedule_reason);
	sl_rounds_print(&session->rounds, out);
	if (plan->choices.format == &sl_format_none)
		fprintf(out,
			"%llu survivors, not written (output.format: none); summary in %s/run.json\n",
			(unsigned long long)r.survivors, plan->to);
	else
		fprintf(out, "%llu survivors in %s/%s%s%s (%s), summary in run.json\n",
			(unsigned long long)r.survivors, plan->to, m->line[0].file,
			m->n > 1 ? " .. " : "", m->n > 1 ? m->line[m->n - 1].file : "",
			sl_sized((double)r.bytes, bytes));
	print_joined(w, m, out);
	truncated = sl_results_truncated(plan, &r);
	sl_truncated_print(&truncated, out);
}
