/*
 * report_print.c - the summary of a run: fates and checks, times and files.
 *
 * All numbers are those of run.json. Texts are for people and may change between versions; scripts
 * read run.json.
 */
#include "pipeline/report/report.h"

#include "pipeline/plan/plan.h"
#include "pipeline/print/result.h"
#include "pipeline/report/tallies/tallies.h"

static const struct sl_line lines[] = {
	{"part", NULL,
		"part {number} of {of}: {batches~batch} from batch {first_batch}; sluice join makes the "
		"run of all parts"},
	{"list_source", "source",
		"{used~particle} of lists, of total weight {weight}[{?other_kinds}; {other_kinds} of "
		"other kinds left out][{?damaged}; {damaged} damaged ones dropped]"},
	{"inputs.*" SL_INPUTS_SHOWN, "inputs", "[{?notice}" SL_INPUT_LINE "]"},
	{"renamed_blobs.*" SL_INPUTS_SHOWN, "inputs", SL_BLOB_LINE},
	{"tallies.fates.*",
		"fate                particles     fraction         +-"
		"[{?^tallies.weight_step}  sum of weights]  check\n",
		"{@:-14} {count:14} {mean_over_batches:12.8f} {standard_error:10.2g}[  {weight:14.8g}]"
		"[  {check.expected:.8g}: {check.deviation_in_sigma:+.2f} sigma, [{?check.met}met]"
		"[{!check.met}NOT MET]][{?kept}  (kept)]"},
	{"stop", NULL,
		"stop.when [{?met}was][{!met}was not] met after {batches} of at most "
		"{most_batches~batch}: {when}; the [{?absolute}standard][{!absolute}relative] error is "
		"{relative_error:.4g}"},
	{"filter", NULL,
		"{filters~filter} of {particles~particle}, {observations~observation}: log likelihood "
		"{log_likelihood:.9g}[{?standard_error} +- {standard_error:.2g}, deviation "
		"{deviation:.4g}]; logarithm of the mean likelihood {log_mean_likelihood:.9g}"},
	{"times.parts", NULL,
		"joined from {#} parts, which took at most {^times.wall_seconds:.1f} s, and "
		"{^times.computing_seconds:.1f} s of computing together"},
	{"times.busy", NULL,
		"[{!^times.particles}no batch was computed: earlier sessions committed all of them]"},
	{"session", NULL, "\nelapsed ns per particle: {thread_seconds/particles/1e-9:.1f}"},
	{"session", NULL,
		"{particles/wall_seconds/1e6:.2f} M particles/s in {wall_seconds:.2f} s of batches on "
		"[[{?devices}{#devices} x ]{^machine.device.name} and ]{^machine.threads~thread}; "
		"{particles/computing_seconds/1e6:.2f} M per second of [{?^machine.device}a slot]"
		"[{!^machine.device}processor time], without compression"},
	{"session", NULL,
		"[{command_seconds:.2f} s for the whole command, "
		"{particles/command_seconds/1e6:.2f} M particles/s; plan {plan_seconds:.2f}, memory "
		"{memory_seconds:.2f}, preparation {prepare_seconds:.2f}, batches "
		"{wall_seconds:.2f}, end {finish_seconds:.2f} s]"},
	{"session", NULL,
		"busy, %: [{?^machine.device}device {busy.device/0.01:.0f}, ]threads "
		"{busy.threads/0.01:.0f}, writers {busy.writers/0.01:.0f}; "
		"{column_bytes/wall_seconds/1e9:.3g} GB/s of columns became "
		"{file_bytes/wall_seconds/1e9:.3g} GB/s of files"},
	{"session.devices.*", NULL,
		"device {number} computed {batches~batch}[, then failed, and other devices computed the "
		"rest ({failure})]"},
	{"session.ranks.*", NULL,
		"rank {number} on {host} computed {batches~batch} with "
		"[{devices} x {device}[, of which {failed_devices} failed,] and ]{threads~thread}"},
	{"schedule_reason", NULL, "{}"},
	{"rounds.each.*12",
		"\nround         batches      particles    alive after   advance ms   compact ms\n",
		"{@:-8} {batches:12} {particles:14} {alive:14} {advance_seconds/1e-3:12.4g} "
		"{compact_seconds/1e-3:12.4g}"},
	{"rounds", NULL,
		"{longest} rounds processed {particles} particles, "
		"{particles/without_compaction/0.01:.3g} % of the number without compaction;\n"
		"advancing {advance_seconds:.4g} s, compacting {compact_seconds:.4g} s"},
	{"written", NULL,
		"{^tallies.survivors~survivor}[ in {to}/{first}[ .. {last}] ({bytes:B}), summary in "
		"run.json][{!first}, not written (output.format: none); summary in {to}/run.json]"},
	{"joined", NULL,
		"joined file of all batches in {^written.to}/{}: {^joined_particles~particle}"
		"[{?^sample_weight}, a sample with weights of at least {^sample_weight:.6g}]"},
	{"written.ordered", NULL,
		"[{?^joined_order=run}its order is that of the key over the whole run]"
		"[{?^joined_order=batch}its order by key is within each batch only; for the order over "
		"the run use output.order: run]"},
	{"warnings.*", NULL, "warning: {}"},
	{NULL, NULL, NULL},
};

enum sl_status sl_report_print(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, FILE *out)
{
	const struct sl_plan *plan = w->plan;
	struct sl_results all;
	struct sl_result r;

	SL_TRY(sl_result_begin(&r, lines, out));
	sl_json_object(&r.json, NULL);
	sl_report_members(&r.json, w, m, session, "done");
	if (!w->origin && session->particles > 0)
		sl_report_times(&r.json, "session", w, session);
	sl_results_make(m, plan->choices.stop_rule.counts, &all);
	sl_json_add(&r.json, "written { to %s bytes %lu ordered %d", plan->to, all.bytes,
		plan->recipe.n_fields > 0 && m->n > 1);
	if (m->n > 0)
		sl_json_text(&r.json, "first", m->line[0].file.name);
	if (m->n > 1)
		sl_json_text(&r.json, "last", m->line[m->n - 1].file.name);
	return sl_result_end(&r, SL_OK);
}
