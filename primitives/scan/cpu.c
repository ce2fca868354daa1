/* scan/cpu.c - the specification: a running sum. Reads and writes each item once. */
#include "primitives/primitives.h"

static size_t scratch(const struct sl_shape *shape)
{
	(void)shape;
	return 0;
}

static void scan_u32(const uint32_t *in, uint32_t *out, uint32_t n, bool inclusive)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t before = sum;

		sum += in[i]; /* read first: out may be in */
		out[i] = inclusive ? sum : before;
	}
}

static void scan_u64(const uint64_t *in, uint64_t *out, uint32_t n, bool inclusive)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t before = sum;

		sum += in[i];
		out[i] = inclusive ? sum : before;
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	(void)x;
	if (job->type == SL_U32)
		scan_u32((const uint32_t *)job->in, (uint32_t *)job->out, job->n, job->inclusive);
	else
		scan_u64((const uint64_t *)job->in, (uint64_t *)job->out, job->n, job->inclusive);
	return SL_OK;
}

const struct sl_backend sl_scan_cpu = {
	.name = "cpu",
	.primitive = SL_SCAN,
	.space = SL_HOST,
	.help = "a running sum, the specification; one read and one write an item",
	.scratch = scratch,
	.scan = run,
};
