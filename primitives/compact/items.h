/*
 * compact/items.h - the sizes that an item of a column may have, and a type of each that has the
 * size and alignment alone: X(bytes, type).
 */
#ifndef SL_PRIMITIVES_COMPACT_ITEMS_H
#define SL_PRIMITIVES_COMPACT_ITEMS_H

#include <stdalign.h>
#include <stdint.h>

#define SL_COMPACT_ITEMS(X) \
	X(1, uint8_t)       \
	X(2, uint16_t)      \
	X(4, uint32_t)      \
	X(8, uint64_t)      \
	X(16, sl_16_bytes)  \
	X(32, sl_32_bytes)

/* What a thread of a device reads or writes at a time, and two of these. */
typedef struct {
	alignas(16) uint32_t word[4];
} sl_16_bytes;

typedef struct {
	sl_16_bytes half[2];
} sl_32_bytes;

#endif
