/* bench.c - the time limit of sluice-bench. */
#include "bench/cells/bench.h"

#include "primitives/base/clock.h"

bool sl_bench_has_time(const struct sl_bench *b, double seconds)
{
	return b->deadline_ns == 0 || sl_now_ns() + (uint64_t)(1e9 * seconds) < b->deadline_ns;
}
