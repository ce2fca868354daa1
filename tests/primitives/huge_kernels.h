/*
 * huge_kernels.h - makes inputs and checks results of many items on the device: the host would take
 * minutes for 2^32 items, and its memory may not hold them.
 *
 * Every input item is a function of its index, so a result is checked item by item, without a
 * second copy of the input.
 */
#ifndef SL_TESTS_PRIMITIVES_HUGE_KERNELS_H
#define SL_TESTS_PRIMITIVES_HUGE_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum huge_work {
	HUGE_MAKE_ITEMS,    /* to[i] = hash of i, with the bits of mask */
	HUGE_MAKE_INDICES,  /* to[i] = i */
	HUGE_MAKE_FLAGS,    /* to[i], a byte: not 0 if item i is a survivor; counts survivors */
	HUGE_COUNT_SUMS,    /* counts i whose sum in `from` is not that of the items */
	HUGE_COUNT_INDICES, /* counts entries of index that are not an ascending list of survivors */
	HUGE_COUNT_MOVED,   /* counts i where from[i] is not the item of index[i] */
	HUGE_COUNT_ORDER,   /* counts i with from[i] > from[i + 1] */
	HUGE_COUNT_PAIRS,   /* counts pairs (from, index) that are not those of a stable sort */
	HUGE_ADD_ITEMS,     /* adds a hash of each item */
	HUGE_ADD_KEYS       /* adds the same hash of each key of `from` */
};

/* Which items survive. */
enum huge_alive { HUGE_THIRD, HUGE_ALL, HUGE_NONE, HUGE_LAST };

struct huge_job {
	enum huge_work work;
	uint64_t n;     /* items that are visited */
	uint64_t flags; /* n of HUGE_MAKE_FLAGS */
	uint32_t bytes; /* of an item: 1, 4 or 8 */
	uint32_t mask;  /* of items of 4 bytes */
	bool inclusive;
	enum huge_alive alive;
	void *to;
	const void *from;
	const uint32_t *index;
};

/* Queues the work; adds the count to *count, in device memory. */
enum sl_status huge_queue(const struct huge_job *job, uint64_t *count);
enum sl_status huge_queue_emulated(const struct huge_job *job, uint64_t *count);

SL_C_END

#endif
