/* global_sort_check.c - see global_sort_check.h. */
#include "tests/support/device/global_sort_check.h"

#include <stdlib.h>

#include "primitives/global_sort/exchange.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/host_and_device.h"

enum { CANARY = 64, TILE = SL_MERGE_TILE };

/* All keys on the host: in the order of the shares, and sorted. */
struct host_pairs {
	uint32_t n;
	size_t item; /* bytes of a key */
	char *key, *sorted;
	uint32_t *index, *sorted_index;
};

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes > 0 ? bytes : 1);

	assert_non_null(p);
	return p;
}

/* Sorts on the host by the bits of the try. */
static void sort_on_host(const struct global_sort_try *t, struct host_pairs *h)
{
	const struct sl_shape shape = {.n = h->n, .type = t->type};
	struct sl_exec x = {
		.space = SL_HOST, .scratch = {.size = sl_scratch(&sl_sort_cpu, &shape)}};
	const struct sl_sort_job job = {.key = h->key,
		.index = h->index,
		.key_out = h->sorted,
		.index_out = h->sorted_index,
		.n = h->n,
		.type = t->type,
		.begin_bit = t->begin_bit,
		.end_bit = t->end_bit};

	assert_ok(sl_memory_get(SL_HOST, x.scratch.size, &x.scratch.base));
	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
	sl_memory_give(SL_HOST, x.scratch.base);
}

static void make_pairs(const struct global_sort_try *t, struct host_pairs *h)
{
	h->n = 0;
	for (uint32_t i = 0; i < t->n_shares; i++)
		h->n += t->n[i];
	h->item = sl_type_bytes(t->type);
	h->key = (char *)allocate(h->n * h->item);
	h->sorted = (char *)allocate(h->n * h->item);
	h->index = (uint32_t *)allocate(h->n * sizeof(*h->index));
	h->sorted_index = (uint32_t *)allocate(h->n * sizeof(*h->index));
	sl_input_fill(t->input, t->type, h->n, h->key);
	for (uint32_t i = 0; i < h->n; i++)
		h->index[i] = i;
	sort_on_host(t, h);
}

static void free_pairs(struct host_pairs *h)
{
	free(h->key);
	free(h->sorted);
	free(h->index);
	free(h->sorted_index);
}

/* Poisoned device memory for n items of so many bytes, offset items after an address that is aligned. */
static void *get_items(uint64_t n, size_t bytes, uint32_t offset)
{
	return (char *)poisoned_get(SL_DEVICE, (n + offset) * bytes) + offset * bytes;
}

static void give_items(void *items, size_t bytes, uint32_t offset)
{
	if (items)
		sl_memory_give(SL_DEVICE, (char *)items - offset * bytes);
}

/* Gives a share its keys, from number first on, and poisoned memory for its part. */
static void open_share(const struct global_sort_try *t, const struct sl_global_sort *sort,
	const struct host_pairs *h, uint32_t i, uint32_t first, struct sl_device *device,
	struct sl_global_share *s)
{
	const uint64_t part = sl_global_sort_part(h->n, t->n_shares, i);

	assert_ok(sl_device_use((int)i % t->n_devices, device));
	*s = (struct sl_global_share){.device = device, .n = t->n[i]};
	assert_ok(sl_stream_make(&s->stream));
	s->scratch.size = sl_global_sort_scratch(sort, s->n, h->n, t->n_shares, t->keys_only);
	s->scratch.base = poisoned_get(SL_DEVICE, s->scratch.size);
	s->key = get_items(s->n, h->item, t->key_offset);
	s->key_out = poisoned_get(SL_DEVICE, part * h->item + CANARY);
	assert_ok(sl_copy(s->key, h->key + first * h->item, s->n * h->item, s->stream));
	if (!t->keys_only) {
		s->index = (uint32_t *)get_items(s->n, sizeof(*s->index), t->index_offset);
		s->index_out =
			(uint32_t *)poisoned_get(SL_DEVICE, part * sizeof(*s->index) + CANARY);
		assert_ok(sl_copy(s->index, h->index + first, s->n * sizeof(*s->index), s->stream));
	}
	assert_ok(sl_stream_wait(s->stream));
}

