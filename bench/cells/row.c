/* row.c - prints a row of results and writes it to the table. */
#include "bench/cells/cells.h"

#include <math.h>
#include <string.h>

double sl_cell_row_gb_s(const struct sl_cell_row *r)
{
	return r->times.ms.median > 0 ? (double)r->bytes / (1e6 * r->times.ms.median) : NAN;
}

/* a / b; NaN if one of them is not known. */
static double ratio(double a, double b)
{
	return a > 0 && b > 0 ? a / b : NAN;
}

static double or_none(uint32_t n)
{
	return n > 0 ? (double)n : NAN;
}

/* The padding of a row, or that text if the backend has none. */
static const char *padding_text(struct sl_tuning tuning, const char *none)
{
	return tuning.padding ? sl_padding_name(tuning.padding) : none;
}

/* The column "of" has the number of samples. */
void sl_cell_row_heading(void)
{
	printf("\n%-9s %-15s %-4s %10s %5s %5s %4s  ", "", "backend", "type", "n", "block", "items",
		"pad");
	if (sl_device_is_emulated())
		printf("%s per item\n", sl_accesses_heading());
	else
		printf("%10s %10s %10s %3s %9s  %8s %6s %6s\n", "median ms", "min", "max", "of",
			"host ms", "GB/s", "copy", "CUB");
}

/* The number with its unit; "-" for NaN. */
static const char *shown(char text[16], double value, int decimals, const char *unit)
{
	if (isfinite(value))
		snprintf(text, 16, "%.*f%s", decimals, value, unit);
	else
		snprintf(text, 16, "-");
	return text;
}

/* The field of the type shows "8x4" for 8 columns of 4 bytes. */
static void print_name(const struct sl_cell_row *r)
{
	const struct sl_moved_columns *columns = &r->job->set.columns;
	char block[16], items[16], type[16];

	snprintf(type, sizeof(type), "%s", sl_type_name(r->job->set.type));
	if (columns->n > 0)
		snprintf(type, sizeof(type), "%ux%u", columns->n, columns->bytes);
	printf("%-9s %-15s %-4s %10u %5s %5s %4s  ", r->primitive, r->backend, type, r->job->set.n,
		shown(block, or_none(r->tuning.block), 0, ""),
		shown(items, or_none(r->tuning.items), 0, ""), padding_text(r->tuning, "-"));
}

static void print_times(const struct sl_bench *b, const struct sl_cell_row *r)
{
	const struct sl_spread *ms = &r->times.ms;
	char copy[16], cub[16];

	printf("%10.4f %10.4f %10.4f %3u %9.4f%s %8.1f %6s %6s\n", ms->median, ms->least, ms->most,
		ms->n, r->times.host_ms, r->times.gated ? " " : "*", sl_cell_row_gb_s(r),
		shown(copy, 100 * ratio(sl_cell_row_gb_s(r), b->copy_gb_s), 1, "%"),
		shown(cub, ratio(b->cub_ms, ms->median), 2, "x"));
}

static void print_row(const struct sl_bench *b, const struct sl_cell_row *r)
{
	char text[SL_ACCESS_TEXT];

	print_name(r);
	if (sl_device_is_emulated())
		puts(sl_accesses_text(&r->accesses, r->job->set.n, text));
	else
		print_times(b, r);
	(void)fflush(stdout);
}

enum { ROW_FIELDS = 26 };

