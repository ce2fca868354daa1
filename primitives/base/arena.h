/*
 * arena.h - a block of memory from which a function cuts what it needs.
 *
 * The function that lays out a block also computes its size, so the two cannot disagree: with an
 * arena without base, sl_cut() only counts, and `used` is the size that the layout needs.
 *
 *	static struct layout lay_out(struct sl_arena *a, uint32_t n);
 *
 *	struct sl_arena measure = {0};             lay_out(&measure, n);  size = measure.used
 *	struct sl_arena cut = {block, 0, size};    struct layout l = lay_out(&cut, n);
 *
 * Pass arenas by value: what the callee cuts is free again when it returns, and the callee can pass
 * on the rest of the block. There is no free and no reset.
 */
#ifndef SL_PRIMITIVES_BASE_ARENA_H
#define SL_PRIMITIVES_BASE_ARENA_H

#include <stdbool.h>

#include "size.h"

/* In bytes: the alignment of cudaMalloc, and a multiple of each cache line and vector width. */
#define SL_ALIGN ((size_t)256)

struct sl_arena {
	void *base;  /* SL_ALIGN-aligned memory of any space; NULL: measure only */
	size_t used; /* bytes cut so far, with padding; saturates at SIZE_MAX */
	size_t size; /* bytes of the block */
};

/* Cuts bytes, aligned to SL_ALIGN. NULL when measuring, or when they do not fit. */
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

/* Whether everything that was cut fits in the block. */
static inline bool sl_fits(const struct sl_arena *a)
{
	return a->used <= a->size;
}

#endif
