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

/* "8x4" for 8 columns of 4 bytes, else the type. A * marks times with a share of the host. */
#define NAME                                                                   \
	"{primitive:-9} {backend:-15} [{?columns}{columns}x{column_bytes:-2}]" \
	"[{!columns}{type:-4}] {n:10.0f} {block:5} {items:5} "                 \
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

/* A property that the job does not have is empty, as are the times of the emulated device. */
void sl_cell_row_show(const struct sl_bench *b, const struct sl_cell_row *r, const char *problem)
{
	const bool emulated = sl_device_is_emulated();
	const struct sl_setting *set = &r->job->set;
	const struct sl_call_times *times = emulated ? &sl_no_times : &r->times;
	const double gb_s = emulated ? (double)NAN : sl_cell_row_gb_s(r);
	const double entropy = sl_choice_number(sl_entropies, SL_ENTROPIES, (uint32_t)set->input);
	const double survivors = sl_choice_number(sl_survivors, SL_SURVIVORS, (uint32_t)set->alive);
	bool copy = strcmp(r->primitive, "copy") == 0;
	bool sorts = !copy && r->job->primitive == SL_SORT;
	bool compacts =
		!copy && (r->job->primitive == SL_COMPACT || r->job->primitive == SL_EXPAND);
	struct sl_json *j = sl_bench_row_begin(b->table);
	char text[SL_JOB_BYTES];

	sl_json_add(j,
		"primitive %s backend %s type %s n %u bits %g entropy %g survivors_percent %g columns %g",
		r->primitive, r->backend, sl_type_text(set->type), set->n,
		sorts ? (double)set->end_bit : (double)NAN, sorts ? entropy : (double)NAN,
		compacts ? survivors : (double)NAN,
		compacts ? (double)set->columns.n : (double)NAN);
	sl_json_add(j,
		"column_bytes %g items_off %u items_off_second %u block %g items %g padding %s",
		or_none(set->columns.bytes), set->off[0], set->off[1], or_none(r->tuning.block),
		or_none(r->tuning.items),
		r->tuning.padding ? sl_padding_name(r->tuning.padding) : "");
	sl_spread_put(j, &times->ms);
	sl_json_add(j,
		"held %s host_ms %g least_bytes %lu gb_per_s %g share_of_copy %g times_cub %g",
		emulated       ? ""
		: times->gated ? "yes"
			       : "no",
		times->host_ms, r->bytes, gb_s, ratio(gb_s, b->copy_gb_s),
		ratio(b->cub_ms, times->ms.median));
	sl_accesses_put(j, emulated ? &r->accesses : NULL, set->n);
	if (problem) {
		sl_json_text(j, "problem", problem);
		sl_bench_table_leave_out(
			b->table, "%s, %s: %s", sl_job_text(r->job, text), r->backend, problem);
	}
	sl_bench_row_end(b->table,
		problem    ? left_out_lines
		: emulated ? access_lines
			   : time_lines,
		!problem);
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

void sl_accesses_put(struct sl_json *j, const struct sl_access_counts *counts, double n)
{
	for (int i = 0; i < SL_ACCESS_COUNT_COUNT; i++)
		sl_json_real(j, sl_access_count_names[i],
			counts ? sl_access_per_item(counts, (enum sl_access_count)i, n)
			       : (double)NAN);
}
