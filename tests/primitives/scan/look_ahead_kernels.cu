/* look_ahead_kernels.cu - see look_ahead_kernels.h. Compiled for the emulated device alone. */
#include "tests/primitives/scan/look_ahead_kernels.h"

#include "primitives/scan/look_ahead.cuh"

template <class P> static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	if (most->type == SL_U32)
		look_ahead_cut<uint32_t, P>(&a, most->n);
	else
		look_ahead_cut<uint64_t, P>(&a, most->n);
	return a.used;
}

template <class P, uint32_t BLOCKS>
static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	return job->type == SL_U32 ? look_ahead_run<uint32_t, P>(x, job, BLOCKS)
	                           : look_ahead_run<uint64_t, P>(x, job, BLOCKS);
}

template <class P, uint32_t BLOCKS> static constexpr struct sl_backend backend(const char *name)
{
	return {.name = name,
		.primitive = SL_SCAN,
		.space = SL_DEVICE,
		.help = "",
		.scratch = scratch<P>,
		.scan = scan<P, BLOCKS>};
}

/* One stage, which is reused at once; two; more. */
using least = struct look_ahead_config<2, 2, 1, 1>;
using two = struct look_ahead_config<2, 2, 1, 2>;
using more = struct look_ahead_config<4, 2, 3, 3>;

/* Blocks take so many tiles at a time that, with 32 in flight, more lie between two of a block than
 * the look-ahead warp reads at once. */
using deep = struct look_ahead_config<1, 1, 1, 8>;
static_assert((32 - 1) * deep::stages > READS_IN_FLIGHT * LANES);

const struct sl_backend look_ahead_small[] = {
	backend<least, 7>("least"), backend<two, 2>("two"), backend<more, 5>("more")};
const uint32_t look_ahead_tile_bytes[] = {least::tile_bytes, two::tile_bytes, more::tile_bytes};
const struct sl_backend look_ahead_deep = backend<deep, 32>("deep");
const uint32_t look_ahead_deep_bytes = deep::tile_bytes;

static __global__ void halves_kernel(struct sl_look_back<uint64_t> state, uint64_t *found)
{
	uint64_t sum;

	sl_look_back_publish(state, 0, SL_TILE_AGGREGATE, UINT64_C(0x9e3779b97f4a7c15));
	sl_store_relaxed(state.words + state.counter_words, (uint64_t)SL_TILE_PREFIX << 32);
	*found = sl_look_back_read(state, 0, &sum);
}

enum sl_status look_back_halves(struct sl_arena *scratch, uint64_t *found)
{
	return SL_LAUNCH(
		halves_kernel, 1, 1, 0, NULL, sl_look_back_cut<uint64_t>(scratch, 1), found);
}
