/*
 * list_shares.c - shares of a joined file, which several ranks make: one after another they are the file, and
 * their checksums those of the batches.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/output/merged_list.h"
#include "pipeline/output/source/splitters.h"
#include "primitives/files/crc32.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/merged_again.h"

enum { BATCHES_MOST = 40 };

/* The devices that sort the keys of each share, as those of a rank do; or NULL. */
static const struct sl_order_devices *sorting;

struct bytes {
	uint8_t *at;
	size_t used;
};

static enum sl_status receive(void *context, const void *bytes, size_t size)
{
	struct bytes *b = (struct bytes *)context;

	b->at = (uint8_t *)realloc(b->at, b->used + size + 1);
	if (size > 0)
		memcpy(b->at + b->used, bytes, size);
	b->used += size;
	return SL_OK;
}

/* Finds how many records of each batch are before a place. */
static void find_place(const struct opened *o, uint64_t records, uint64_t before[BATCHES_MOST])
{
	uint64_t middle[BATCHES_MOST], above[BATCHES_MOST];
	struct sl_splitters s = {before, middle, above};
	struct sl_sorted_keys keys[BATCHES_MOST];
	char *file[BATCHES_MOST], name[300];

	for (size_t i = 0; i < o->m.n; i++) {
		size_t bytes;

		snprintf(name, sizeof(name), "out/%s", o->m.line[i].order_file);
		file[i] = folder_read(&folder, name, &bytes);
		assert_int_equal(bytes, 8 * o->m.line[i].survivors);
		keys[i] = (struct sl_sorted_keys){(const uint8_t *)file[i], o->m.line[i].survivors};
	}
	sl_splitters_find(keys, (uint32_t)o->m.n, records, &s);
	for (size_t i = 0; i < o->m.n; i++)
		free(file[i]);
}

/* A list in n shares, and the sums of their pieces of the files. */
struct shares {
	struct bytes list;
	struct sl_checked_piece files[BATCHES_MOST], orders[BATCHES_MOST];
	enum sl_status status;
};

/* Sends share k of n, with records from `first` on, and adds its pieces. */
static void send_share(
	const struct opened *o, uint32_t k, uint32_t n, uint64_t total, struct shares *s)
{
	struct sl_record_range range[BATCHES_MOST];
	const uint64_t first = total * k / n, last = total * (k + 1) / n;
	const struct sl_list_share share = {range, last - first, k == 0, NULL};
	const struct sl_ordered_list l = {
		o->plan, &o->dir, &o->dir, &o->m, SL_MERGED_FILES_MOST, &share, sorting};
	uint64_t from[BATCHES_MOST], to[BATCHES_MOST];
	struct sl_joined_list joined;

	find_place(o, first, from);
	find_place(o, last, to);
	for (size_t i = 0; i < o->m.n; i++)
		range[i] = (struct sl_record_range){
			.first = from[i], .end = to[i], .is_first = k == 0, .is_last = k == n - 1};
	s->status = sl_merged_list_send(&l, receive, &s->list, &joined);
	for (size_t i = 0; s->status == SL_OK && i < o->m.n; i++) {
		sl_checked_piece_add(&s->files[i], &range[i].list);
		sl_checked_piece_add(&s->orders[i], &range[i].order);
	}
}

/* Sends a list in n shares with so many threads each. The caller frees s->list.at. */
static void send_shares(const struct opened *o, uint32_t n, struct shares *s)
{
	uint64_t total = 0;

	*s = (struct shares){.status = SL_OK};
	for (size_t i = 0; i < o->m.n; i++)
		total += o->m.line[i].survivors;
	for (uint32_t k = 0; s->status == SL_OK && k < n; k++)
		send_share(o, k, n, total, s);
}

