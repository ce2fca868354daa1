/*
 * compare_print.c - prints a comparison as tables of text.
 *
 * Table 1 has milliseconds per batch and stage, table 2 GB/s per stage, table 3 particles per second
 * of whole runs, and on the emulated device, which is not timed, table 4 the memory accesses. A column
 * of a stage appears only if some case runs that stage.
 */
#include "pipeline/compare/compare_print.h"

#include "pipeline/compare/compare_figures.h"
#include "pipeline/compare/cases/cases.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Width of a number in characters. A line with all stages and the longest names has at most 180. */
enum { CELL = 11 };

/* Widths of the columns of choices in characters: those of the longest name. */
struct widths {
	int of[SL_CASE_CHOICES];
};

static struct widths measure(const struct sl_comparison *c)
{
	struct widths w;

	for (int k = 0; k < SL_CASE_CHOICES; k++)
		w.of[k] = (int)strlen(sl_case_columns[k]);
	for (size_t i = 0; i < c->n; i++) {
		struct sl_case_names names = sl_case_names(&c->cases[i]);

		for (int k = 0; k < SL_CASE_CHOICES; k++) {
			int n = (int)strlen(names.of[k]);

			w.of[k] = n > w.of[k] ? n : w.of[k];
		}
	}
	return w;
}

static void print_title(const char *title, const struct widths *w, FILE *out)
{
	fprintf(out, "\n%s\n%-6s", title, "where");
	for (int k = 0; k < SL_CASE_CHOICES; k++)
		fprintf(out, "  %-*s", w->of[k], sl_case_columns[k]);
}

static void print_names(const struct sl_comparison_case *entry, const struct widths *w, FILE *out)
{
	struct sl_case_names names = sl_case_names(entry);

	fprintf(out, "%-6s", sl_case_space(entry));
	for (int k = 0; k < SL_CASE_CHOICES; k++)
		fprintf(out, "  %-*s", w->of[k], names.of[k]);
}

/* Does any case have time t? */
static bool is_shown(const struct sl_comparison *c, int t)
{
	bool shown = false;

	for (size_t i = 0; i < c->n; i++)
		shown |= !sl_case_is_emulated(&c->cases[i]) && sl_case_has_time(&c->cases[i], t);
	return shown;
}

static const char *time_name(int t)
{
	return t == SL_TIME_SUM ? "sum" : t == SL_TIME_TRANSFER ? "transfer" : sl_stages[t].name;
}

/* Prints time t of a case in CELL characters after a space. */
typedef void print_cell(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t, FILE *out);

/* A table with a line per case that is timed and a column for each of the first n_times times. */
static void print_table(const struct sl_comparison *c, const struct widths *w, const char *title,
	int n_times, print_cell *cell, FILE *out)
{
	print_title(title, w, out);
	for (int t = 0; t < n_times; t++)
		if (is_shown(c, t))
			fprintf(out, " %*s", CELL, time_name(t));
	fputc('\n', out);
	for (size_t i = 0; i < c->n; i++) {
		if (sl_case_is_emulated(&c->cases[i]))
			continue;
		print_names(&c->cases[i], w, out);
		for (int t = 0; t < n_times; t++)
			if (is_shown(c, t))
				cell(c, &c->cases[i], t, out);
		fputc('\n', out);
	}
}

/* Significant digits; a large number keeps all digits before the point and gets no exponent. */
static int put_number(char *text, size_t size, double value, int digits)
{
	return value >= 999.5 ? snprintf(text, size, "%.0f", value)
	                      : snprintf(text, size, "%.*g", digits, value);
}

/*
 * "36.9 +-3%": the median and half the interquartile range. Digits are dropped until the text fits
 * the cell. One sample has no range.
 */
static void print_milliseconds(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t, FILE *out)
{
	const struct sl_spread *ms = &entry->time[t];
	double share = ms->median > 0 ? 50 * (ms->upper - ms->lower) / ms->median : 0;
	char text[64] = "-";

	(void)c;
	if (ms->n == 1)
		put_number(text, sizeof(text), ms->median, 3);
	for (int digits = 3, n = CELL + 1; ms->n > 1 && digits > 0 && n > CELL; digits--) {
		n = put_number(text, sizeof(text), ms->median, digits);
		n += snprintf(text + n, sizeof(text) - (size_t)n, " +-%.0f%%", share);
	}
	fprintf(out, " %*s", CELL, text);
}