static void close_share(const struct global_sort_try *t, size_t item, struct sl_global_share *s)
{
	assert_true(sl_device_switch(s->device));
	sl_stream_free(s->stream);
	sl_memory_give(SL_DEVICE, s->scratch.base);
	give_items(s->key, item, t->key_offset);
	sl_memory_give(SL_DEVICE, s->key_out);
	give_items(s->index, sizeof(*s->index), t->index_offset);
	sl_memory_give(SL_DEVICE, s->index_out);
}

/* Expects bytes in device memory, and the poison after them. */
static void expect_bytes(const struct sl_global_share *s, const void *out, const void *expected,
	size_t bytes, const char *what, uint32_t i)
{
	unsigned char *found = (unsigned char *)allocate(bytes + CANARY);

	assert_true(sl_device_switch(s->device));
	assert_ok(sl_copy(found, out, bytes + CANARY, s->stream));
	assert_ok(sl_stream_wait(s->stream));
	if (memcmp(found, expected, bytes) != 0)
		fail_msg("share %u: other %s than on the host", i, what);
	for (size_t k = 0; k < CANARY; k++)
		if (found[bytes + k] != 0xa5)
			fail_msg("share %u: a byte after the %s was written", i, what);
	free(found);
}

void global_sort_check(const struct sl_backend *backend, const struct global_sort_try *t)
{
	const struct sl_global_sort sort = {
		{.backend = backend}, t->type, t->begin_bit, t->end_bit};
	struct sl_device device[SL_DEVICES_MAX];
	struct sl_global_share share[SL_DEVICES_MAX];
	struct host_pairs h;
	size_t at = 0;

	make_pairs(t, &h);
	for (uint32_t i = 0, first = 0; i < t->n_shares; first += t->n[i++])
		open_share(t, &sort, &h, i, first, &device[i], &share[i]);
	assert_ok(sl_global_sort(&sort, share, t->n_shares));
	for (uint32_t i = 0; i < t->n_shares; i++) {
		const uint64_t part = sl_global_sort_part(h.n, t->n_shares, i);

		expect_bytes(&share[i], share[i].key_out, h.sorted + at * h.item, part * h.item,
			"keys", i);
		if (!t->keys_only)
			expect_bytes(&share[i], share[i].index_out, h.sorted_index + at,
				part * sizeof(*h.index), "indices", i);
		at += part;
	}
	assert_int_equal(at, h.n);
	for (uint32_t i = 0; i < t->n_shares; i++)
		close_share(t, h.item, &share[i]);
	free_pairs(&h);
	assert_ok(sl_device_use(0, &device[0]));
}

void global_sort_check_search(const struct sl_run_kernels *kernels)
{
	const uint32_t key[] = {
		0x10, 0x21, 0x22, 0x23, 0xf0}; /* compared by the upper four of eight bits */
	const uint64_t value[] = {0, 1, 2, 14, 15};
	const struct sl_run_rank expected[] = {{0, 0}, {0, 1}, {1, 4}, {4, 4}, {4, 5}};
	struct sl_device device;
	struct sl_global_share s = {.device = &device};
	struct sl_run_rank *on_device;
	struct sl_sorted_run run;
	uint64_t *values;
	uint32_t *keys;

	assert_ok(sl_device_use(0, &device));
	keys = (uint32_t *)poisoned_get(SL_DEVICE, sizeof(key));
	values = (uint64_t *)poisoned_get(SL_DEVICE, sizeof(value) + CANARY);
	on_device = (struct sl_run_rank *)poisoned_get(SL_DEVICE, sizeof(expected) + CANARY);
	run = (struct sl_sorted_run){keys, NULL, 5};
	assert_ok(sl_copy(keys, key, sizeof(key), NULL));
	assert_ok(sl_copy(values, value, sizeof(value), NULL));
	assert_ok(kernels->search(
		&run, SL_U32, (struct sl_key_bits){4, 15}, values, 5, on_device, NULL));
	expect_bytes(&s, on_device, expected, sizeof(expected), "ranks", 0);
	sl_memory_give(SL_DEVICE, keys);
	sl_memory_give(SL_DEVICE, values);
	sl_memory_give(SL_DEVICE, on_device);
}

