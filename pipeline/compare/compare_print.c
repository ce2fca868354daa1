/* compare_print.c - what was compared, in tables for people. */
#include "pipeline/compare/compare_print.h"

#include "pipeline/compare/compare_figures.h"
#include "pipeline/compare/cases.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row of all stages, with the longest names, has 180 characters at most. */
enum { CELL = 11 };

/* How wide the names are. */
struct widths {
	int scan, compact, sort, schedule;
};

static int wider(int width, const char *text)
{
	int n = (int)strlen(text);

	return n > width ? n : width;
}

static struct widths measure(const struct sl_comparison *c)
{
	struct widths w = {(int)strlen("scan"), (int)strlen("compact"), (int)strlen("sort"),
		(int)strlen("schedule")};

	for (size_t i = 0; i < c->n; i++) {
		struct sl_case_names names = sl_case_names(&c->row[i]);

		w.scan = wider(w.scan, names.scan);
		w.compact = wider(w.compact, names.compact);
		w.sort = wider(w.sort, names.sort);
		w.schedule = wider(w.schedule, names.schedule);
	}
	return w;
}

static bool has_device(const struct sl_comparison *c)
{
	return c->plan->on_device;
}

static void print_title(const char *title, const struct widths *w, FILE *out)
{
	fprintf(out, "\n%s\n%-6s  %-*s  %-*s  %-*s  %-*s", title, "where", w->scan, "scan",
		w->compact, "compact", w->sort, "sort", w->schedule, "schedule");
}

static void print_names(const struct sl_comparison_case *row, const struct widths *w, FILE *out)
{
	struct sl_case_names names = sl_case_names(row);

	fprintf(out, "%-6s  %-*s  %-*s  %-*s  %-*s", row->on_device ? "device" : "host", w->scan,
		names.scan, w->compact, names.compact, w->sort, names.sort, w->schedule,
		names.schedule);
}

/* Does any row run stage s? */
static bool is_shown(const struct sl_comparison *c, int s)
{
	bool shown = false;

	for (size_t i = 0; i < c->n; i++)
		shown |= sl_stage_is_run(c->row[i].mode, s);
	return shown;
}

static void print_stage_names(const struct sl_comparison *c, FILE *out)
{
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		if (is_shown(c, s))
			fprintf(out, " %*s", CELL, sl_stages[s].name);
}

/* So many digits, or all of those before the point: no exponent of a large number. */
static int put_number(char *text, size_t size, double value, int digits)
{
	return value >= 999.5 ? snprintf(text, size, "%.0f", value)
	                      : snprintf(text, size, "%.*g", digits, value);
}

/* --- milliseconds ----------------------------------------------------------------------------- */

/* "36.9 +-3%": the median, and half of what the middle half of the values spans; as many digits as
 * there is room for. */
static void print_spread(const struct sl_spread *t, FILE *out)
{
	double share = t->median > 0 ? 50 * (t->upper - t->lower) / t->median : 0;
	char text[64] = "-";

	if (t->n == 1)
		put_number(text, sizeof(text), t->median, 3);
	for (int digits = 3, n = CELL + 1; t->n > 1 && digits > 0 && n > CELL; digits--) {
		n = put_number(text, sizeof(text), t->median, digits);
		n += snprintf(text + n, sizeof(text) - (size_t)n, " +-%.0f%%", share);
	}
	fprintf(out, " %*s", CELL, text);
}

static void print_times(const struct sl_comparison *c, const struct widths *w, FILE *out)
{
	static const struct sl_spread none = {0};

	print_title(
		"milliseconds a batch: the median, and half the range of the middle half", w, out);
	print_stage_names(c, out);
	if (has_device(c))
		fprintf(out, " %*s", CELL, "copied home");
	fprintf(out, " %*s\n", CELL, "together");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison_case *row = &c->row[i];

		print_names(row, w, out);
		for (int s = 0; s < SL_STAGE_COUNT; s++)
			if (is_shown(c, s))
				print_spread(&row->stage[s], out);
		if (has_device(c))
			print_spread(row->on_device ? &row->home : &none, out);
		print_spread(&row->all, out);
		fputc('\n', out);
	}
}

/* --- GB/s ------------------------------------------------------------------------------------- */

