/* parts_kernels.cu - see parts_kernels.h. Compiled for the emulated device alone. */
#include "tests/primitives/kernel/parts_kernels.h"

#include "primitives/kernel/look_back.cuh"

template <typename T>
static __global__ void once_kernel(
	struct sl_look_back<T> state, uint32_t all, uint32_t tile, uint64_t *out)
{
	T before, through;

	if (threadIdx.x == 0)
		for (uint32_t i = all; i < tile; i++)
			sl_look_back_publish(state, i,
				i == all ? SL_TILE_PREFIX : SL_TILE_AGGREGATE, (T)own_sum(i));
	__syncwarp();
	before = sl_look_back_sum(state, tile, (T)own_sum(tile));
	if (threadIdx.x == 0) {
		out[0] = before;
		out[2] = sl_look_back_read(state, tile, &through);
		out[1] = through;
	}
}

static __global__ void halves_kernel(struct sl_look_back<uint64_t> state, uint64_t *out)
{
	uint64_t *half = state.words + state.counter_words, sum;

	sl_look_back_publish(state, 0, SL_TILE_AGGREGATE, own_sum(0));
	sl_store_relaxed(half, (uint64_t)SL_TILE_PREFIX << 32);
	out[0] = sl_look_back_read(state, 0, &sum);
}

template <typename T> static struct sl_look_back<T> cut(void *scratch) {
	struct sl_arena a = {scratch, 0, SCRATCH_BYTES};

	return sl_look_back_cut<T>(&a, TILES_MOST);
}

template <typename T>
static enum sl_status once(uint32_t all, uint32_t tile, void *scratch, uint64_t *out)
{
	struct sl_look_back<T> state = cut<T>(scratch);

	SL_TRY(sl_look_back_clear(state, NULL));
	return SL_LAUNCH(once_kernel<T>, 1, 32, 0, NULL, state, all, tile, out);
}

enum sl_status look_back_once(
	enum sl_type type, uint32_t all, uint32_t tile, void *scratch, uint64_t *out)
{
	return type == SL_U32 ? once<uint32_t>(all, tile, scratch, out)
	                      : once<uint64_t>(all, tile, scratch, out);
}

enum sl_status look_back_halves(void *scratch, uint64_t *out)
{
	return SL_LAUNCH(halves_kernel, 1, 1, 0, NULL, cut<uint64_t>(scratch), out);
}
