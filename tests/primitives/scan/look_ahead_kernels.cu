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
		.integers_only = true,
		.takes_n_on_device = true,
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

/* All bits of both halves differ from tile to tile. */
static __device__ uint64_t own_sum(uint32_t tile)
{
	return (tile + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Tile all is the nearest one with an inclusive sum; those after it have their own sum, those
 * before it none.
 */
template <typename T>
static __device__ bool finds_sum(struct sl_look_back<T> state, uint32_t all, uint32_t tile)
{
	const T own = (T)own_sum(tile);
	T expected = 0, through;

	for (uint32_t i = 0; i < tile; i++) {
		const enum sl_tile_status known = i < all    ? SL_TILE_INVALID
		                                  : i == all ? SL_TILE_PREFIX
		                                             : SL_TILE_AGGREGATE;

		if (threadIdx.x == 0)
			sl_look_back_publish(state, i, known, (T)own_sum(i));
		expected += i < all ? 0 : (T)own_sum(i);
	}
	__syncwarp();
	bool right = sl_look_back_sum(state, tile, own) == expected;
	if (threadIdx.x > 0)
		return right;
	return right && sl_look_back_read(state, tile, &through) == SL_TILE_PREFIX &&
	       through == (T)(expected + own);
}

/* Half of an inclusive sum and half of an own sum are not a sum. */
template <typename T>
static __global__ void look_back_kernel(struct sl_look_back<T> state, uint32_t *wrong)
{
	T sum;

	for (uint32_t tile = 0; tile < state.tiles; tile += 33)
		for (uint32_t all = 0; all == 0 || all < tile; all++)
			if (!finds_sum(state, all, tile))
				atomicAdd(wrong, 1u);
	if (threadIdx.x > 0)
		return;
	sl_look_back_publish(state, 0, SL_TILE_AGGREGATE, (T)own_sum(0));
	sl_store_relaxed(state.words + state.counter_words, (uint64_t)SL_TILE_PREFIX << 32);
	if (sl_look_back_read(state, 0, &sum) !=
		(state.parts == 1 ? SL_TILE_PREFIX : SL_TILE_INVALID))
		atomicAdd(wrong, 1u);
}

enum sl_status look_back_try(struct sl_arena scratch, uint32_t *wrong)
{
	SL_TRY(SL_LAUNCH(look_back_kernel<uint32_t>, 1, 32, 0, NULL,
		sl_look_back_cut<uint32_t>(&scratch, 199), wrong));
	return SL_LAUNCH(look_back_kernel<uint64_t>, 1, 32, 0, NULL,
		sl_look_back_cut<uint64_t>(&scratch, 199), wrong);
}
