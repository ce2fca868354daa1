/* compare_print.c - prints a comparison as text, JSON or CSV. Keys are read by users: never rename one. */
#include "pipeline/compare/compare_print.h"

#include <math.h>

#include "pipeline/report/report.h"
#include "pipeline/text/version.h"

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
	{"rows.*", "\nmemory accesses per particle\n" CASE_HEADING "{accesses_per_particle.*:11}\n",
		"[{?accesses_per_particle}" CASE_COLUMNS "{accesses_per_particle.*:11.5g}]"},
	{"rows.*", NULL, "[\n{message}]"},
	{NULL},
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
	{NULL},
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

	sl_json_object(j, "without_output");
	if (entry->seconds > 0)
		sl_json_real(j, "seconds", entry->seconds);
	sl_json_real(j, "particles_per_s", entry->seconds > 0 ? n / entry->seconds : (double)NAN);
	sl_json_close(j);
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

	sl_json_object(j, NULL);
	sl_json_text(j, "where", sl_case_space(entry));
	sl_json_text(j, "mode", sl_device_modes[entry->mode].name);
	for (int i = 0; i < SL_CASE_CHOICES; i++)
		sl_json_text(j, sl_case_columns[i], names.of[i]);
	sl_json_text(j, "answer", answers[entry->answer]);
	if (entry->message[0])
		sl_json_text(j, "message", entry->message);
	sl_json_u64(j, "threads", entry->threads);
	if (entry->on_device)
		sl_json_u64(j, "slots", entry->device_slots);
	put_measure(j, c, entry);
	sl_json_close(j);
}

static void put_head(struct sl_json *j, const struct sl_comparison *c)
{
	sl_json_text(j, "program", "sluice");
	sl_json_text(j, "version", sl_version());
	sl_json_u64(j, "rules_version", SL_RULES_VERSION);
	sl_json_text(j, "date", c->date);
	sl_json_array(j, "command");
	for (size_t i = 0; c->argv && c->argv[i]; i++)
		sl_json_text(j, NULL, c->argv[i]);
	sl_json_close(j);
	sl_json_text(j, "name", c->config.run.name);
	sl_json_text(j, "model", sl_models[c->plan->recipe.model]->name);
	sl_json_text(j, "format", c->plan->choices.format->name);
	sl_json_text(j, "deflate", c->plan->facts.deflate->name);
	sl_json_text(j, "config", c->plan->config_text);
	sl_json_u64(j, "particles", c->particles);
	sl_json_u64(j, "particles_configured", c->configured);
	sl_json_bool(j, "complete", c->particles == c->configured);
	sl_json_bool(j, "stop_ignored", c->config.stop.when[0]);
	sl_json_u64(j, "batches", c->n_batches);
	sl_json_u64(j, "batch", c->batch);
	sl_report_machine(j, c->plan);
	sl_json_bool(j, "emulated", c->plan->on_device && sl_device_is_emulated());
	if (c->choices.device_reason[0])
		sl_json_text(j, "no_gpu", c->choices.device_reason);
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
