/* bench.h - the state of one call of sluice-bench, which every command receives. */
#ifndef SL_BENCH_CELLS_BENCH_H
#define SL_BENCH_CELLS_BENCH_H

#include "bench/measure/options.h"
#include "bench/measure/stopwatch.h"
#include "bench/measure/table.h"

struct sl_bench {
	const struct sl_bench_options *options;
	struct sl_about about;
	struct sl_device device;
	struct sl_stopwatch watch;
	uint64_t deadline_ns; /* no measurement starts later; 0: no limit */
	struct sl_bench_table *table;
	uint32_t copy_n; /* words of the copy below */
	double copy_gb_s;
	double cub_ms; /* of the current job; 0: not known */
	bool wrong;    /* a backend gave a wrong answer */
};

/* Is there time left for a measurement that takes so many seconds? */
bool sl_bench_has_time(const struct sl_bench *b, double seconds);

#endif
