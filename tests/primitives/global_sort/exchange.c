/* exchange.c - tests the copies between two emulated devices, and failures of each call of a device in a sort. */
#include "primitives/global_sort/exchange.h"

#include <stdio.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/global_sort_check.h"

enum { LARGEST = 16 * SL_MERGE_TILE, ONE_IN = 19, DEVICES = 3 };

static const struct sl_emulator_settings in_order = {.blocks = 1, .memory_bytes = 1 << 30};

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

TEST(exchange_by_copies)
{
	struct sl_emulator_settings s = in_order;

	for (int at_once = 0; at_once < 2; at_once++) {
		s.at_once = at_once;
		sl_emulator_set_settings(&s);
		global_sort_check_exchange(&sl_sort_shared_emulated, LARGEST, ONE_IN);
	}
	sl_emulator_set_settings(&in_order);
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

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
