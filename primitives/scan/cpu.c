/*
 * scan/cpu.c - prefix sums on one host thread: the specification of every scan backend.
 *
 * A single loop adds each item to a running sum. It reads and writes each item once, needs no
 * scratch and does n additions. All other backends must produce the same words; sums wrap modulo
 * 2^32 or 2^64, so the order of the additions does not change the result. For floating-point items
 * it does: primitives.h states the order.
 */
#include <string.h>

#include "order.h"
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

/*
 * Scans of floating-point items, 16 at a time: first within the 16 items, then what precedes them
 * is added level by level, and then their sum becomes a part of it. The additions of a level are
 * independent of each other, so the compiler can use vectors. Returns the sum of all; out may be
 * NULL.
 */
#define DEFINE_ORDERED_SCAN(name, type, word, nan)                                             \
	static type name(const type *in, type *out, uint32_t n, bool inclusive)                \
	{                                                                                      \
		const word bits = nan();                                                       \
		const uint32_t levels = sl_order_levels(n);                                    \
		type before[SL_ORDER_LEVELS] = {0}, not_a_number, sum = 0, all = 0;            \
                                                                                               \
		memcpy(&not_a_number, &bits, sizeof(bits));                                    \
		for (uint64_t first = 0; first < n; first += SL_ORDER_RADIX) {                 \
			uint32_t size = n - first < SL_ORDER_RADIX ? (uint32_t)(n - first)     \
			                                           : SL_ORDER_RADIX;           \
			type item[SL_ORDER_RADIX] = {0};                                       \
                                                                                               \
			sum = 0;                                                               \
			for (uint32_t k = 0; k < size; k++) {                                  \
				type up_to = sum + in[first + k];                              \
                                                                                               \
				item[k] = inclusive ? up_to : sum;                             \
				sum = up_to;                                                   \
			}                                                                      \
			for (uint32_t level = 1; level < levels; level++)                      \
				for (uint32_t k = 0; k < SL_ORDER_RADIX; k++)                  \
					item[k] += before[level];                              \
			for (uint32_t k = 0; out && k < size; k++)                             \
				out[first + k] = item[k] == item[k] ? item[k] : not_a_number;  \
			for (uint32_t level = 1; level < levels; level++) {                    \
				sum = before[level] += sum;                                    \
				if (level + 1 == levels ||                                     \
					(first >> (SL_ORDER_BITS * level)) % SL_ORDER_RADIX != \
						SL_ORDER_RADIX - 1)                            \
					break;                                                 \
				before[level] = 0;                                             \
			}                                                                      \
		}                                                                              \
		all = levels > 1 ? 0 : sum;                                                    \
		for (uint32_t level = 1; level < levels; level++)                              \
			all += before[level];                                                  \
		return all == all ? all : not_a_number;                                        \
	}

DEFINE_ORDERED_SCAN(scan_f32, float, uint32_t, sl_order_nan_f32)
DEFINE_ORDERED_SCAN(scan_f64, double, uint64_t, sl_order_nan_f64)

static enum sl_status sum(struct sl_exec *x, const struct sl_scan_job *job)
{
	(void)x;
	if (job->type == SL_F32)
		*(float *)job->sum = scan_f32((const float *)job->in, NULL, job->n, true);
	else
		*(double *)job->sum = scan_f64((const double *)job->in, NULL, job->n, true);
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	(void)x;
	if (job->type == SL_F32)
		scan_f32((const float *)job->in, (float *)job->out, job->n, job->inclusive);
	else if (job->type == SL_F64)
		scan_f64((const double *)job->in, (double *)job->out, job->n, job->inclusive);
	else if (job->type == SL_U32)
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
	.sum = sum,
};