static void expect_shares(uint32_t n, uint32_t threads, const char *file, size_t bytes)
{
	struct shares s;
	struct opened o;

	open_run(&o, threads);
	send_shares(&o, n, &s);
	assert_int_equal(s.status, SL_OK);
	assert_int_equal(s.list.used, bytes);
	assert_memory_equal(s.list.at, file, bytes);
	free(s.list.at);
	for (size_t i = 0; i < o.m.n; i++) {
		assert_int_equal(s.files[i].bytes, o.m.line[i].file_bytes);
		assert_int_equal(s.files[i].crc, o.m.line[i].file_crc);
		assert_int_equal(s.orders[i].bytes, o.m.line[i].order_bytes);
		assert_int_equal(s.orders[i].crc, o.m.line[i].order_crc);
	}
	close_run(&o);
}

TEST(shares_make_up_the_list)
{
	static const unsigned batches[] = {2, 5, 40};
	static const uint32_t shares[] = {1, 2, 3, 7, 50};
	size_t bytes;
	char *file;

	for (int b = 0; b < 6; b++) {
		make_sorted_run(b < 3 ? FEW : 60, batches[b % 3 == 2 && b > 3 ? 1 : b % 3],
			b % 2 ? ties : distinct, "mcpl", "");
		file = joined_file("mcpl", &bytes);
		for (int i = 0; i < 5; i++)
			expect_shares(shares[i], 1 + (uint32_t)i % 2, file, bytes);
		free(file);
	}
}

/* A share without records needs no devices. */
TEST(devices_sort_the_keys_of_a_share)
{
	struct sl_order_devices devices = {.n = 2,
		.sort = {.sort.backend = &sl_sort_shared_emulated, .type = SL_U32, .end_bit = 32}};
	struct sl_device device[2];
	size_t bytes;
	char *file;

	sl_device_emulate(true);
	for (int i = 2; i-- > 0; devices.device[i] = &device[i])
		assert_ok(sl_device_use(i, &device[i]));
	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	file = joined_file("mcpl", &bytes);
	sorting = &devices;
	for (uint32_t n = 1; n < 8; n += 2)
		expect_shares(n, 1 + n % 2, file, bytes);
	sorting = NULL;
	sl_device_emulate(false);
	free(file);
}

/* A damaged byte, anywhere in a file, changes the sum of the checksums, or the share fails. */
static void expect_damage(const char *name, size_t batch, bool in_list, size_t at)
{
	struct shares s;
	struct opened o;

	folder_flip(&folder, name, at, 20);
	open_run(&o, 1);
	send_shares(&o, 3, &s);
	if (s.status == SL_OK) {
		const struct sl_manifest_line *l = &o.m.line[batch];

		assert_true(in_list ? s.files[batch].crc != l->file_crc
				    : s.orders[batch].crc != l->order_crc);
	}
	free(s.list.at);
	close_run(&o);
	folder_flip(&folder, name, at, 20);
}

TEST(damage_is_found)
{
	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	for (size_t at = 0; at <= 20; at++) {
		expect_damage("out/t_000001.mcpl", 1, true, at);
		expect_damage("out/t_000002.order", 2, false, at);
	}
}

/* Rows that a batch does not have. */
TEST(ranges_outside_of_a_batch_are_refused)
{
	static const uint64_t wrong[][2] = {
		{0, 1000}, {1000, 1000}, {3, 2}, {0, UINT64_MAX}, {UINT64_MAX - 1, UINT64_MAX}};
	struct sl_record_source s;
	struct opened o;

	make_sorted_run(FEW, 5, distinct, "mcpl", "");
	open_run(&o, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct sl_record_range r = {.first = wrong[i][0], .end = wrong[i][1]};
		struct sl_selection selection = {.items = sl_plan_order_items(o.plan)};
		struct sl_mcpl_header layout;
		size_t header;
		const struct sl_ordered_list l = {o.plan, &o.dir, &o.dir, &o.m, 2, NULL, NULL};

		assert_int_equal(SL_OK, sl_ordered_list_layout(&l, &layout, &header));
		selection.record_bytes = layout.record_bytes;
		assert_int_equal(
			SL_OK, sl_record_source_open(&s, &o.dir, &o.m.line[0], &selection));
		assert_int_equal(SL_CHECK_FAILED, sl_record_source_restrict(&s, &r));
		sl_record_source_close(&s);
	}
	close_run(&o);
}
