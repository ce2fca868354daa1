/*
 * global_sort.c - tests sorts over several emulated devices: every size and order, the copies between two devices, wrong
 * calls, failures of each call of a device, and the search for the keys at ranks.
 */
#include "primitives/global_sort/global_sort.h"

#include <stdio.h>
#include <stdlib.h>

#include "primitives/emulator/settings.h"
#include "primitives/global_sort/boundaries.h"
#include "primitives/global_sort/exchange.h"
#include "stages/particle/random.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/replaced.h"
#include "tests/support/device/global_sort_check.h"

BEFORE_TESTS()
{
	sl_device_emulate(true);
}

/* --- sorts ------------------------------------------------------------------------------------ */

static const struct sl_emulator_settings in_order = {.blocks = 1, .memory_bytes = 1 << 30};

/*
 * In order; several blocks in flight, in random order; without peer access, so that devices copy first; by pieces, whose
 * copies are done when somebody waits, or at once.
 */
TEST(every_size)
{
	static const struct {
		struct sl_emulator_settings settings;
		const struct sl_backend *sort;
		int n_devices;
		bool by_pieces;
		uint32_t largest, one_in;
	} rows[] = {
		{{.blocks = 1, .memory_bytes = 1 << 30}, &sl_sort_shared_emulated, 3, false, 5000,
			131},
		{{.blocks = 4, .seed = 7, .from_last = true, .memory_bytes = 1 << 30},
			&sl_sort_work_efficient_emulated, 3, false, 5000, 5 * 131},
		{{.blocks = 1, .no_peers = true, .memory_bytes = 1 << 30}, &sl_sort_naive_emulated,
			5, false, 5000, 3 * 131},
		{{.blocks = 1, .memory_bytes = 1 << 30}, &sl_sort_shared_emulated, 2, true,
			16 * SL_MERGE_TILE, 29},
		{{.blocks = 1, .at_once = true, .memory_bytes = 1 << 30}, &sl_sort_shared_emulated,
			2, true, 16 * SL_MERGE_TILE, 29},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sl_emulator_set_settings(&rows[i].settings);
		global_sort_check_sizes(rows[i].sort, rows[i].n_devices, rows[i].by_pieces,
			rows[i].largest, rows[i].one_in);
	}
	sl_emulator_set_settings(&in_order);
}

TEST(as_many_shares_as_devices)
{
	struct global_sort_try t = {.n_shares = SL_DEVICES_MAX,
		.n_devices = SL_DEVICES_MAX,
		.input = SL_INPUT_FEW,
		.type = SL_U32,
		.end_bit = 32};

	for (uint32_t i = 0; i < t.n_shares; i++)
		t.n[i] = 100 + i;
	global_sort_check(&sl_sort_shared_emulated, &t);
	t.input = SL_INPUT_RANDOM;
	t.type = SL_U64;
	t.end_bit = 64;
	global_sort_check(&sl_sort_shared_emulated, &t);
}

/* --- wrong calls ------------------------------------------------------------------------------ */

enum { N = 8 };

static _Alignas(256) char memory[2][6 * SL_ALIGN]; /* never read: each call is refused before */

/* Two shares of N keys with valid pointers. */
static void make_shares(const struct sl_device *device, struct sl_global_share share[2])
{
	for (int i = 0; i < 2; i++) {
		share[i] = (struct sl_global_share){.device = device, .n = N};
		share[i].key = memory[i];
		share[i].key_out = memory[i] + SL_ALIGN;
		share[i].index = (uint32_t *)(void *)(memory[i] + 2 * SL_ALIGN);
		share[i].index_out = (uint32_t *)(void *)(memory[i] + 3 * SL_ALIGN);
		share[i].scratch = (struct sl_arena){.base = memory[i] + 4 * SL_ALIGN, .size = 64};
	}
}

