/*
 * global_sort.h - a stable sort of keys that are distributed over several devices of this process.
 *
 *	struct sl_global_share share[2];   // one per device: keys, room for the result, scratch
 *
 *	sl_global_sort(&sort, share, 2);   // share[0].key_out has the lower half, share[1].key_out the upper one
 *
 * The shares are one array, in the order of their numbers. The sorted array is cut into parts of equal size:
 * of N keys and n shares, share i gets those from floor(i N / n) to floor((i + 1) N / n) - 1. Equal keys keep
 * their order, so keys and indices are those that sl_sort() gives on one device.
 *
 * Algorithm: each device sorts its share; the boundaries of the parts are found exactly, by a search for the
 * keys at their ranks in all sorted shares (P. J. Varman, S. D. Scheufler, B. R. Iyer, G. R. Ricard, Merging
 * multiple lists on hierarchical-memory multiprocessors, J. Parallel Distrib. Comput. 12 (1991) 171); each
 * device merges its part (O. Green, R. McColl, D. A. Bader, GPU merge path, ICS 2012). Parts of a sample sort
 * would differ in size, by as much as the sample is small or keys are equal.
 *
 * Each key moves between devices at most once. If each device can access the memory of all others (peer access, which
 * the call enables), they read it in the first level of the merge; otherwise all copy first. Two devices with many
 * keys cut their parts into pieces instead, and copy the pairs of the next piece while they merge (exchange.h).
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_GLOBAL_SORT_H
#define SL_PRIMITIVES_GLOBAL_SORT_GLOBAL_SORT_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* What is sorted, and with which backend. */
struct sl_global_sort {
	struct sl_choice sort; /* a sort backend for devices, with its tuning */
	enum sl_type type;
	uint32_t begin_bit, end_bit; /* as in struct sl_sort_job */
};

/*
 * The share of one device. The caller owns all memory; it is memory of this device. key and index are memory of
 * sl_memory_get() or cudaMalloc(), because other devices read them: peer access does not include memory of
 * cudaMallocAsync() or cuMemMap(), unless the caller has granted it.
 */
struct sl_global_share {
	const struct sl_device
		*device;         /* as sl_device_use() describes it; shares may have the same one */
	sl_stream stream;        /* of the device */
	struct sl_arena scratch; /* sl_global_sort_scratch() bytes */
	void *key;               /* n keys of the type; undefined afterwards */
	uint32_t *index; /* n values; undefined afterwards; NULL: keys only, in each share */
	uint32_t n;
	void *key_out;       /* room for sl_global_sort_part() keys; overlaps no other buffer */
	uint32_t *index_out; /* room for as many values; NULL if and only if index is */
};

/* The number of keys that share i of n_shares gets, of so many keys in all. */
static inline uint64_t sl_global_sort_part(uint64_t keys, uint32_t n_shares, uint32_t i)
{
	uint64_t each = keys / n_shares, rest = keys % n_shares;

	return each + ((i + 1) * rest / n_shares - i * rest / n_shares);
}

/*
 * Bytes of scratch for a share of at most n keys, of at most so many keys in all, with or without indices. Call it
 * while the device is current.
 */
SL_API size_t sl_global_sort_scratch(const struct sl_global_sort *sort, uint32_t n, uint64_t keys,
	uint32_t n_shares, bool keys_only);

/*
 * Sorts the shares; 1 <= n_shares <= SL_DEVICES_MAX. Needs 64 KiB of stack. Allocates no memory of a device; with two
 * shares it may create a stream and events on each device, and frees them. Waits until all work is done, also after a
 * failure. The current device of the thread is undefined afterwards. Errors: SL_USAGE as sl_sort(), or if
 * buffers of two shares overlap: nothing is changed then. SL_DEVICE_FAILED: keys and results are undefined.
 */
SL_API enum sl_status sl_global_sort(
	const struct sl_global_sort *sort, const struct sl_global_share *share, uint32_t n_shares);

SL_C_END

#endif