/* "1.88 (3%)": GB/s and the percentage of the copy speed, which the transfer does not have. */
static void print_speed(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t, FILE *out)
{
	double speed = sl_gb_per_second(entry, t);
	double share = sl_share_of_copy(c, entry, t);
	char text[64] = "-";
	int n = isnan(speed) ? 0 : put_number(text, sizeof(text), speed, 3);

	if (n > 0 && !isnan(share))
		snprintf(text + n, sizeof(text) - (size_t)n, " (%.0f%%)", 100 * share);
	fprintf(out, " %*s", CELL, text);
}

/* --- end to end ------------------------------------------------------------------------------- */

static const char *answer_text(
	const struct sl_comparison *c, const struct sl_comparison_case *entry)
{
	switch (entry->answer) {
	case SL_ANSWER_SAME:
		return entry == c->cases ? "the reference" : "the same";
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
	print_title("end to end, millions of particles per second", w, out);
	fprintf(out, " %15s %15s   %s\n", "without output", "with output", "answer");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison_case *entry = &c->cases[i];

		print_names(entry, w, out);
		print_rate(c, &entry->without_output, out);
		print_rate(c, &entry->with_output, out);
		fprintf(out, "   %s\n", answer_text(c, entry));
	}
}

static void print_accesses(const struct sl_comparison *c, const struct widths *w, FILE *out)
{
	print_title("memory accesses per particle, without output", w, out);
	for (int f = 0; f < SL_ACCESS_COUNT_COUNT; f++)
		fprintf(out, " %*s", CELL, sl_access_count_names[f]);
	fputc('\n', out);
	for (size_t i = 0; i < c->n; i++) {
		if (!sl_case_is_emulated(&c->cases[i]))
			continue;
		print_names(&c->cases[i], w, out);
		for (int f = 0; f < SL_ACCESS_COUNT_COUNT; f++) {
			double value =
				sl_accesses_per_particle(c, &c->cases[i], (enum sl_access_count)f);
			char text[32] = "-";

			if (!isnan(value))
				put_number(text, sizeof(text), value, 3);
			fprintf(out, " %*s", CELL, text);
		}
		fputc('\n', out);
	}
}

/* --- whole text ------------------------------------------------------------------------------- */

static void print_machine(const struct sl_comparison *c, FILE *out)
{
	const struct sl_plan *plan = c->plan;

	fprintf(out, "host    %s, %u core%s, %u thread%s; one copies %.3g GB/s\n",
		plan->machine.processor[0] ? plan->machine.processor : "processor",
		plan->machine.cores, plan->machine.cores == 1 ? "" : "s", plan->threads,
		plan->threads == 1 ? "" : "s", c->host_copy);
	if (plan->on_device)
		fprintf(out, "device  %s%s, %u slot%s", plan->device[0].name,
			sl_device_is_emulated() ? " on the CPU" : "", plan->n_device_slots,
			plan->n_device_slots == 1 ? "" : "s");
	if (c->device_copy > 0)
		fprintf(out, "; copies %.3g GB/s", c->device_copy);
	if (plan->on_device)
		fputc('\n', out);
	if (c->choices.device_reason[0])
		fprintf(out, "        no GPU: %s\n", c->choices.device_reason);
	if (plan->on_device && sl_device_is_emulated())
		fprintf(out,
			"        The emulated device is not timed: its memory accesses are counted.\n");
}

void sl_compare_print(const struct sl_comparison *c, FILE *out)
{
	struct widths w = measure(c);

	fprintf(out, "%s: %llu particles in %llu %s of %u\n", c->config.run.name,
		(unsigned long long)c->particles, (unsigned long long)c->n_batches,
		c->n_batches == 1 ? "batch" : "batches", c->batch);
	if (c->particles < c->configured)
		fprintf(out,
			"The emulated device is slow: only the first of %llu particles are compared; "
			"use --full for all.\n",
			(unsigned long long)c->configured);
	if (c->config.stop.when[0])
		fprintf(out, "All batches run: a comparison ignores stop.when.\n");
	print_machine(c, out);
	print_table(c, &w, "milliseconds per batch: median and half the interquartile range",
		SL_TIMES, print_milliseconds, out);
	print_table(c, &w,
		"GB/s of the minimum memory traffic, and its percentage of the speed of a copy",
		SL_TIME_SUM, print_speed, out);
	print_ends(c, &w, out);
	if (c->plan->on_device && sl_device_is_emulated())
		print_accesses(c, &w, out);
	for (size_t i = 0; i < c->n; i++)
		if (c->cases[i].message[0])
			fprintf(out, "\n%s\n", c->cases[i].message);
}
