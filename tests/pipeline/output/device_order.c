/*
 * device_order.c - devices that sort the keys of a joined file: it has the bytes that the host makes, with any number
 * of devices, and after a failure of a device at any call.
 *
 * sl_device_order_read() is replaced, to give the merge a wrong order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/process.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/merged_again.h"

enum { DEVICES_MOST = 7 };

static const char two_columns[] = "[energy:float, x:float]"; /* keys of more than 32 bits */

static struct sl_device emulated[DEVICES_MOST];

BEFORE_TESTS()
{
	const struct sl_emulator_settings settings = {.blocks = 1, .memory_bytes = 1 << 28};

	sl_device_emulate(true);
	sl_emulator_set_settings(&settings);
	for (int i = DEVICES_MOST; i-- > 0;)
		assert_ok(sl_device_use(i, &emulated[i]));
}

static struct sl_order_devices first_devices(uint32_t n, const struct opened *o)
{
	const struct sl_recipe *r = &o->plan->recipe;
	struct sl_order_devices d = {
		.n = n, .sort = {.type = sl_key_type(r), .end_bit = r->key_bits}};

	d.sort.sort.backend = n % 2 ? &sl_sort_shared_emulated : &sl_sort_work_efficient_emulated;
	for (uint32_t i = 0; i < n; i++)
		d.device[i] = &emulated[i];
	return d;
}

/* Merges the run in `out` with n devices, in so many threads and so many files at a time. */
static struct sent merged_on(uint32_t n, uint32_t threads, uint32_t most)
{
	struct sl_order_devices devices;
	struct sent s = {.bytes = NULL};
	struct opened o;

	open_run(&o, threads);
	devices = first_devices(n, &o);
	s.devices = &devices;
	merge_again(&o, most, NULL, NULL, &s);
	close_run(&o);
	s.devices = NULL;
	return s;
}

/* Expects the bytes of the joined file from n devices, of which so many have sorted. */
static void expect_sorted_on(
	const char *format, uint32_t n, uint32_t threads, uint32_t most, uint32_t sorting)
{
	struct sent s = merged_on(n, threads, most);
	size_t bytes;
	char *file = joined_file(format, &bytes);

	expect_sent(&s, file, bytes);
	assert_int_equal(s.list.sorting_devices, sorting);
	assert_string_equal(s.list.why, "");
	free(file);
}

/* Any number of devices, threads and files at a time. Threads that decompress are faster; one thread is not. */
TEST(any_devices_give_the_same_bytes)
{
	static const char *const formats[] = {"mcpl", "npz", "csv.gz", "openpmd", "mcpl.gz"},
				 *const more[] = {"", ", sample: 900", ", limit: 1001",
					 ", sample: 900, limit: 700"};
	const char *const keys[] = {ties, distinct, two_columns};

	for (int i = 0; i < 60; i++) {
		const char *format = formats[i % 5];
		uint32_t n = 1 + (uint32_t)i % DEVICES_MOST, threads = 1 + (uint32_t)i % 3;

		if (i > 2 && !sl_sampling_selects())
			continue;
		make_sorted_run(
			i == 2 ? 4 : FEW, i == 2 ? 2 : 40, keys[i % 3], format, more[i % 4]);
		expect_sorted_on(format, n, threads, i % 2 ? SL_MERGED_FILES_MOST : 7,
			strcmp(format, "mcpl.gz") == 0 && threads > 1 ? 0 : n);
	}
}

/* --- failures ----------------------------------------------------------------------------------- */

/* A call of the device layer that fails, and what the merge must say about it. */
struct failure {
	const char *call;
	unsigned number; /* of the call */
	int error;
};

enum { SAME_BYTES, NOT_REACHED, WRONG };

/* In a child, because the device has failed for the rest of the process. */
static int merge_with_failure(void *argument)
{
	const struct failure *f = (const struct failure *)argument;
	bool reached, same;
	char fault[64], *file;
	struct sent s;
	size_t bytes;

	snprintf(fault, sizeof(fault), "%s:%u:%d", f->call, f->number, f->error);
	if (sl_fault_set(fault))
		return WRONG;
	s = merged_on(2, 1, SL_MERGED_FILES_MOST);
	sl_fault_set(NULL);
	reached = s.list.why[0] != '\0';
	file = joined_file("mcpl", &bytes);
	same = s.status == SL_OK && s.used == bytes && memcmp(s.bytes, file, bytes) == 0;
	free(file);
	free(s.bytes);
	return !same || (!reached && s.list.sorting_devices != 2) ? WRONG
	       : reached                                          ? SAME_BYTES
	                                                          : NOT_REACHED;
}

/* The host takes over at each call, also in the middle of the merge. */
TEST(the_host_continues_after_a_failure)
{
	static const struct failure calls[] = {{"dev_malloc", 0, 2}, {"pinned_malloc", 0, 2},
		{"dev_stream", 0, 700}, {"dev_copy", 0, 700}, {"dev_sync", 0, 719},
		{"dev_launch", 0, 719}};

	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct failure f = calls[i];
		int outcome = SAME_BYTES;

		for (f.number = 1; outcome == SAME_BYTES; f.number += is_quick() ? 7 : 1)
			outcome = in_child(merge_with_failure, &f);
		if (outcome != NOT_REACHED || f.number <= 2)
			fail_msg("%s: before call %u: outcome %d", f.call, f.number, outcome);
	}
}