/* Changes a right call, which is refused with the text. */
#define REFUSED(change, text)                                                  \
	do {                                                                   \
		make_shares(&device, share);                                   \
		share[0].scratch.size = SIZE_MAX;                              \
		change;                                                        \
		assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, text); \
		sort = right;                                                  \
	} while (0)

TEST(wrong_calls_are_refused)
{
	const struct sl_global_sort right = {{.backend = &sl_sort_shared_emulated}, SL_U32, 0, 32};
	struct sl_global_sort sort = right;
	struct sl_global_share share[3];
	struct sl_device device;
	struct sl_arena *scratch = &share[0].scratch;
	size_t bytes = sl_global_sort_scratch(&sort, N, 2 * N, 2, false);
	void *base;

	assert_ok(sl_device_use(0, &device));
	assert_ok(sl_memory_get(SL_DEVICE, bytes, &base));
	make_shares(&device, share);
	assert_fails(sl_global_sort(&sort, share, 0), SL_USAGE, "0 shares; use 1 to 32");
	assert_fails(sl_global_sort(&sort, NULL, 2), SL_USAGE, "2 shares at a null pointer");
	assert_fails(sl_global_sort(&sort, share, 33), SL_USAGE, "33 shares");
	assert_fails(sl_global_sort(NULL, share, 2), SL_USAGE, "the sort is a null pointer");
	REFUSED(scratch->size = 64, "share 0: sort/shared: scratch has 64 bytes left");
	REFUSED((scratch->size = bytes + 4, scratch->used = 4), "scratch has");
	REFUSED(scratch->base = memory[0] + 5 * SL_ALIGN - 4, "is not aligned to 256 bytes");
	REFUSED(share[1].device = NULL, "share 1 has no device");
	REFUSED(share[1].index = share[1].index_out = NULL, "share 1 has index = (nil)");
	REFUSED(share[0].index_out = NULL, "index_out = (nil)");
	REFUSED(share[0].key_out = (char *)share[0].key + 4, "key_out and key overlap");
	REFUSED(share[0].key = NULL, "key is a null pointer");
	REFUSED(sort.end_bit = 33, "bits 0 to 33 are out of range");
	REFUSED(sort.sort.backend = &sl_sort_cpu, "works on host memory");
	REFUSED(sort.sort.backend = &sl_scan_naive_emulated, "implements scan, not sort");
	REFUSED(sort.sort.backend = NULL, "the backend is a null pointer");
	/* the scratch of one share, or its result, in memory of the other; the largest shares */
	REFUSED(share[0].scratch = share[1].scratch = ((struct sl_arena){base, 0, bytes}),
		"shares 0 and 1: sort/shared: scratch and scratch overlap");
	REFUSED((share[0].scratch = ((struct sl_arena){base, 0, bytes}),
			share[1].scratch = *scratch, share[1].key_out = share[0].key),
		"key_out and key overlap");
	share[2] = share[1];
	share[0].n = share[1].n = share[2].n = UINT32_MAX;
	assert_fails(sl_global_sort(&sort, share, 1), SL_USAGE, "overlap");
	assert_fails(sl_global_sort(&sort, share, 3), SL_USAGE, "overlap");
	sl_memory_give(SL_DEVICE, base);
}

