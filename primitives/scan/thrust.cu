/*
 * scan/thrust.cu - Thrust's scans, which are CUB's, as NVIDIA ships them: what ours are measured
 * against.
 *
 * On the caller's stream, without waiting, with temporary memory from scratch (thrust_arena.cuh).
 * Reads and writes an item once: one pass with look-back, as in shared.cu.
 */
#include <thrust/scan.h>

#include "primitives/kernel/thrust_arena.cuh"
#include "primitives/primitives.h"

/*
 * CUB keeps a state a tile, 8 bytes of it for u32 and 16 for u64, and 32 more. Its tiles have a
 * thousand items and more: n / 384 bytes and 1 KiB for u32 on an H200 (CUDA 13.0). There is room
 * for tiles of 512 items of u64, and for what else a later CUDA may want.
 */
static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	sl_cut(&a, most->n / 32 + ((size_t)64 << 10));
	return a.used;
}

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
	if (job->n == 0)
		return SL_OK;
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend sl_scan_thrust = {
	.name = "thrust",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Thrust's, the library that comes with CUDA",
	.scratch = scratch,
	.scan = run,
};
