/* tile_tree_kernels.cu - see tile_tree_kernels.h. Compiled for the emulated device alone. */
#include "tests/primitives/scan/tile_tree_kernels.h"

#include "primitives/scan/tile_tree.cuh"

template <typename T> static uint32_t slot(bool padded, uint32_t leaf)
{
	return padded ? tile_tree<T, true>::slot(leaf) : tile_tree<T, false>::slot(leaf);
}

uint32_t tree_slot(enum sl_type type, bool padded, uint32_t leaf)
{
	return type == SL_U32 ? slot<uint32_t>(padded, leaf) : slot<uint64_t>(padded, leaf);
}

uint32_t tree_leaves(struct sl_tuning tuning)
{
	return tile_tree_leaves(tuning);
}

size_t tree_bytes(enum sl_type type, struct sl_tuning tuning)
{
	return type == SL_U32 ? tile_tree_bytes<uint32_t>(tuning)
	                      : tile_tree_bytes<uint64_t>(tuning);
}
