/*
 * scan/order.h - the order in which all backends add floating-point items. primitives.h states it.
 *
 * The items of an array are the leaves of a tree in which each node has 16 children. A node of
 * level l has 16^l items; the hexadecimal digit l of the index of an item is the place of its node
 * of level l among the siblings. sl_order_levels() levels are enough for n items.
 */
#ifndef SL_PRIMITIVES_SCAN_ORDER_H
#define SL_PRIMITIVES_SCAN_ORDER_H

#include <stdint.h>

#include "primitives/base/hd.h"

enum {
	SL_ORDER_RADIX = 16, /* children of a node */
	SL_ORDER_BITS = 4,   /* of a digit of an index */
	SL_ORDER_LEVELS = 8  /* 16^8 = 2^32 */
};

/* Digits of the indices of n items, at least 1: sums of higher levels are 0. */
SL_HD uint32_t sl_order_levels(uint32_t n)
{
	uint32_t levels = 1;

	while (levels < SL_ORDER_LEVELS && (n - 1) >> (SL_ORDER_BITS * levels) != 0)
		levels++;
	return levels;
}

/* Nodes of a level, the last one of which may be incomplete. */
SL_HD uint32_t sl_order_nodes(uint32_t n, uint32_t level)
{
	uint32_t whole = n >> (SL_ORDER_BITS * level);

	return whole + (whole << (SL_ORDER_BITS * level) != n);
}

/* All NaN are written as this one: processors differ in the sign and payload of theirs. */
SL_HD uint32_t sl_order_nan_f32(void)
{
	return UINT32_C(0x7fc00000);
}

SL_HD uint64_t sl_order_nan_f64(void)
{
	return UINT64_C(0x7ff8000000000000);
}

#endif
