/* compare_print.c - what was compared, for people, as JSON and as CSV. */
#include <stdio.h>
#include <string.h>

#include "pipeline/compare.h"
#include "pipeline/json.h"

/* "naive:block=128"; "-" for none. */
static const char *choice_text(const struct sl_choice *c, bool used, char text[SL_ROW_NAME_BYTES])
{
	size_t n;

	if (!used || !c->backend) {
		snprintf(text, SL_ROW_NAME_BYTES, "%s", used ? "auto" : "-");
		return text;
	}
	n = (size_t)snprintf(text, SL_ROW_NAME_BYTES, "%s", c->backend->name);
	if (c->tuning.block && n < SL_ROW_NAME_BYTES)
		n += (size_t)snprintf(
			text + n, SL_ROW_NAME_BYTES - n, ":block=%u", c->tuning.block);
	if (c->tuning.items && n < SL_ROW_NAME_BYTES)
		snprintf(text + n, SL_ROW_NAME_BYTES - n, ":items=%u", c->tuning.items);
	return text;
}

struct row_text {
	char scan[SL_ROW_NAME_BYTES], compact[SL_ROW_NAME_BYTES], sort[SL_ROW_NAME_BYTES];
};

static struct row_text text_of(const struct sl_row *row)
{
	struct row_text t;

	choice_text(&row->scan, sl_row_scans(row), t.scan);
	choice_text(&row->compact, true, t.compact);
	choice_text(&row->sort, true, t.sort);
	return t;
}

static double gb_per_second(const struct sl_row *row, int stage)
{
	double ms = row->stage[stage].median;

	return ms > 0 ? 1e-6 * (double)row->bytes[stage] / ms : 0;
}

/* Of the speed of a copy where the row runs; 0 when that was not measured. */
static double share_of_copy(const struct sl_comparison *c, const struct sl_row *row, int stage)
{
	double copy = row->on_device ? c->device_copy : c->host_copy;

	return copy > 0 ? gb_per_second(row, stage) / copy : 0;
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_head(const struct sl_comparison *c, const char *title, FILE *out)
{
	fprintf(out, "\n%s\n%-7s %-16s %-16s %-16s", title, "where", "scan", "compact", "sort");
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		fprintf(out, " %15s", sl_stages[s].name);
	(void)c;
}

static void print_names(const struct sl_row *row, FILE *out)
{
	struct row_text t = text_of(row);

	fprintf(out, "%-7s %-16s %-16s %-16s", row->on_device ? "device" : "host", t.scan,
		t.compact, t.sort);
}

/* In percent of the median. */
static double half_range(const struct sl_spread *t)
{
	return t->median > 0 ? 50 * (t->most - t->least) / t->median : 0;
}

static void print_times(const struct sl_comparison *c, FILE *out)
{
	char cell[64];

	print_head(c, "milliseconds a batch: median, half the range", out);
	fprintf(out, " %15s\n", "copied home");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_row *row = &c->row[i];

		print_names(row, out);
		for (int s = 0; s <= SL_STAGE_COUNT; s++) {
			const struct sl_spread *t =
				s < SL_STAGE_COUNT ? &row->stage[s] : &row->home;

			snprintf(cell, sizeof(cell), "%.3g +-%.0f %%", t->median, half_range(t));
			fprintf(out, " %15s", cell);
		}
		fputc('\n', out);
	}
}

static void print_speeds(const struct sl_comparison *c, FILE *out)
{
	char cell[64];

	print_head(c, "GB/s of the bytes that must move, and their share of a copy's speed", out);
	fputc('\n', out);
	for (size_t i = 0; i < c->n; i++) {
		print_names(&c->row[i], out);
		for (int s = 0; s < SL_STAGE_COUNT; s++) {
			snprintf(cell, sizeof(cell), "%.3g (%.0f %%)", gb_per_second(&c->row[i], s),
				100 * share_of_copy(c, &c->row[i], s));
			fprintf(out, " %15s", cell);
		}
		fputc('\n', out);
	}
}

static void print_ends(const struct sl_comparison *c, FILE *out)
{
	fprintf(out,
		"\nend to end, millions of particles a second\n%-7s %-16s %-16s %-16s %15s "
		"%15s  %s\n",
		"where", "scan", "compact", "sort", "without output", "with output", "answer");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_row *row = &c->row[i];

		print_names(row, out);
		fprintf(out, " %15.4g %15.4g  %s\n", row->rate * 1e-6, row->rate_written * 1e-6,
			i == 0         ? "the reference"
			: row->differs ? "DIFFERS"
				       : "the same");
	}
}

