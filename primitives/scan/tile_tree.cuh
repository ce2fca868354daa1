/*
 * tile_tree.cuh - Blelloch's exclusive scan of one tile in shared memory, by the threads of a
 * block. The backends named tiled are made of it.
 *
 * The leaves of a binary tree are the items of the tile; their number is a power of two. The tree
 * is stored in the leaves: a node overwrites the last leaf below it. scan/tiled.cu draws both
 * sweeps.
 *
 * Work: 2 (leaves - 1) additions, where a sequential loop needs leaves - 1. Depth: 2 log2(leaves)
 * levels, with a barrier between two of them. Each addition reads two words of shared memory; the
 * up-sweep writes one of them and the down-sweep both. (G. E. Blelloch, Prefix sums and their
 * applications, 1990; M. Harris, S. Sengupta and J. D. Owens, Parallel prefix sum (scan) with CUDA,
 * GPU Gems 3, chapter 39, 2007.)
 *
 * Padding. Shared memory has 32 banks of 4 bytes, and word w is in bank w mod 32. The threads of a
 * warp are served at once only if they access different banks. At distance d neighbouring threads
 * access words that are 2d apart: two threads share a bank at distance 1, four at distance 2, and
 * all 32 from distance 16 on, so that the accesses of a warp take up to 32 turns. With padding, one
 * unused word follows every 32 words, and one more every 32 * 32 words. Words that are a power of
 * two apart are then in different banks at every level. The cost is 1/31 more shared memory and the
 * arithmetic of tile_tree::slot(). 64-bit items are read by half a warp at a time: the unused one
 * follows every 16 items.
 */
#ifndef SL_PRIMITIVES_SCAN_TILE_TREE_CUH
#define SL_PRIMITIVES_SCAN_TILE_TREE_CUH

#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

/*
 * T: uint32_t or uint64_t; sums are modulo 2^32 or 2^64. All functions are for all threads of a
 * block.
 */
template <typename T, bool PADDED> struct tile_tree {
	static constexpr uint32_t BANKS_BYTES = 128; /* a word in each of the 32 banks */
	static constexpr uint32_t ROW = BANKS_BYTES / sizeof(T);

	T *slots;        /* shared memory: tile_tree_bytes() */
	uint32_t leaves; /* a power of two */

	/* The place of leaf i in shared memory. */
	static __host__ __device__ __forceinline__ uint32_t slot(uint32_t i)
	{
		return PADDED ? i + i / ROW + i / (ROW * ROW) : i;
	}

	__device__ __forceinline__ T &operator[](uint32_t i) const
	{
		return slots[slot(i)];
	}

	/*
	 * Calls each(left, right) for the pairs of children of one level, which are distance apart.
	 */
	template <class Each>
	__device__ __forceinline__ void for_level(uint32_t distance, const Each &each) const
	{
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < leaves / (2 * distance); i += blockDim.x)
			each((*this)[(2 * i + 1) * distance - 1],
				(*this)[(2 * i + 2) * distance - 1]);
	}

	/* Returns the sum of the leaves, which each thread has stored in any order. */
	__device__ __forceinline__ T up_sweep(void) const
	{
		for (uint32_t distance = 1; distance < leaves; distance *= 2)
			for_level(distance, [](T &left, T &right) { right += left; });
		__syncthreads();
		return (*this)[leaves - 1];
	}

	/* After up_sweep(): turns the tree into the exclusive scan of the leaves. */
	__device__ __forceinline__ void down_sweep(void) const
	{
		__syncthreads(); /* all threads have read the root */
		if (threadIdx.x == 0)
			(*this)[leaves - 1] = 0;
		for (uint32_t distance = leaves / 2; distance > 0; distance /= 2)
			for_level(distance, [](T &left, T &right) {
				T before_left = right;

				right += left;
				left = before_left;
			});
		__syncthreads();
	}

	/* Both sweeps. Returns the sum of the leaves. */
	__device__ __forceinline__ T scan(void) const
	{
		T sum = up_sweep();

		down_sweep();
		return sum;
	}
};

/*
 * Leaves of a tile: a thread has `items` of them, or up to twice as many if block * items is no
 * power of two.
 */
static inline uint32_t tile_tree_leaves(struct sl_tuning tuning)
{
	uint32_t leaves = 1;

	while (leaves < tuning.block * tuning.items)
		leaves *= 2;
	return leaves;
}

/* Bytes of shared memory of a tree. */
template <typename T> static inline size_t tile_tree_bytes(struct sl_tuning tuning)
{
	uint32_t last = tile_tree_leaves(tuning) - 1;

	return sizeof(T) *
	       (1 + (tuning.padding == SL_PADDING_OFF ? tile_tree<T, false>::slot(last)
						      : tile_tree<T, true>::slot(last)));
}

#endif
