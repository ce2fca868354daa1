/*
 * arena.h - a block of memory that is measured and cut by the same code.
 *
 * A function lays out what it needs by cutting pieces from an arena. Given an arena
 * without base it only measures: used tells how many bytes the layout takes. So no
 * size is computed twice, and none can disagree with its use.
 *
 *	static struct layout lay_out(struct sl_arena *a, uint32_t n);
 *
 *	struct sl_arena measure = {0};           struct sl_arena cut = {block, 0, size};
 *	lay_out(&measure, n);  measure.used      struct layout l = lay_out(&cut, n);
 *
 * Arenas go by value: what a callee cuts is free again when it returns, and it can hand
 * the rest of the block on. There is no free, no reset and nothing to leak.
 */
#ifndef SL_PRIMITIVES_BASE_ARENA_H
#define SL_PRIMITIVES_BASE_ARENA_H

#include <stdbool.h>

#include "size.h"

/* 256 bytes: what cudaMalloc aligns to; a multiple of every cache line and vector. */
#define SL_ALIGN ((size_t)256)

struct sl_arena {
	void *base;  /* SL_ALIGN-aligned, of any space; NULL: measure only */
	size_t used; /* bytes cut, padding included; saturates */
	size_t size; /* bytes there are */
};

/* Cuts bytes, aligned to SL_ALIGN. NULL when measuring or when they do not fit. */
static inline void *sl_cut(struct sl_arena *a, size_t bytes)
{
	size_t at = sl_round_up(a->used, SL_ALIGN);

	a->used = sl_size_add(at, bytes);
	return a->base && a->used <= a->size ? (char *)a->base + at : NULL;
}

/* Cuts n items of item_bytes each. */
static inline void *sl_cut_items(struct sl_arena *a, uint64_t n, size_t item_bytes)
{
	return sl_cut(a, n > SIZE_MAX ? SIZE_MAX : sl_size_mul((size_t)n, item_bytes));
}

/* Did everything that was cut fit? */
static inline bool sl_fits(const struct sl_arena *a)
{
	return a->used <= a->size;
}

#endif
