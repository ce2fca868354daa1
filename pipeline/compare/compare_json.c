/*
 * compare_json.c - prints a comparison as JSON or CSV.
 *
 * The JSON text is laid out twice: first without a buffer to get its length, then into memory of
 * that length. Keys and column names are read by scripts/plot.py and by users: never rename one.
 */
#include "pipeline/compare/compare_json.h"

#include "pipeline/compare/compare_figures.h"
#include "pipeline/compare/cases/cases.h"
#include <math.h>
#include <stdio.h>

#include "pipeline/text/json.h"
#include "pipeline/text/version.h"
#include "pipeline/report/report.h"

static const char *const answers[] = {
	[SL_ANSWER_NONE] = "none",
	[SL_ANSWER_SAME] = "same",
	[SL_ANSWER_DIFFERS] = "differs",
	[SL_ANSWER_FAILED] = "failed",
};

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_spread(struct sl_json *j, const struct sl_spread *t)
{
	sl_json_u64(j, "samples", t->n);
	if (t->n == 0)
		return;
	sl_json_real(j, "median_ms", t->median);
	sl_json_real(j, "least_ms", t->least);
	sl_json_real(j, "lower_quartile_ms", t->lower);
	sl_json_real(j, "upper_quartile_ms", t->upper);
	sl_json_real(j, "most_ms", t->most);
}

static void put_stages(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	sl_json_object(j, "stages");
	for (int s = 0; s < SL_STAGE_COUNT; s++) {
		if (!sl_stage_is_run(entry->mode, s))
			continue;
		sl_json_object(j, sl_stages[s].name);
		put_spread(j, &entry->stage[s]);
		sl_json_u64(j, "bytes", entry->bytes[s]);
		sl_json_real(j, "gb_per_s", sl_gb_per_second(entry->bytes[s], &entry->stage[s]));
		sl_json_real(j, "share_of_copy", sl_share_of_copy(c, entry, s));
		sl_json_close(j);
	}
	sl_json_close(j);
	if (entry->on_device) {
		sl_json_object(j, "copied_home");
		put_spread(j, &entry->transfer);
		sl_json_u64(j, "bytes", entry->transfer_bytes);
		sl_json_real(
			j, "gb_per_s", sl_gb_per_second(entry->transfer_bytes, &entry->transfer));
		sl_json_close(j);
	}
	sl_json_object(j, "together");
	put_spread(j, &entry->all);
	sl_json_close(j);
}

static void put_whole(struct sl_json *j, const struct sl_comparison *c, const char *key,
	const struct sl_spread *t)
{
	sl_json_object(j, key);
	put_spread(j, t);
	sl_json_real(j, "particles_per_s", sl_particles_per_second(c, t));
	sl_json_close(j);
}

static void put_case(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	struct sl_case_names names = sl_case_names(entry);

	sl_json_object(j, NULL);
	sl_json_text(j, "where", entry->on_device ? "device" : "host");
	sl_json_text(j, "mode", sl_device_modes[entry->mode].name);
	sl_json_text(j, "scan", names.scan);
	sl_json_text(j, "compact", names.compact);
	sl_json_text(j, "sort", names.sort);
	sl_json_text(j, "schedule", names.schedule);
	sl_json_text(j, "answer", answers[entry->answer]);
	if (entry->message[0])
		sl_json_text(j, "story", entry->message);
	put_whole(j, c, "without_output", &entry->whole);
	put_whole(j, c, "with_output", &entry->written);
	sl_json_u64(j, "threads", entry->threads);
	if (entry->on_device)
		sl_json_u64(j, "slots", entry->lanes);
	put_stages(j, c, entry);
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
	sl_json_text(j, "format", c->plan->format->name);
	sl_json_text(j, "deflate", c->plan->facts.deflate->name);
	sl_json_text(j, "config", c->plan->config_text);
	sl_json_u64(j, "particles", c->particles);
	sl_json_u64(j, "particles_configured", c->configured);
	sl_json_u64(j, "batches", c->n_batches);
	sl_json_u64(j, "batch", c->batch);
	sl_report_machine(j, c->plan);
	sl_json_real(j, "host_copy_gb_per_s", c->host_copy);
	if (c->plan->on_device)
		sl_json_real(j, "device_copy_gb_per_s", c->device_copy);
}

static void put_all(struct sl_json *j, const struct sl_comparison *c)
{
	sl_json_object(j, NULL);
	put_head(j, c);
	sl_json_array(j, "rows");
	for (size_t i = 0; i < c->n; i++)
		put_case(j, c, &c->cases[i]);
	sl_json_close(j);
	sl_json_close(j);
}

enum sl_status sl_compare_json(const struct sl_comparison *c, FILE *out)
{
	struct sl_json j = sl_json_start(NULL, 0, true);
	void *text;
	size_t bytes;

	put_all(&j, c);
	bytes = j.used + 1;
	SL_TRY(sl_memory_get(SL_HOST, bytes, &text));
	j = sl_json_start((char *)text, bytes, true);
	put_all(&j, c);
	fprintf(out, "%s\n", (const char *)text);
	sl_memory_give(SL_HOST, text);
	return SL_OK;
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* A CSV field; NaN becomes an empty field. */
static void put_figure(double value, FILE *out)
{
	if (isnan(value))
		fputc(',', out);
	else
		fprintf(out, ",%.6g", value);
}

/* One CSV line: stage s, or for s == SL_STAGE_COUNT the transfer from the device to the host. */
static void put_csv_line(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int s, FILE *out)
{
	struct sl_case_names names = sl_case_names(entry);
	bool is_transfer = s == SL_STAGE_COUNT;
	const struct sl_spread *t = is_transfer ? &entry->transfer : &entry->stage[s];
	uint64_t bytes = is_transfer ? entry->transfer_bytes : entry->bytes[s];

	if (!is_transfer && !sl_stage_is_run(entry->mode, s))
		return;
	fprintf(out, "%s,\"%s\",%s,%s,%s,%s,%s,%s,%u,%u", entry->on_device ? "device" : "host",
		entry->on_device ? c->plan->device.name : c->plan->machine.processor,
		sl_device_modes[entry->mode].name, names.scan, names.compact, names.sort,
		names.schedule, is_transfer ? "copied_home" : sl_stages[s].name, c->batch, t->n);
	put_figure(t->n > 0 ? t->median : (double)NAN, out);
	put_figure(t->n > 0 ? t->least : (double)NAN, out);
	put_figure(t->n > 0 ? t->most : (double)NAN, out);
	fprintf(out, ",%llu", (unsigned long long)bytes);
	put_figure(sl_gb_per_second(bytes, t), out);
	put_figure(is_transfer ? (double)NAN : sl_share_of_copy(c, entry, s), out);
	put_figure(sl_particles_per_second(c, &entry->whole), out);
	put_figure(sl_particles_per_second(c, &entry->written), out);
	fprintf(out, ",%s\n", answers[entry->answer]);
}

void sl_compare_csv(const struct sl_comparison *c, FILE *out)
{
	fprintf(out,
		"where,machine,mode,scan,compact,sort,schedule,stage,batch,samples,median_ms,least_ms,most_ms,"
		"bytes,gb_per_s,share_of_copy,particles_per_s,particles_per_s_written,answer\n");
	for (size_t i = 0; i < c->n; i++)
		for (int s = 0; s < SL_STAGE_COUNT + c->cases[i].on_device; s++)
			put_csv_line(c, &c->cases[i], s, out);
}
