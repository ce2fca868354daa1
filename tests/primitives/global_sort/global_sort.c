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
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/global_sort_check.h"

enum { LARGEST = 5000, ONE_IN = 97, DEVICES = 3 };

/* --- sorts ------------------------------------------------------------------------------------ */

static const struct sl_emulator_settings in_order = {.blocks = 1, .memory_bytes = 1 << 30};

TEST(ranks_of_values)
{
	global_sort_check_search(&sl_run_kernels_emulated);
}

/* In order; several blocks in flight, in random order; without peer access, so that devices copy first. */
TEST(every_size)
{
	static const struct {
		struct sl_emulator_settings settings;
		const struct sl_backend *sort;
		int n_devices;
		uint32_t one_in;
	} rows[] = {
		{{.blocks = 1, .memory_bytes = 1 << 30}, &sl_sort_shared_emulated, DEVICES, ONE_IN},
		{{.blocks = 4, .seed = 7, .from_last = true, .memory_bytes = 1 << 30},
			&sl_sort_work_efficient_emulated, DEVICES, 5 * ONE_IN},
		{{.blocks = 1, .no_peers = true, .memory_bytes = 1 << 30}, &sl_sort_naive_emulated,
			5, 3 * ONE_IN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sl_emulator_set_settings(&rows[i].settings);
		global_sort_check_sizes(rows[i].sort, rows[i].n_devices, LARGEST, rows[i].one_in);
	}
	sl_emulator_set_settings(&in_order);
}

TEST(exchange_by_copies)
{
	struct sl_emulator_settings s = in_order;

	for (int at_once = 0; at_once < 2; at_once++) {
		s.at_once = at_once;
		sl_emulator_set_settings(&s);
		global_sort_check_exchange(&sl_sort_shared_emulated, 16 * SL_MERGE_TILE, 19);
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

/* Shares of so many keys each, without indices. */
static bool is_exchanged(uint32_t n_shares, int second_device, enum sl_type type, uint64_t keys)
{
	const struct sl_device device[2] = {{.number = 0}, {.number = second_device}};
	const struct sl_global_share share[3] = {
		{.device = &device[0]}, {.device = &device[1]}, {.device = &device[0]}};
	const struct sl_global_sort sort = {.type = type};
	const struct sl_sort_phases p = {
		.sort = &sort, .share = share, .n = n_shares, .keys = n_shares * keys};

	return sl_exchange_is_used(&p);
}

TEST(only_many_keys_are_exchanged_by_copies)
{
	assert_true(is_exchanged(2, 1, SL_U32, 1 << 27));
	assert_false(is_exchanged(2, 1, SL_U32, (1 << 27) - 1));
	assert_true(is_exchanged(2, 1, SL_U64, 1 << 26));
	assert_false(is_exchanged(2, 0, SL_U32, 1 << 27));
	assert_false(is_exchanged(3, 1, SL_U32, 1 << 27));
}

/* --- failures --------------------------------------------------------------------------------- */

/* The streams that were made since this was set to 0. */
static struct {
	int open;          /* not freed yet */
	bool freed_queued; /* one was freed without a wait */
	sl_stream waited;  /* the last one that was waited for */
} streams;

enum sl_status __real_sl_stream_make(sl_stream *s);
enum sl_status __wrap_sl_stream_make(sl_stream *s);
enum sl_status __wrap_sl_stream_make(sl_stream *s)
{
	enum sl_status status = __real_sl_stream_make(s);

	streams.open += status == SL_OK;
	return status;
}

enum sl_status __real_sl_stream_wait(sl_stream s);
enum sl_status __wrap_sl_stream_wait(sl_stream s);
enum sl_status __wrap_sl_stream_wait(sl_stream s)
{
	streams.waited = s;
	return __real_sl_stream_wait(s);
}

/*
 * Frees the stream some calls later. The emulated device runs all work of a stream that is freed; CUDA does not wait for
 * that work, so whoever needs it must wait.
 */
void __real_sl_stream_free(sl_stream s);
void __wrap_sl_stream_free(sl_stream s);
void __wrap_sl_stream_free(sl_stream s)
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

/* n shares of 100 equal keys on as many devices, each with a stream. Share 0 gets its part from others. */
static void open_shares(const struct sl_global_sort *sort, uint32_t n, struct sl_device *device,
	struct sl_global_share *share)
{
	for (uint32_t k = 0; k < n; k++) {
		assert_ok(sl_device_use((int)k, &device[k]));
		share[k] = (struct sl_global_share){.device = &device[k], .n = 100};
		share[k].scratch.size = sl_global_sort_scratch(sort, 100, 100 * n, n, true);
		assert_ok(sl_stream_make(&share[k].stream));
		assert_ok(sl_memory_get(SL_DEVICE, share[k].scratch.size, &share[k].scratch.base));
		assert_ok(sl_memory_get(SL_DEVICE, 400, &share[k].key));
		assert_ok(sl_memory_get(SL_DEVICE, 400, &share[k].key_out));
		assert_ok(sl_fill(share[k].key, k == 0, 400, share[k].stream));
		assert_ok(sl_fill(share[k].key_out, 1, 400, share[k].stream));
		assert_ok(sl_stream_wait(share[k].stream));
	}
}

static void close_shares(uint32_t n, struct sl_global_share *share)
{
	for (uint32_t k = 0; k < n; k++) {
		assert_true(sl_device_switch(share[k].device));
		sl_memory_give(SL_DEVICE, share[k].scratch.base);
		sl_memory_give(SL_DEVICE, share[k].key);
		sl_memory_give(SL_DEVICE, share[k].key_out);
		sl_stream_free(share[k].stream);
	}
}

/* Whether share 0 has its part. The copy is on another stream, so it does not run work of the sort. */
static bool first_part_is_written(const struct sl_global_share *share)
{
	uint32_t key;

	assert_true(sl_device_switch(share[0].device));
	assert_ok(sl_copy(&key, share[0].key_out, sizeof(key), NULL));
	assert_ok(sl_stream_wait(NULL));
	return key == 0;
}

/*
 * Sorts n shares while the k-th such call of the device fails. False if there are fewer, so that the sort succeeds;
 * otherwise *written says whether share 0 had its part when the call returned. Only a sort that has queued all of its
 * work, so that nothing but a wait can fail, frees a stream without a wait.
 */
static bool fails_at(uint32_t n, const char *call, int k, bool *written)
{
	const struct sl_global_sort sort = {{.backend = &sl_sort_shared_emulated}, SL_U32, 0, 32};
	struct sl_global_share share[DEVICES];
	struct sl_device device[DEVICES];
	enum sl_status s;
	char fault[32];

	open_shares(&sort, n, device, share);
	snprintf(fault, sizeof(fault), "%s:%d:1", call, k);
	assert_null(sl_fault_set(fault));
	memset(&streams, 0, sizeof(streams));
	s = sl_global_sort(&sort, share, n);
	assert_null(sl_fault_set(NULL));
	assert_int_equal(streams.open, 0);
	if (s != SL_OK) {
		assert_true(!streams.freed_queued || strcmp(call, "dev_sync") == 0);
		assert_fails(s, SL_DEVICE_FAILED, "error 1");
		*written = first_part_is_written(share);
	}
	close_shares(n, share);
	return s != SL_OK;
}

/* A call of the device that fails, and how many of them a sort makes at least. */
struct failing {
	const char *call;
	int least;
};

/* Each call of the device fails in turn: the error comes back, no work is left, and the next sort is right. */
static void failures_of(uint32_t n, const struct failing *call, uint32_t n_calls)
{
	struct global_sort_try t = {
		.n_shares = n, .n_devices = DEVICES, .type = SL_U32, .end_bit = 32};

	for (uint32_t i = 0; i < n; i++)
		t.n[i] = 300;
	for (uint32_t i = 0; i < n_calls; i++) {
		bool written = false;
		int k = 1;

		while (fails_at(n, call[i].call, k, &written))
			k++;
		assert_true(k > call[i].least);
		if (strcmp(call[i].call, "dev_launch") == 0)
			assert_true(written); /* the last launch is the merge of the last share */
		global_sort_check(&sl_sort_shared_emulated, &t);
	}
}

/* Two shares have one copy: of the boundary. */
TEST(failures_are_reported)
{
	static const struct failing of_two[] = {
		{"dev_reach", 2}, {"dev_copy", 1}, {"dev_launch", 5}, {"dev_sync", 3}};
	static const struct failing of_three[] = {
		{"dev_reach", 6}, {"dev_copy", 6}, {"dev_launch", 9}, {"dev_sync", 6}};

	failures_of(2, of_two, 4);
	failures_of(3, of_three, 4);
}

TEST(failures_of_the_exchange_are_reported)
{
	static const struct failing of_pieces[] = {{"dev_reach", 2}, {"dev_stream", 2},
		{"dev_copy", 3 + 2 * SL_PIECES}, {"dev_event", 2 * SL_PIECES},
		{"dev_record", 2 * SL_PIECES}, {"dev_launch", 3 + 4 * SL_PIECES}, {"dev_sync", 5}};
	const uint64_t least = sl_exchange_set_least(0);

	failures_of(2, of_pieces, sizeof(of_pieces) / sizeof(of_pieces[0]));
	(void)sl_exchange_set_least(least);
}

/* --- keys at ranks ---------------------------------------------------------------------------- */

enum { KEYS = 300 };

static uint64_t count_not_more(const uint64_t *key, uint64_t value)
{
	uint64_t n = 0;

	for (int i = 0; i < KEYS; i++)
		n += key[i] <= value;
	return n;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	return (*x > *y) - (*x < *y);
}

/* Finds the key at each rank among keys of so many bits, with n_values in a round; returns the most rounds. */
static int find_every_rank(int bits, uint32_t n_values)
{
	uint64_t key[KEYS], value[SL_RANKS_MOST], not_more[SL_RANKS_MOST];
	int most = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		key[i] = (sl_draw(5, i, 0).at[0] | (uint64_t)sl_draw(5, i, 0).at[1] << 32) >>
		         (64 - bits);
	qsort(key, KEYS, sizeof(key[0]), compare);
	for (uint64_t rank = 0; rank < KEYS; rank++) {
		struct sl_rank_range r = {rank, 0, UINT64_MAX >> (64 - bits)};
		uint32_t n;
		int rounds = 0;

		for (; (n = sl_rank_values(&r, n_values, value)) > 0; rounds++) {
			for (uint32_t k = 0; k < n; k++) {
				assert_true(value[k] >= r.low && value[k] < r.high);
				not_more[k] = count_not_more(key, value[k]);
			}
			sl_rank_narrow(&r, value, not_more, n);
		}
		assert_true(r.low == r.high && r.low == key[rank]);
		most = rounds > most ? rounds : most;
	}
	return most;
}

/* A round of m values determines about log2(m + 1) bits. */
TEST(the_key_at_each_rank_is_found)
{
	static const struct {
		int bits;
		uint32_t n_values;
		int rounds; /* at most */
	} cases[] = {{1, 31, 1}, {5, 31, 1}, {6, 31, 2}, {9, 31, 3}, {31, 31, 7}, {32, 31, 7},
		{63, 31, 13}, {64, 31, 14}, {9, 1, 9}, {32, 66, 6}, {64, 66, 11}, {32, 2047, 3},
		{64, 2047, 6}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_in_range(
			find_every_rank(cases[i].bits, cases[i].n_values), 1, cases[i].rounds);
}

TEST(without_keys_the_search_ends)
{
	const uint64_t none[SL_RANKS_MOST] = {0};
	struct sl_rank_range r = {0, 0, UINT64_MAX};
	uint64_t value[SL_RANKS_MOST];
	uint32_t n;

	while ((n = sl_rank_values(&r, SL_RANKS_MOST, value)) > 0)
		sl_rank_narrow(&r, value, none, n);
	assert_true(r.low == UINT64_MAX);
}

TEST(equal_keys_come_from_the_first_shares)
{
	const struct sl_run_rank of[] = {{2, 4}, {0, 0}, {1, 6}, {3, 4}};
	static const uint32_t expected[][4] = {
		{2, 0, 1, 3}, {3, 0, 1, 3}, {4, 0, 1, 3}, {4, 0, 2, 3}, {4, 0, 6, 3}, {4, 0, 6, 4}};
	static const uint64_t rank[] = {6, 7, 8, 9, 13, 14};
	uint32_t at[4];

	for (int i = 0; i < 6; i++) {
		sl_rank_divide(rank[i], of, 4, at);
		assert_memory_equal(at, expected[i], sizeof(at));
	}
}

TEST(parts_differ_by_at_most_one_key)
{
	static const uint64_t sizes[] = {
		0, 1, 31, 32, 33, 1000003, UINT64_C(1) << 33, UINT64_MAX / 64};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (uint32_t n = 1; n <= SL_DEVICES_MAX; n++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				uint64_t part = sl_global_sort_part(sizes[k], n, i);

				assert_true(part >= sizes[k] / n && part <= sizes[k] / n + 1);
				sum += part;
				assert_true(sum == (sizes[k] / n) * (i + 1) +
							   (sizes[k] % n) * (i + 1) / n);
			}
			assert_true(sum == sizes[k]);
		}
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
