/* tile_tree_kernels.h - the layout of the trees of scan/tile_tree.cuh, for a test in C. */
#ifndef SL_TESTS_PRIMITIVES_TILE_TREE_KERNELS_H
#define SL_TESTS_PRIMITIVES_TILE_TREE_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* The place of a leaf, in items of the type. */
uint32_t tree_slot(enum sl_type type, bool padded, uint32_t leaf);

/* Leaves and bytes of a tree with that tuning. */
uint32_t tree_leaves(struct sl_tuning tuning);
size_t tree_bytes(enum sl_type type, struct sl_tuning tuning);

SL_C_END

#endif