/* Devices with too little memory leave the merge to the host. */
TEST(too_little_memory_is_no_failure)
{
	struct sl_emulator_settings settings = {.blocks = 1, .memory_bytes = 1 << 16};
	struct sent s;
	size_t bytes;
	char *file;

	make_sorted_run(FEW, 5, ties, "mcpl", "");
	sl_emulator_set_settings(&settings);
	s = merged_on(2, 1, SL_MERGED_FILES_MOST);
	settings.memory_bytes = 1 << 28;
	sl_emulator_set_settings(&settings);
	file = joined_file("mcpl", &bytes);
	expect_sent(&s, file, bytes);
	free(file);
	assert_int_equal(s.list.sorting_devices, 0);
	assert_non_null(strstr(s.list.why, "memory"));
}

/* --- wrong orders ------------------------------------------------------------------------------- */

enum sl_status __real_sl_device_order_read(struct sl_device_order *o);
enum sl_status __wrap_sl_device_order_read(struct sl_device_order *o);

/* This number is put at a place of the order, or exchanged with the next one. */
static struct {
	bool is_used, exchanges;
	uint32_t at, file;
} wrong;

enum sl_status __wrap_sl_device_order_read(struct sl_device_order *o)
{
	enum sl_status s = __real_sl_device_order_read(o);
	uint32_t *file = &o->file[wrong.at];

	if (!wrong.is_used || wrong.at + 1 >= o->at_hand)
		return s;
	if (wrong.exchanges)
		file[1] = file[0];
	file[0] = wrong.file;
	return s;
}

static void expect_refused(uint32_t at, uint32_t file, bool exchanges)
{
	struct sent s;

	wrong.is_used = true;
	wrong.exchanges = exchanges;
	wrong.at = at;
	wrong.file = file;
	s = merged_on(1, 1, SL_MERGED_FILES_MOST);
	wrong.is_used = false;
	free(s.bytes);
	assert_int_equal(s.status, SL_CHECK_FAILED);
	assert_non_null(strstr(s.message, "in another order than that of the files"));
}

/*
 * As if a device failed unnoticed. The ids descend, so the batches follow one another: 300 records of batch 3, then 400
 * of batch 2; the last batch has none.
 */
TEST(a_wrong_order_is_refused)
{
	make_sorted_run(FEW / 2, 5, "[-id:32]", "mcpl", "");
	expect_refused(5, 4, false);
	expect_refused(7, 2, false);
	expect_refused(1498, 1, false);
	expect_refused(70, 5, false);
	expect_refused(70, UINT32_MAX, false);
	expect_refused(299, 2, true);
	expect_refused(699, 1, true);
	make_sorted_run(
		FEW / 2, 5, ties, "mcpl", ""); /* the first ones are equal, and of batch 0 */
	expect_refused(5, 1, true);
}

/* Sorts the keys of the run in `out` on two devices, as if so many records were selected. */
static enum sl_status sort_keys(uint64_t records, const atomic_bool *cancel)
{
	struct sl_order_devices devices;
	struct sl_selection selection;
	struct sl_device_order order;
	struct sl_order_keys keys;
	struct opened o;
	enum sl_status s;

	open_run(&o, 1);
	devices = first_devices(2, &o);
	selection = (struct sl_selection){.items = sl_plan_order_items(o.plan)};
	keys = (struct sl_order_keys){&o.dir, &o.m, &selection, NULL, 1, records, cancel};
	s = sl_device_order_begin(&order, &devices, &keys);
	sl_device_order_end(&order);
	close_run(&o);
	return s;
}

TEST(another_number_of_records_is_found)
{
	make_sorted_run(40, 2, two_columns, "mcpl", "");
	for (uint64_t records = 1; records < 40; records++)
		assert_int_equal(sort_keys(records, NULL), records == 30 ? SL_OK : SL_CHECK_FAILED);
}

/* A rank ends soon after the loss of another one. */
TEST(a_sort_can_be_cancelled)
{
	atomic_bool cancel = true;

	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	assert_int_equal(sort_keys(FEW / 4 * 3, &cancel), SL_PEER_LOST);
}

/* A damaged order file is found before its keys are used, and by the merge of the host. */
TEST(a_damaged_order_file_is_found)
{
	struct sent s;

	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	folder_flip(&folder, "out/t_000002.order", 3, 7);
	s = merged_on(2, 1, SL_MERGED_FILES_MOST);
	free(s.bytes);
	assert_int_equal(s.status, SL_CHECK_FAILED);
	assert_int_equal(s.list.sorting_devices, 0);
	assert_non_null(strstr(s.list.why, "t_000002.order"));
	assert_non_null(strstr(s.message, "t_000002.order"));
}
