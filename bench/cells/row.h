/*
 * row.h - a row of results: one backend with one tuning at one job, printed and written to the
 * table.
 */
#ifndef SL_BENCH_CELLS_ROW_H
#define SL_BENCH_CELLS_ROW_H

#include "bench/cells/accesses.h"
#include "bench/cells/bench.h"
#include "bench/cells/job.h"

struct sl_cell_row {
	const char *primitive, *backend;
	const struct sl_job *job;
	struct sl_tuning tuning; /* 0: the backend has none */
	struct sl_call_times times;
	struct sl_access_counts accesses; /* on the emulated device, shown in place of times */
	uint64_t bytes;                   /* that any algorithm must read and write at least */
};

/* Prints the names of the columns. */
void sl_cell_row_heading(void);

/* bytes / median in 10^9 bytes per second. */
double sl_cell_row_gb_s(const struct sl_cell_row *r);

/* Prints the row and adds it to the table. */
void sl_cell_row_show(const struct sl_bench *b, const struct sl_cell_row *r);

/* Prints that the row has no time because of the last error, and adds that to the table. */
void sl_cell_row_leave_out(const struct sl_bench *b, const struct sl_cell_row *r);

#endif
