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

/* shape: "8x4" for 8 columns of 4 bytes, else the type. A * marks times with a share of the host. */
#define NAME                                                                     \
	"{primitive:-9} {backend:-15} {shape:-4} {n:10.0f} {block:5} {items:5} " \
	"[{?padding}{padding:4}][{!padding}   -]  "

static const struct sl_line time_lines[] = {
	{"", NULL,
		NAME SL_TIMES
		" {host_ms:9.4f}[{!held=no} ][{?held=no}*] {gb_per_s:8.1f} "
		"[{?share_of_copy}{share_of_copy/0.01:5.1f}%][{!share_of_copy}     -] "
		"[{?times_cub}{times_cub:5.2f}x][{!times_cub}     -]"},
	{NULL, NULL, NULL},
};
static const struct sl_line access_lines[] = {{"", NULL, NAME SL_ACCESSES}, {NULL, NULL, NULL}};
static const struct sl_line left_out_lines[] = {
	{"", NULL, NAME "not timed: {problem}"}, {NULL, NULL, NULL}};

void sl_cell_row_heading(void)
{
	printf("\n%-9s %-15s %-4s %10s %5s %5s %4s  %s\n", "", "backend", "type", "n", "block",
		"items", "pad",
		sl_device_is_emulated() ? SL_ACCESSES_HEADING "item"
					: SL_TIMES_HEADING "   host ms      GB/s   copy    CUB");
}

enum { ROW_FIELDS = 28 };

static void leave_out(const struct sl_bench *b, const struct sl_cell_row *r, const char *problem)
{
	char text[SL_JOB_BYTES], line[SL_JOB_BYTES + SL_MESSAGE_BYTES];

	snprintf(line, sizeof(line), "%s, %s: %s", sl_job_text(r->job, text), r->backend, problem);
	sl_bench_table_leave_out(b->table, line);
}

/* A property that the job does not have is empty, as are the times of the emulated device. */
void sl_cell_row_show(const struct sl_bench *b, const struct sl_cell_row *r, const char *problem)
{
	const bool emulated = sl_device_is_emulated();
	const struct sl_setting *set = &r->job->set;
	const struct sl_call_times *times = emulated ? &sl_no_times : &r->times;
	const struct sl_spread *ms = &times->ms;
	const double gb_s = emulated ? (double)NAN : sl_cell_row_gb_s(r);
	const double entropy = sl_choice_number(sl_entropies, SL_ENTROPIES, (uint32_t)set->input);
	const double survivors = sl_choice_number(sl_survivors, SL_SURVIVORS, (uint32_t)set->alive);
	bool copy = strcmp(r->primitive, "copy") == 0;
	bool sorts = !copy && r->job->primitive == SL_SORT;
	bool compacts =
		!copy && (r->job->primitive == SL_COMPACT || r->job->primitive == SL_EXPAND);
	char shape[16];
	struct sl_bench_field row[ROW_FIELDS + SL_ACCESS_FIELDS] = {
		{"shape", shape, 0, SL_BENCH_PRINTED},
		{"problem", problem ? problem : "", 0, SL_BENCH_PRINTED},
		{"primitive", r->primitive, 0, 0},
		{"backend", r->backend, 0, 0},
		{"type", sl_type_text(set->type), 0, 0},
		{"n", NULL, set->n, 10},
		{"bits", NULL, sorts ? (double)set->end_bit : (double)NAN, 2},
		{"entropy", NULL, sorts ? entropy : (double)NAN, 3},
		{"survivors_percent", NULL, compacts ? survivors : (double)NAN, 3},
		{"columns", NULL, compacts ? (double)set->columns.n : (double)NAN, 3},
		{"column_bytes", NULL, or_none(set->columns.bytes), 3},
		{"items_off", NULL, set->off[0], 3},
		{"items_off_second", NULL, set->off[1], 3},
		{"block", NULL, or_none(r->tuning.block), 4},
		{"items", NULL, or_none(r->tuning.items), 4},
		{"padding", r->tuning.padding ? sl_padding_name(r->tuning.padding) : "", 0, 0},
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

	if (set->columns.n > 0)
		snprintf(shape, sizeof(shape), "%ux%u", set->columns.n, set->columns.bytes);
	else
		snprintf(shape, sizeof(shape), "%s", sl_type_text(set->type));
	sl_accesses_fields(emulated ? &r->accesses : NULL, set->n, row + ROW_FIELDS);
	if (problem) {
		sl_bench_row_print(left_out_lines, row, ROW_FIELDS);
		leave_out(b, r, problem);
	} else {
		sl_bench_table_row(b->table, emulated ? access_lines : time_lines, row,
			sizeof(row) / sizeof(row[0]));
	}
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

void sl_accesses_fields(const struct sl_access_counts *counts, double n,
	struct sl_bench_field field[SL_ACCESS_FIELDS])
{
	for (int i = 0; i < SL_ACCESS_FIELDS; i++)
		field[i] = (struct sl_bench_field){sl_access_count_names[i], NULL,
			counts ? sl_access_per_item(counts, (enum sl_access_count)i, n)
			       : (double)NAN,
			6};
}