/* A property that the job does not have is empty, as are the times of the emulated device. */
static void write_row(const struct sl_bench *b, const struct sl_cell_row *r)
{
	const bool emulated = sl_device_is_emulated();
	const struct sl_setting *set = &r->job->set;
	const struct sl_call_times *times = emulated ? &sl_no_times : &r->times;
	const struct sl_spread *ms = &times->ms;
	const double gb_s = emulated ? (double)NAN : sl_cell_row_gb_s(r);
	bool copy = strcmp(r->primitive, "copy") == 0;
	bool sorts = !copy && r->job->primitive == SL_SORT;
	bool compacts =
		!copy && (r->job->primitive == SL_COMPACT || r->job->primitive == SL_EXPAND);
	struct sl_bench_field row[ROW_FIELDS + SL_ACCESS_FIELDS] = {
		{"primitive", r->primitive, 0, 0},
		{"backend", r->backend, 0, 0},
		{"type", sl_type_name(set->type), 0, 0},
		{"n", NULL, set->n, 10},
		{"bits", NULL, sorts ? (double)set->end_bit : (double)NAN, 2},
		{"entropy", NULL, sorts ? sl_input_entropy(set->input) : (double)NAN, 3},
		{"survivors_percent", NULL, compacts ? sl_alive_percent(set->alive) : (double)NAN,
			3},
		{"columns", NULL, compacts ? (double)set->columns.n : (double)NAN, 3},
		{"column_bytes", NULL, or_none(set->columns.bytes), 3},
		{"items_off", NULL, set->off[0], 3},
		{"items_off_second", NULL, set->off[1], 3},
		{"block", NULL, or_none(r->tuning.block), 4},
		{"items", NULL, or_none(r->tuning.items), 4},
		{"padding", padding_text(r->tuning, ""), 0, 0},
		{"ms_median", NULL, ms->median, 6},
		{"ms_min", NULL, ms->least, 6},
		{"ms_lower_quartile", NULL, ms->lower, 6},
		{"ms_upper_quartile", NULL, ms->upper, 6},
		{"ms_max", NULL, ms->most, 6},
		{"samples", NULL, ms->n, 4},
		{"held",
			emulated       ? ""
			: times->gated ? "yes"
				       : "no",
			0, 0},
		{"host_ms", NULL, times->host_ms, 4},
		{"least_bytes", NULL, (double)r->bytes, 15},
		{"gb_per_s", NULL, gb_s, 6},
		{"share_of_copy", NULL, ratio(gb_s, b->copy_gb_s), 4},
		{"times_cub", NULL, ratio(b->cub_ms, ms->median), 4},
	};

	sl_accesses_fields(emulated ? &r->accesses : NULL, set->n, row + ROW_FIELDS);
	sl_bench_table_row(b->table, row, sizeof(row) / sizeof(row[0]));
}

void sl_cell_row_show(const struct sl_bench *b, const struct sl_cell_row *r)
{
	print_row(b, r);
	write_row(b, r);
}

void sl_cell_row_leave_out(const struct sl_bench *b, const struct sl_cell_row *r)
{
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + SL_MESSAGE_BYTES];

	print_name(r);
	printf("not timed: %s\n", sl_last_error());
	(void)fflush(stdout);
	snprintf(line, sizeof(line), "%s, %s: %s", sl_job_text(r->job, text), r->backend,
		sl_last_error());
	sl_bench_table_leave_out(b->table, line);
}

/* --- memory accesses on the emulated device, where times mean nothing ------------------------- */

const struct sl_call_times sl_no_times = {
	.ms = {.n = 1, .median = NAN, .least = NAN, .lower = NAN, .upper = NAN, .most = NAN},
	.host_ms = NAN,
};

enum sl_status sl_accesses_count(const struct sl_timed_call *call, struct sl_access_counts *counts)
{
	enum sl_status s;

	if (call->load)
		SL_TRY(call->load(call->ctx));
	SL_TRY(sl_stream_wait(NULL));
	sl_access_start();
	s = call->run(call->ctx);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	*counts = sl_access_stop();
	return s;
}

const char *sl_accesses_heading(void)
{
	return "   loads  stores sectors  shared conflicts atomics barriers";
}

const char *sl_accesses_text(
	const struct sl_access_counts *counts, double n, char text[SL_ACCESS_TEXT])
{
	static const int width[SL_ACCESS_FIELDS] = {8, 7, 7, 7, 9, 7, 8};
	int used = 0;

	for (int i = 0; i < SL_ACCESS_FIELDS; i++) {
		double value = sl_access_per_item(counts, (enum sl_access_count)i, n);
		char number[32] = "-";

		if (!isnan(value))
			snprintf(number, sizeof(number), "%.3g", value);
		used += snprintf(text + used, SL_ACCESS_TEXT - (size_t)used, "%s%*s",
			i > 0 ? " " : "", width[i], number);
	}
	return text;
}

void sl_accesses_fields(const struct sl_access_counts *counts, double n,
	struct sl_bench_field field[SL_ACCESS_FIELDS])
{
	for (int i = 0; i < SL_ACCESS_FIELDS; i++)
		field[i] = (struct sl_bench_field){sl_access_count_names[i], NULL,
			counts ? sl_access_per_item(counts, (enum sl_access_count)i, n)
			       : (double)NAN,
			6};
}