void sl_compare_print(const struct sl_comparison *c, FILE *out)
{
	fprintf(out, "%s: %llu particles in %llu batches of %u\n", c->config.run.name,
		(unsigned long long)c->particles, (unsigned long long)c->n_batches, c->batch);
	if (c->particles < c->all)
		fprintf(out,
			"The emulated device is slow: the first of %llu particles are compared "
			"(--full: all).\n",
			(unsigned long long)c->all);
	fprintf(out, "host copies %.4g GB/s", c->host_copy);
	if (c->device[0])
		fprintf(out, ", device (%s) %.4g GB/s", c->device, c->device_copy);
	fputc('\n', out);
	print_times(c, out);
	print_speeds(c, out);
	print_ends(c, out);
	for (size_t i = 0; i < c->n; i++)
		if (c->row[i].differs)
			fprintf(out, "\n%s\n", c->row[i].story);
}

/* --- for programs ----------------------------------------------------------------------------- */

void sl_compare_csv(const struct sl_comparison *c, FILE *out)
{
	fprintf(out,
		"where,device,scan,compact,sort,stage,batch,samples,median_ms,least_ms,most_ms,"
		"bytes,gb_per_s,share_of_copy,particles_per_s,particles_per_s_written,"
		"same\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_row *row = &c->row[i];
		struct row_text t = text_of(row);

		for (int s = 0; s < SL_STAGE_COUNT; s++)
			fprintf(out,
				"%s,%s,%s,%s,%s,%s,%u,%u,%.6g,%.6g,%.6g,%llu,%.6g,%.4g,%.6g,%.6g,"
				"%s\n",
				row->on_device ? "device" : "host", row->on_device ? c->device : "",
				t.scan, t.compact, t.sort, sl_stages[s].name, c->batch,
				row->samples, row->stage[s].median, row->stage[s].least,
				row->stage[s].most, (unsigned long long)row->bytes[s],
				gb_per_second(row, s), share_of_copy(c, row, s), row->rate,
				row->rate_written, row->differs ? "no" : "yes");
	}
}

static void put_spread(struct sl_json *j, const struct sl_spread *t)
{
	sl_json_real(j, "median_ms", t->median);
	sl_json_real(j, "least_ms", t->least);
	sl_json_real(j, "most_ms", t->most);
}

static void put_row(struct sl_json *j, const struct sl_comparison *c, const struct sl_row *row)
{
	struct row_text t = text_of(row);

	sl_json_object(j, NULL);
	sl_json_text(j, "where", row->on_device ? "device" : "host");
	sl_json_text(j, "scan", t.scan);
	sl_json_text(j, "compact", t.compact);
	sl_json_text(j, "sort", t.sort);
	sl_json_bool(j, "same", !row->differs);
	if (row->differs)
		sl_json_text(j, "difference", row->story);
	sl_json_u64(j, "samples", row->samples);
	sl_json_object(j, "stages");
	for (int s = 0; s < SL_STAGE_COUNT; s++) {
		sl_json_object(j, sl_stages[s].name);
		put_spread(j, &row->stage[s]);
		sl_json_u64(j, "bytes", row->bytes[s]);
		sl_json_real(j, "gb_per_s", gb_per_second(row, s));
		sl_json_real(j, "share_of_copy", share_of_copy(c, row, s));
		sl_json_close(j);
	}
	sl_json_close(j);
	sl_json_object(j, "copied_home");
	put_spread(j, &row->home);
	sl_json_close(j);
	sl_json_real(j, "particles_per_s", row->rate);
	sl_json_real(j, "particles_per_s_written", row->rate_written);
	sl_json_close(j);
}

static void put_all(struct sl_json *j, const struct sl_comparison *c)
{
	sl_json_object(j, NULL);
	sl_json_text(j, "run", c->config.run.name);
	sl_json_u64(j, "particles", c->particles);
	sl_json_u64(j, "particles_configured", c->all);
	sl_json_u64(j, "batches", c->n_batches);
	sl_json_u64(j, "batch", c->batch);
	sl_json_text(j, "device", c->device);
	sl_json_real(j, "host_copy_gb_per_s", c->host_copy);
	sl_json_real(j, "device_copy_gb_per_s", c->device_copy);
	sl_json_array(j, "rows");
	for (size_t i = 0; i < c->n; i++)
		put_row(j, c, &c->row[i]);
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
