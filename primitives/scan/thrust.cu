/*
 * scan/thrust.cu - the scan of Thrust (CUB's DeviceScan) as NVIDIA ships it: the other device
 * backends are compared with it.
 *
 * One pass with decoupled look-back, as in shared.cu: reads and writes each item once, in tiles of
 * 12 KiB on an H200. Runs on the caller's stream without waiting; its temporary memory is cut from
 * the scratch arena (thrust_arena.cuh), so nothing is allocated during the call. CUDA devices only:
 * the emulated device cannot run it.
 */
#include <thrust/scan.h>

#include "primitives/kernel/thrust_arena.cuh"
#include "primitives/primitives.h"

/*
 * Bytes of temporary memory that CUB may need. It keeps one state per tile, 8 bytes for u32 and 16
 * for u64, plus 32 states: n / 384 bytes and 1 KiB for u32 on an H200 (CUDA 13.0), with tiles of
 * 3072 items. The estimate allows tiles as small as 512 u64 items and 64 KiB of fixed cost, as a
 * margin for other CUDA versions. Thrust fails with SL_INTERNAL if it needs more.
 */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_cut(&a, shape->n / 32 + ((size_t)64 << 10));
	return a.used;
}

/* Queues Thrust's scan; the arena is copied, so the caller's scratch is unchanged. */
template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	const T *in = (const T *)job->in;
	T *out = (T *)job->out;
	struct sl_arena a = x->scratch;

	return sl_thrust("scan/thrust", x->stream, &a, [&](const auto &on) {
		if (job->inclusive)
			thrust::inclusive_scan(on, in, in + job->n, out);
		else
			thrust::exclusive_scan(on, in, in + job->n, out);
	});
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend sl_scan_thrust = {
	.name = "thrust",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "exclusive_scan and inclusive_scan of Thrust, the library of the CUDA toolkit; "
		"without n_on_device",
	.integers_only = true,
	.scratch = scratch,
	.scan = run,
};
