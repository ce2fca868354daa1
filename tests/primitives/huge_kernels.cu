/* huge_kernels.cu - see huge_kernels.h. */
#include "huge_kernels.h"

#include "primitives/kernel/item_loops.cuh"

/* The finalizer of MurmurHash3 (A. Appleby) for 64 bits. */
static __device__ uint64_t hash_of(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

/* Item i of the input. */
static __device__ uint64_t item_of(const struct huge_job &j, uint64_t i)
{
	uint64_t h = hash_of(i + 1);

	return j.bytes == 8 ? h : j.bytes == 4 ? (uint32_t)h & j.mask : (uint8_t)h;
}

/* Item i of an array. */
static __device__ uint64_t load(const struct huge_job &j, const void *from, uint64_t i)
{
	return j.bytes == 8   ? ((const uint64_t *)from)[i]
	       : j.bytes == 4 ? ((const uint32_t *)from)[i]
	                      : ((const uint8_t *)from)[i];
}

static __device__ void store(const struct huge_job &j, uint64_t i, uint64_t item)
{
	if (j.bytes == 8)
		((uint64_t *)j.to)[i] = item;
	else if (j.bytes == 4)
		((uint32_t *)j.to)[i] = (uint32_t)item;
	else
		((uint8_t *)j.to)[i] = (uint8_t)item;
}

static __device__ uint8_t flag_of(const struct huge_job &j, uint64_t i)
{
	uint64_t h = hash_of(i + 77);

	if (j.alive == HUGE_THIRD)
		return h % 3 == 0 ? (uint8_t)(h >> 8 | 1) : 0;
	if (j.alive == HUGE_ALL)
		return (uint8_t)(h >> 8 | 0x10);
	return j.alive == HUGE_LAST && i + 1 == j.flags ? 0x80 : 0;
}

/* By induction: the first sum is right, and each sum minus the one before it is an item. */
static __device__ bool is_sum(const struct huge_job &j, uint64_t i)
{
	uint64_t sum = load(j, j.from, i), before = i > 0 ? load(j, j.from, i - 1) : 0;
	uint64_t item = j.inclusive ? item_of(j, i) : i > 0 ? item_of(j, i - 1) : 0;

	return j.bytes == 8 ? sum - before == item : (uint32_t)(sum - before) == (uint32_t)item;
}

/* Keys ascend, indices of equal keys ascend, and each key is that of its index: only one result. */
static __device__ bool is_pair(const struct huge_job &j, uint64_t i)
{
	uint64_t key = load(j, j.from, i);

	if (j.index[i] >= j.n || key != item_of(j, j.index[i]))
		return false;
	if (i + 1 == j.n)
		return true;
	return key < load(j, j.from, i + 1) ||
	       (key == load(j, j.from, i + 1) && j.index[i] < j.index[i + 1]);
}

/* What item i adds to the count. */
static __device__ uint64_t visit(const struct huge_job &j, uint64_t i)
{
	switch (j.work) {
	case HUGE_MAKE_ITEMS:
		store(j, i, item_of(j, i));
		return 0;
	case HUGE_MAKE_INDICES:
		((uint32_t *)j.to)[i] = (uint32_t)i;
		return 0;
	case HUGE_MAKE_FLAGS:
		((uint8_t *)j.to)[i] = flag_of(j, i);
		return flag_of(j, i) != 0;
	case HUGE_COUNT_SUMS:
		return !is_sum(j, i);
	case HUGE_COUNT_INDICES:
		return j.index[i] >= j.flags || flag_of(j, j.index[i]) == 0 ||
		       (i + 1 < j.n && j.index[i] >= j.index[i + 1]);
	case HUGE_COUNT_MOVED:
		return load(j, j.from, i) != item_of(j, j.index[i]);
	case HUGE_COUNT_ORDER:
		return i + 1 < j.n && load(j, j.from, i) > load(j, j.from, i + 1);
	case HUGE_COUNT_PAIRS:
		return !is_pair(j, i);
	case HUGE_ADD_ITEMS:
		return hash_of(item_of(j, i));
	case HUGE_ADD_KEYS:
		return hash_of(load(j, j.from, i));
	}
	return 1;
}

static __global__ void huge_kernel(struct huge_job j, uint64_t *count)
{
	uint64_t mine = 0;

	sl_for_items(j.n, [&](uint64_t i) { mine += visit(j, i); });
	if (mine != 0)
		atomicAdd(count, mine);
}

enum { BLOCK = 256, BLOCKS_MOST = 4096 };

enum sl_status SL_NAME(huge_queue)(const struct huge_job *job, uint64_t *count)
{
	const uint32_t most = BLOCKS_MOST, blocks = sl_grid(job->n, BLOCK);

	return SL_LAUNCH(huge_kernel, blocks < most ? blocks : most, BLOCK, 0, NULL, *job, count);
}
