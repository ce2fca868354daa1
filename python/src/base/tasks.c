/* tasks.c - see base.h. */
#include "python/src/base/base.h"

#include <sched.h>

#include "primitives/base/clock.h"

enum { INTERVAL_NS = 50000000 };

void sl_py_pool_open(struct sl_job_pool *pool, size_t n)
{
	cpu_set_t set;
	size_t cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;

	cores = cores > SL_JOB_THREADS_MOST ? SL_JOB_THREADS_MOST : cores;
	cores = n < cores ? n : cores;
	sl_job_pool_open(pool, cores > 1 ? (uint32_t)cores - 1 : 0);
}

enum sl_status sl_py_check_signals(uint32_t worker, uint64_t *asked_ns)
{
	PyGILState_STATE state;
	locale_t plain;
	bool raised;

	if (worker > 0 || sl_now_ns() - *asked_ns <= INTERVAL_NS)
		return SL_OK;
	*asked_ns = sl_now_ns();
	state = PyGILState_Ensure();
	plain = uselocale(LC_GLOBAL_LOCALE); /* a handler is code in Python */
	raised = PyErr_CheckSignals() != 0;
	uselocale(plain);
	PyGILState_Release(state);
	return raised ? sl_fail(SL_STOPPED, "the call was interrupted") : SL_OK;
}
