/*
 * scan/cpu.c - prefix sums on one host thread: the specification of every scan backend.
 *
 * A single loop adds each item to a running sum. It reads and writes each item once, needs no
 * scratch and does n additions. All other backends must produce the same words; sums wrap modulo
 * 2^32 or 2^64, so the order of the additions does not change the result.
 */
#include "primitives/primitives.h"

/* The running sum is a local variable: no scratch. */
static size_t scratch(const struct sl_shape *shape)
{
	(void)shape;
	return 0;
}

/* Writes the sum up to item i (inclusive) or the sum before item i (exclusive) to out[i]. */
static void scan_u32(const uint32_t *in, uint32_t *out, uint32_t n, bool inclusive)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t before = sum;

		sum += in[i]; /* read in[i] before writing out[i]: out may alias in */
		out[i] = inclusive ? sum : before;
	}
}

/* Same as scan_u32() for 64-bit items. */
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
	.help = "one running sum on one thread; the specification",
	.scratch = scratch,
	.scan = run,
};
