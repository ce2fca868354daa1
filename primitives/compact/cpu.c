/*
 * compact/cpu.c - the specification: one loop.
 *
 * Every index is written at the end of the list, and the list grows by the flag. So no branch
 * depends on the data (a wrong guess would cost some 15 cycles), and as the list is never longer
 * than i, the write stays within the n places that out has.
 */
#include "primitives/primitives.h"

static size_t scratch(const struct sl_shape *most)
{
	(void)most;
	return 0;
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	uint32_t n_out = 0;

	(void)x;
	for (uint32_t i = 0; i < job->n; i++) {
		job->out[n_out] = i;
		n_out += job->keep[i] != 0;
	}
	*job->n_out = n_out;
	return SL_OK;
}

const struct sl_backend sl_compact_cpu = {
	.name = "cpu",
	.primitive = SL_COMPACT,
	.space = SL_HOST,
	.help = "one loop without branches, the specification; reads a flag, writes an index",
	.scratch = scratch,
	.compact = run,
};
