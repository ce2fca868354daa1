/*
 * compact/items.h - the item sizes that a column of a compaction may have: X(bytes, type).
 *
 * Each type has only the size and alignment of the item; compaction copies items without
 * interpreting them. Used by all compact and expand backends.
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

/* 16 bytes are the widest load or store of a device thread; 32 bytes are two of these. */
typedef struct {
	alignas(16) uint32_t word[4];
} sl_16_bytes;

typedef struct {
	sl_16_bytes half[2];
} sl_32_bytes;

#endif