/* "1.88 (3%)". */
static void print_speed(
	const struct sl_comparison *c, const struct sl_comparison_case *row, int s, FILE *out)
{
	double speed = sl_gb_per_second(row->bytes[s], &row->stage[s]);
	double share = sl_share_of_copy(c, row, s);
	char text[64] = "-";
	int n = isnan(speed) ? 0 : put_number(text, sizeof(text), speed, 3);

	if (n > 0 && !isnan(share))
		snprintf(text + n, sizeof(text) - (size_t)n, " (%.0f%%)", 100 * share);
	fprintf(out, " %*s", CELL, text);
}

static void print_home_speed(const struct sl_comparison_case *row, FILE *out)
{
	double speed = sl_gb_per_second(row->home_bytes, &row->home);
	char text[64] = "-";

	if (row->on_device && !isnan(speed))
		put_number(text, sizeof(text), speed, 3);
	fprintf(out, " %*s", CELL, text);
}

static void print_speeds(const struct sl_comparison *c, const struct widths *w, FILE *out)
{
	print_title("GB/s of the bytes that must move at least, and their share of a copy's speed",
		w, out);
	print_stage_names(c, out);
	fprintf(out, has_device(c) ? " %*s\n" : "\n", CELL, "copied home");
	for (size_t i = 0; i < c->n; i++) {
		print_names(&c->row[i], w, out);
		for (int s = 0; s < SL_STAGE_COUNT; s++)
			if (is_shown(c, s))
				print_speed(c, &c->row[i], s, out);
		if (has_device(c))
			print_home_speed(&c->row[i], out);
		fputc('\n', out);
	}
}

/* --- from end to end -------------------------------------------------------------------------- */

static const char *answer_text(const struct sl_comparison *c, const struct sl_comparison_case *row)
{
	switch (row->answer) {
	case SL_ANSWER_SAME:
		return row == c->row ? "the reference" : "the same";
	case SL_ANSWER_DIFFERS:
		return "DIFFERS";
	case SL_ANSWER_FAILED:
		return "FAILED";
	case SL_ANSWER_NONE:
		break;
	}
	return "-";
}

static void print_rate(const struct sl_comparison *c, const struct sl_spread *t, FILE *out)
{
	double rate = sl_particles_per_second(c, t);

	if (isnan(rate))
		fprintf(out, " %15s", "-");
	else
		fprintf(out, " %15.4g", 1e-6 * rate);
}

static void print_ends(const struct sl_comparison *c, const struct widths *w, FILE *out)
{
	print_title("from end to end, millions of particles a second", w, out);
	fprintf(out, " %15s %15s   %s\n", "without output", "with output", "answer");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison_case *row = &c->row[i];

		print_names(row, w, out);
		print_rate(c, &row->whole, out);
		print_rate(c, &row->written, out);
		fprintf(out, "   %s\n", answer_text(c, row));
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static void print_machine(const struct sl_comparison *c, FILE *out)
{
	const struct sl_plan *plan = c->plan;

	fprintf(out, "host    %s, %u core%s, %u thread%s; one copies %.3g GB/s\n",
		plan->machine.processor[0] ? plan->machine.processor : "processor",
		plan->machine.cores, plan->machine.cores == 1 ? "" : "s", plan->threads,
		plan->threads == 1 ? "" : "s", c->host_copy);
	if (plan->on_device)
		fprintf(out, "device  %s%s, %u slot%s; copies %.3g GB/s\n", plan->device.name,
			sl_device_is_emulated() ? " on the CPU" : "", plan->n_device_slots,
			plan->n_device_slots == 1 ? "" : "s", c->device_copy);
	if (c->choices.device_reason[0])
		fprintf(out, "        no GPU: %s\n", c->choices.device_reason);
	if (plan->on_device && sl_device_is_emulated())
		fprintf(out, "        Times of the emulated device tell nothing of a GPU's.\n");
}

void sl_compare_print(const struct sl_comparison *c, FILE *out)
{
	struct widths w = measure(c);

	fprintf(out, "%s: %llu particles in %llu %s of %u\n", c->config.run.name,
		(unsigned long long)c->particles, (unsigned long long)c->n_batches,
		c->n_batches == 1 ? "batch" : "batches", c->batch);
	if (c->particles < c->configured)
		fprintf(out,
			"The emulated device is slow: these are the first of %llu (--full: all of "
			"them).\n",
			(unsigned long long)c->configured);
	if (c->config.stop.when[0])
		fprintf(out, "All batches are run: stop.when is left out of a comparison.\n");
	print_machine(c, out);
	print_times(c, &w, out);
	print_speeds(c, &w, out);
	print_ends(c, &w, out);
	for (size_t i = 0; i < c->n; i++)
		if (c->row[i].message[0])
			fprintf(out, "\n%s\n", c->row[i].message);
}