/* The keys of share i in pattern number k: of about the same number, none, one, or all in the last share. */
static uint32_t keys_of_share(uint32_t n, uint32_t k, uint32_t i, uint32_t n_shares)
{
	switch (k) {
	case 0:
		return n;
	case 1:
		return i == 1 ? 0 : n + i;
	case 2:
		return i == 0 ? n : 1;
	default:
		return i == n_shares - 1 ? n : 0;
	}
}

enum { PATTERNS = 4, BITS = 4, SHARES = 5 };

static void check_size(const struct sl_backend *sort, int n_devices, uint32_t n, uint32_t pattern,
	uint32_t n_shares)
{
	for (uint32_t k = 0; k < 4 * BITS * SL_INPUT_COUNT; k++) {
		struct global_sort_try t = {.n_shares = n_shares,
			.n_devices = n_devices,
			.input = (enum sl_input)(k % SL_INPUT_COUNT),
			.keys_only = k / SL_INPUT_COUNT % 2,
			.type = k / SL_INPUT_COUNT / 2 % 2 ? SL_U64 : SL_U32};
		const uint32_t width = t.type == SL_U64 ? 64 : 32;
		const uint32_t bits[BITS][2] = {
			{0, width}, {3, 12}, {width, width}, {width - 9, width}};

		if (!sl_sampling_selects())
			continue;
		t.begin_bit = bits[k / SL_INPUT_COUNT / 4][0];
		t.end_bit = bits[k / SL_INPUT_COUNT / 4][1];
		t.key_offset = k % 4;
		t.index_offset = (k / 4 + n) % 4;
		for (uint32_t i = 0; i < n_shares; i++)
			t.n[i] = keys_of_share(n, pattern, i, n_shares);
		global_sort_check(sort, &t);
	}
}

void global_sort_check_sizes(
	const struct sl_backend *sort, int n_devices, uint32_t largest, uint32_t one_in)
{
	static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 257, 1000, TILE / 2 - 1,
		TILE / 2, TILE - 1, TILE, TILE + 1, 5000, (1 << 20) + 3, (1 << 24) + 5};

	sl_sampling_one_in(one_in);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t n_shares = 1; sizes[i] <= largest && n_shares <= SHARES; n_shares++)
			for (uint32_t pattern = 0; pattern < PATTERNS; pattern++)
				check_size(sort, n_devices, sizes[i], pattern, n_shares);
}

void global_sort_check_exchange(const struct sl_backend *sort, uint32_t largest, uint32_t one_in)
{
	static const uint32_t sizes[] = {0, 1, 2, SL_PIECES - 1, SL_PIECES, SL_PIECES + 1,
		2 * SL_PIECES - 1, 2 * SL_PIECES, 2 * SL_PIECES + 1, 257, 1000, TILE + 1,
		SL_PIECES * TILE - SL_PIECES, SL_PIECES * TILE - 1, SL_PIECES * TILE,
		SL_PIECES * TILE + 1, 2 * SL_PIECES * TILE, (1 << 20) + 3, (1 << 24) + 5};
	const uint64_t least = sl_exchange_set_least(0);

	sl_sampling_one_in(one_in);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t pattern = 0; sizes[i] <= largest && pattern < PATTERNS; pattern++)
			check_size(sort, 2, sizes[i], pattern, 2);
	(void)sl_exchange_set_least(least);
}
