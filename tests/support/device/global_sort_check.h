/* global_sort_check.h - compares sorts over several devices with a sort of all keys on the host. */
#ifndef SL_TESTS_SUPPORT_DEVICE_GLOBAL_SORT_CHECK_H
#define SL_TESTS_SUPPORT_DEVICE_GLOBAL_SORT_CHECK_H

#include "primitives/global_sort/global_sort.h"
#include "primitives/global_sort/runs.h"
#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"

/* A sort: the number of keys of each share, and what they are. Share i is on device i modulo n_devices. */
struct global_sort_try {
	uint32_t n_shares, n[SL_DEVICES_MAX];
	int n_devices;
	enum sl_input input;
	enum sl_type type;
	uint32_t begin_bit, end_bit;
	uint32_t key_offset,
		index_offset; /* items between an aligned address and the first one of a share */
	bool keys_only;
};

enum { GLOBAL_KEY, GLOBAL_INDEX, GLOBAL_KEY_OUT, GLOBAL_INDEX_OUT, GLOBAL_SCRATCH, GLOBAL_BUFFERS };

/* The shares of a sort, in memory of their devices, of which the results are poisoned; and the result of sort/cpu. */
struct global_sort_shares {
	struct sl_global_sort sort;
	struct sl_global_share share[SL_DEVICES_MAX];
	struct sl_device device[SL_DEVICES_MAX];
	struct sl_guarded buffer[SL_DEVICES_MAX][GLOBAL_BUFFERS];
	char *block, *key, *sorted;
	uint32_t *index, *sorted_index;
	uint32_t n;
};
void global_sort_open(const struct sl_backend *sort, const struct global_sort_try *t,
	struct global_sort_shares *s);

/* Expects that nothing was written outside of the buffers. */
void global_sort_close(const struct global_sort_try *t, struct global_sort_shares *s);

/* Expects the keys and indices of sort/cpu, in parts of the right sizes, and nothing written after them. */
void global_sort_check(const struct sl_backend *sort, const struct global_sort_try *t);

/*
 * 1 to 5 shares of many sizes up to largest, none among them, with every input, both types and several bits. One in
 * `one_in` of the combinations is tested, and of these the share of the environment (sampling.h). by_pieces: two shares on
 * two devices, merged by pieces with copies (exchange.h).
 */
void global_sort_check_sizes(const struct sl_backend *sort, int n_devices, bool by_pieces,
	uint32_t largest, uint32_t one_in);

#endif
