/*
 * compare_json.c - prints a comparison as JSON or CSV.
 *
 * Keys and column names are read by scripts/plot.py and by users: never rename one. Both outputs
 * have the numbers of compare_figures.h; CSV has a line per case and stage, so that a table of times
 * can be made without nested data, and one line for a case on the emulated device.
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

/* The key of the transfer from the device to the host. */
static const char transfer_key[] = "transfer";

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

/* Writes an object with the times, the traffic and the speed of a stage or of the transfer. */
static void put_time(struct sl_json *j, const struct sl_comparison *c,
	const struct sl_comparison_case *entry, const char *key, int t)
{
	sl_json_object(j, key);
	put_spread(j, &entry->time[t]);
	sl_json_u64(j, "bytes", entry->bytes[t]);
	sl_json_real(j, "gb_per_s", sl_gb_per_second(entry, t));
	if (t < SL_STAGE_COUNT)
		sl_json_real(j, "share_of_copy", sl_share_of_copy(c, entry, t));
	sl_json_close(j);
}

static void put_stages(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	sl_json_object(j, "stages");
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		if (sl_case_has_time(entry, s))
			put_time(j, c, entry, sl_stages[s].name, s);
	sl_json_close(j);
	if (entry->on_device)
		put_time(j, c, entry, transfer_key, SL_TIME_TRANSFER);
	sl_json_object(j, "together");
	put_spread(j, &entry->time[SL_TIME_SUM]);
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

static void put_accesses(
	struct sl_json *j, const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	sl_json_object(j, "accesses_per_particle");
	for (int i = 0; i < SL_ACCESS_COUNT_COUNT; i++)
		sl_json_real(j, sl_access_count_names[i],
			sl_accesses_per_particle(c, entry, (enum sl_access_count)i));
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
	put_whole(j, c, "without_output", &entry->without_output);
	put_whole(j, c, "with_output", &entry->with_output);
	sl_json_u64(j, "threads", entry->threads);
	if (entry->on_device)
		sl_json_u64(j, "slots", entry->device_slots);
	if (sl_case_is_emulated(entry))
		put_accesses(j, c, entry);
	else
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
	sl_json_text(j, "format", c->plan->choices.format->name);
	sl_json_text(j, "deflate", c->plan->facts.deflate->name);
	sl_json_text(j, "config", c->plan->config_text);
	sl_json_u64(j, "particles", c->particles);
	sl_json_u64(j, "particles_configured", c->configured);
	sl_json_u64(j, "batches", c->n_batches);
	sl_json_u64(j, "batch", c->batch);
	sl_report_machine(j, c->plan);
	sl_json_real(j, "host_copy_gb_per_s", c->host_copy);
	if (c->device_copy > 0)
		sl_json_real(j, "device_copy_gb_per_s", c->device_copy);
}

void sl_compare_json(const struct sl_comparison *c, FILE *out)
{
	struct sl_json j = sl_json_stream(out);

	sl_json_object(&j, NULL);
	put_head(&j, c);
	sl_json_array(&j, "rows");
	for (size_t i = 0; i < c->n; i++)
		put_case(&j, c, &c->cases[i]);
	sl_json_close(&j);
	sl_json_close(&j);
	fputc('\n', out);
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

static const char *stage_key(int t)
{
	return t == SL_TIME_SUM ? "all" : t == SL_TIME_TRANSFER ? transfer_key : sl_stages[t].name;
}

/* One CSV line: time t of a case, a stage or the transfer from the device to the host. */
static void put_csv_line(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t, FILE *out)
{
	const struct sl_spread *time = &entry->time[t];
	struct sl_case_names names = sl_case_names(entry);
	bool timed = time->n > 0;

	fprintf(out, "%s,\"%s\",%s", sl_case_space(entry),
		entry->on_device ? c->plan->device[0].name : c->plan->machine.processor,
		sl_device_modes[entry->mode].name);
	for (int i = 0; i < SL_CASE_CHOICES; i++)
		fprintf(out, ",%s", names.of[i]);
	fprintf(out, ",%s,%u,%u", stage_key(t), c->batch, time->n);
	put_figure(timed ? time->median : (double)NAN, out);
	put_figure(timed ? time->least : (double)NAN, out);
	put_figure(timed ? time->most : (double)NAN, out);
	if (t < SL_TIME_SUM)
		fprintf(out, ",%llu", (unsigned long long)entry->bytes[t]);
	else
		fputc(',', out);
	put_figure(sl_gb_per_second(entry, t), out);
	put_figure(sl_share_of_copy(c, entry, t), out);
	put_figure(sl_particles_per_second(c, &entry->without_output), out);
	put_figure(sl_particles_per_second(c, &entry->with_output), out);
	for (int i = 0; i < SL_ACCESS_COUNT_COUNT; i++)
		put_figure(sl_accesses_per_particle(c, entry, (enum sl_access_count)i), out);
	fprintf(out, ",%s\n", answers[entry->answer]);
}

void sl_compare_csv(const struct sl_comparison *c, FILE *out)
{
	fprintf(out,
		"where,machine,mode,scan,compact,sort,schedule,stage,batch,samples,median_ms,least_ms,most_ms,"
		"bytes,gb_per_s,share_of_copy,particles_per_s,particles_per_s_written");
	for (int i = 0; i < SL_ACCESS_COUNT_COUNT; i++)
		fprintf(out, ",%s", sl_access_count_names[i]);
	fprintf(out, ",answer\n");
	for (size_t i = 0; i < c->n; i++) {
		bool emulated = sl_case_is_emulated(&c->cases[i]);

		for (int t = 0; t < SL_TIME_SUM; t++)
			if (!emulated && sl_case_has_time(&c->cases[i], t))
				put_csv_line(c, &c->cases[i], t, out);
		if (emulated)
			put_csv_line(c, &c->cases[i], SL_TIME_SUM, out);
	}
}