/* Two devices and many keys; shares have no indices. */
TEST(only_many_keys_are_exchanged_by_copies)
{
	static const struct {
		uint32_t shares, second_device;
		enum sl_type type;
		uint64_t keys;
		bool is_exchanged;
	} rows[] = {{2, 1, SL_U32, 1 << 27, true}, {2, 1, SL_U32, (1 << 27) - 1, false},
		{2, 1, SL_U64, 1 << 26, true}, {2, 0, SL_U32, 1 << 27, false},
		{3, 1, SL_U32, 1 << 27, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_device device[2] = {
			{.number = 0}, {.number = (int)rows[i].second_device}};
		const struct sl_global_share share[3] = {
			{.device = &device[0]}, {.device = &device[1]}, {.device = &device[0]}};
		const struct sl_global_sort sort = {.type = rows[i].type};
		const struct sl_sort_phases p = {.sort = &sort,
			.share = share,
			.n = rows[i].shares,
			.keys = rows[i].shares * rows[i].keys};

		if (sl_exchange_is_used(&p) != rows[i].is_exchanged)
			fail_msg("row %zu", i);
	}
}

/* --- failures --------------------------------------------------------------------------------- */

/* The streams that were made since this was set to 0. */
static struct {
	int open;          /* not freed yet */
	bool freed_queued; /* one was freed without a wait */
	sl_stream waited;  /* the last one that was waited for */
} streams;

REPLACED(enum sl_status, sl_stream_make, sl_stream *s)
{
	enum sl_status status = __real_sl_stream_make(s);

	streams.open += status == SL_OK;
	return status;
}

REPLACED(enum sl_status, sl_stream_wait, sl_stream s)
{
	streams.waited = s;
	return __real_sl_stream_wait(s);
}

/*
 * Frees the stream some calls later. The emulated device runs all work of a stream that is freed; CUDA does not wait for
 * that work, so whoever needs it must wait.
 */
REPLACED(void, sl_stream_free, sl_stream s)
{
	static sl_stream kept[8];
	static uint32_t n;

	if (!s)
		return;
	streams.open--;
	streams.freed_queued |= s != streams.waited;
	__real_sl_stream_free(kept[n % 8]);
	kept[n++ % 8] = s;
}

/* Whether share 0 has its part. The copy is on another stream, so it does not run work of the sort. */
static bool first_part_is_written(const struct global_sort_shares *s)
{
	uint32_t key;

	assert_true(sl_device_switch(s->share[0].device));
	assert_ok(sl_copy(&key, s->share[0].key_out, sizeof(key), NULL));
	assert_ok(sl_stream_wait(NULL));
	return key != 0xa5a5a5a5;
}

/*
 * Sorts while the k-th such call of the device fails. False if there are fewer, so that the sort succeeds; otherwise
 * *written says whether share 0 had its part when the call returned. Only a sort that has queued all of its work, so that
 * nothing but a wait can fail, frees a stream without a wait.
 */
static bool fails_at(const struct global_sort_try *t, const char *call, int k, bool *written)
{
	static struct global_sort_shares shares;
	enum sl_status s;
	char fault[32];

	global_sort_open(&sl_sort_shared_emulated, t, &shares);
	snprintf(fault, sizeof(fault), "%s:%d:1", call, k);
	assert_null(sl_fault_set(fault));
	memset(&streams, 0, sizeof(streams));
	s = sl_global_sort(&shares.sort, shares.share, t->n_shares);
	assert_null(sl_fault_set(NULL));
	assert_int_equal(streams.open, 0);
	if (s != SL_OK) {
		assert_true(!streams.freed_queued || strcmp(call, "dev_sync") == 0);
		assert_fails(s, SL_DEVICE_FAILED, "error 1");
		*written = first_part_is_written(&shares);
	}
	global_sort_close(t, &shares);
	return s != SL_OK;
}

/*
 * Each call of the device fails in turn: the error comes back, no work is left, and the next sort is right. Two shares have
 * one copy, of the boundary, if they are not merged by pieces. The last launch is the merge of the last share.
 */
TEST(failures_are_reported)
{
	static const struct {
		uint32_t shares;
		bool by_pieces;
		const char *call;
		int least; /* calls of a sort */
	} rows[] = {{2, false, "dev_reach", 2}, {2, false, "dev_copy", 1},
		{2, false, "dev_launch", 5}, {2, false, "dev_sync", 3}, {3, false, "dev_reach", 6},
		{3, false, "dev_copy", 6}, {3, false, "dev_launch", 9}, {3, false, "dev_sync", 6},
		{2, true, "dev_reach", 2}, {2, true, "dev_stream", 2},
		{2, true, "dev_copy", 3 + 2 * SL_PIECES}, {2, true, "dev_event", 2 * SL_PIECES},
		{2, true, "dev_record", 2 * SL_PIECES}, {2, true, "dev_launch", 3 + 4 * SL_PIECES},
		{2, true, "dev_sync", 5}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct global_sort_try t = {.n_shares = rows[i].shares,
			.n = {300, 300, 300},
			.n_devices = 3,
			.input = SL_INPUT_RANDOM,
			.type = SL_U32,
			.end_bit = 32,
			.keys_only = true};
		const uint64_t least = rows[i].by_pieces ? sl_exchange_set_least(0) : 0;
		bool written = true;
		int k = 1;

		while (fails_at(&t, rows[i].call, k, &written))
			k++;
		if (k <= rows[i].least || (strcmp(rows[i].call, "dev_launch") == 0 && !written))
			fail_msg("row %zu: %d calls", i, k - 1);
		global_sort_check(&sl_sort_shared_emulated, &t);
		if (rows[i].by_pieces)
			(void)sl_exchange_set_least(least);
	}
}

/* --- keys at ranks ---------------------------------------------------------------------------- */

enum { KEYS = 300 };

static int compare(const void *a, const void *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	return (*x > *y) - (*x < *y);
}

/* The rounds in which the key at a rank is found among sorted keys of so many bits, with n_values in a round. */
static int find_rank(const uint64_t *key, uint64_t rank, int bits, uint32_t n_values)
{
	uint64_t value[SL_RANKS_MOST], not_more[SL_RANKS_MOST];
	struct sl_rank_range r = {rank, 0, UINT64_MAX >> (64 - bits)};
	int rounds = 0;
	uint32_t n;

	for (; (n = sl_rank_values(&r, n_values, value)) > 0; rounds++) {
		for (uint32_t k = 0; k < n; k++) {
			assert_true(value[k] >= r.low && value[k] < r.high);
			not_more[k] = 0;
			while (not_more[k] < KEYS && key[not_more[k]] <= value[k])
				not_more[k]++;
		}
		sl_rank_narrow(&r, value, not_more, n);
	}
	assert_true(r.low == r.high && r.low == key[rank]);
	return rounds;
}

/* A round of m values determines about log2(m + 1) bits. */
TEST(the_key_at_each_rank_is_found)
{
	static const struct {
		int bits;
		uint32_t n_values;
		int rounds; /* at most */
	} rows[] = {{1, 31, 1}, {5, 31, 1}, {6, 31, 2}, {9, 31, 3}, {31, 31, 7}, {32, 31, 7},
		{63, 31, 13}, {64, 31, 14}, {9, 1, 9}, {32, 66, 6}, {64, 66, 11}, {32, 2047, 3},
		{64, 2047, 6}};
	uint64_t key[KEYS];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (uint32_t k = 0; k < KEYS; k++) {
			const struct sl_words d = sl_draw(5, k, 0);

			key[k] = (d.at[0] | (uint64_t)d.at[1] << 32) >> (64 - rows[i].bits);
		}
		qsort(key, KEYS, sizeof(key[0]), compare);
		for (uint64_t rank = 0; rank < KEYS; rank++)
			assert_in_range(find_rank(key, rank, rows[i].bits, rows[i].n_values), 1,
				rows[i].rounds);
	}
}

TEST(parts_differ_by_at_most_one_key)
{
	static const uint64_t sizes[] = {
		0, 1, 31, 32, 33, 1000003, UINT64_C(1) << 33, UINT64_MAX / 64};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (uint32_t n = 1; n <= SL_DEVICES_MAX; n++) {
			const uint64_t each = sizes[k] / n, rest = sizes[k] % n;
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				uint64_t part = sl_global_sort_part(sizes[k], n, i);

				assert_in_range(part, each, each + 1);
				sum += part;
				assert_int_equal(sum, each * (i + 1) + rest * (i + 1) / n);
			}
		}
}
