/* global_sort_check.c - see global_sort_check.h. */
#include "tests/support/device/global_sort_check.h"

#include <stdlib.h>

#include "primitives/global_sort/exchange.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"

enum { TILE = SL_MERGE_TILE, POISON = 0xa5 };

/* All keys on the host, in the order of the shares, and sorted by the bits of the try. */
static void sort_on_host(const struct global_sort_try *t, struct global_sort_shares *s)
{
	const struct sl_shape shape = {.n = s->n, .type = t->type};
	const size_t bytes = s->n * sl_type_bytes(t->type);
	struct sl_exec x = {
		.space = SL_HOST, .scratch = {.size = sl_scratch(&sl_sort_cpu, &shape)}};
	struct sl_sort_job job = {
		.n = s->n, .type = t->type, .begin_bit = t->begin_bit, .end_bit = t->end_bit};

	s->block = (char *)malloc(2 * bytes + 2 * s->n * sizeof(*s->index) + 1);
	assert_non_null(s->block);
	job.key = s->key = s->block;
	job.key_out = s->sorted = s->key + bytes;
	job.index = s->index = (uint32_t *)(void *)(s->sorted + bytes);
	job.index_out = s->sorted_index = s->index + s->n;
	sl_input_fill(t->input, t->type, s->n, s->key);
	for (uint32_t i = 0; i < s->n; i++)
		s->index[i] = i;
	assert_ok(sl_memory_get(SL_HOST, x.scratch.size, &x.scratch.base));
	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
	sl_memory_give(SL_HOST, x.scratch.base);
}

/* Device memory for n items, offset items after an aligned address: with these items, or poisoned. */
static void *get(struct sl_guarded *g, const void *from, uint64_t n, size_t item, uint32_t offset)
{
	assert_ok(sl_guarded_get_offset(SL_DEVICE, n * item, offset * item, g));
	assert_ok(from ? sl_copy(g->at, from, n * item, NULL)
		       : sl_fill(g->at, POISON, n * item, NULL));
	return g->at;
}

void global_sort_open(const struct sl_backend *sort, const struct global_sort_try *t,
	struct global_sort_shares *s)
{
	const size_t item = sl_type_bytes(t->type);
	uint32_t first = 0;

	*s = (struct global_sort_shares){
		.sort = {{.backend = sort}, t->type, t->begin_bit, t->end_bit}};
	for (uint32_t i = 0; i < t->n_shares; i++)
		s->n += t->n[i];
	sort_on_host(t, s);
	for (uint32_t i = 0; i < t->n_shares; first += t->n[i++]) {
		const uint64_t part = sl_global_sort_part(s->n, t->n_shares, i);
		struct sl_global_share *to = &s->share[i];
		struct sl_guarded *b = s->buffer[i];

		assert_ok(sl_device_use((int)i % t->n_devices, &s->device[i]));
		to->device = &s->device[i];
		to->n = t->n[i];
		assert_ok(sl_stream_make(&to->stream));
		to->scratch.size =
			sl_global_sort_scratch(&s->sort, to->n, s->n, t->n_shares, t->keys_only);
		to->scratch.base = get(&b[GLOBAL_SCRATCH], NULL, to->scratch.size, 1, 0);
		to->key = get(&b[GLOBAL_KEY], s->key + first * item, to->n, item, t->key_offset);
		to->key_out = get(&b[GLOBAL_KEY_OUT], NULL, part, item, 0);
		if (!t->keys_only) {
			to->index = (uint32_t *)get(&b[GLOBAL_INDEX], s->index + first, to->n,
				sizeof(*s->index), t->index_offset);
			to->index_out = (uint32_t *)get(
				&b[GLOBAL_INDEX_OUT], NULL, part, sizeof(*s->index), 0);
		}
		assert_ok(sl_stream_wait(NULL));
	}
}

void global_sort_close(const struct global_sort_try *t, struct global_sort_shares *s)
{
	for (uint32_t i = 0; i < t->n_shares; i++) {
		assert_true(sl_device_switch(s->share[i].device));
		sl_stream_free(s->share[i].stream);
		for (int b = 0; b < GLOBAL_BUFFERS; b++) {
			if (s->buffer[i][b].block)
				assert_ok(sl_guarded_check(&s->buffer[i][b], "a share"));
			sl_guarded_give(&s->buffer[i][b]);
		}
	}
	free(s->block);
	assert_ok(sl_device_use(0, &s->device[0]));
}

static void expect_bytes(const struct sl_guarded *g, const void *expected, uint32_t share)
{
	void *found = malloc(g->bytes + 1);

	assert_non_null(found);
	assert_ok(sl_copy(found, g->at, g->bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	if (memcmp(found, expected, g->bytes) != 0)
		fail_msg("share %u has other pairs than on the host", share);
	free(found);
}

void global_sort_check(const struct sl_backend *sort, const struct global_sort_try *t)
{
	const size_t item = sl_type_bytes(t->type);
	struct global_sort_shares s;
	size_t at = 0;

	global_sort_open(sort, t, &s);
	assert_ok(sl_global_sort(&s.sort, s.share, t->n_shares));
	for (uint32_t i = 0; i < t->n_shares; i++) {
		assert_true(sl_device_switch(s.share[i].device));
		expect_bytes(&s.buffer[i][GLOBAL_KEY_OUT], s.sorted + at * item, i);
		if (!t->keys_only)
			expect_bytes(&s.buffer[i][GLOBAL_INDEX_OUT], s.sorted_index + at, i);
		at += sl_global_sort_part(s.n, t->n_shares, i);
	}
	assert_int_equal(at, s.n);
	global_sort_close(t, &s);
}

enum { PATTERNS = 4, BITS = 4, SHARES = 5 };

/* The keys of share i in pattern number k: of about the same number, none, one, or all in the last share. */
static uint32_t keys_of_share(uint32_t n, uint32_t k, uint32_t i, uint32_t n_shares)
{
	const uint32_t of[PATTERNS] = {
		n, i == 1 ? 0 : n + i, i == 0 ? n : 1, i == n_shares - 1 ? n : 0};

	return of[k];
}

static void check_size(const struct sl_backend *sort, int n_devices, uint32_t n, uint32_t n_shares)
{
	for (uint32_t k = 0; k < PATTERNS * 4 * BITS * SL_INPUT_COUNT; k++) {
		const uint32_t of = k / SL_INPUT_COUNT, width = of / 2 % 2 ? 64 : 32;
		const uint32_t bits[BITS][2] = {
			{0, width}, {3, 12}, {width, width}, {width - 9, width}};
		struct global_sort_try t = {.n_shares = n_shares,
			.n_devices = n_devices,
			.input = (enum sl_input)(k % SL_INPUT_COUNT),
			.keys_only = of % 2,
			.type = width == 64 ? SL_U64 : SL_U32,
			.begin_bit = bits[of / 4 % BITS][0],
			.end_bit = bits[of / 4 % BITS][1],
			.key_offset = k % 4,
			.index_offset = (k / 4 + n) % 4};

		if (!sl_sampling_selects())
			continue;
		for (uint32_t i = 0; i < n_shares; i++)
			t.n[i] = keys_of_share(n, of / 4 / BITS, i, n_shares);
		global_sort_check(sort, &t);
	}
}

void global_sort_check_sizes(const struct sl_backend *sort, int n_devices, bool by_pieces,
	uint32_t largest, uint32_t one_in)
{
	static const uint32_t sizes[] = {0, 1, 2, SL_PIECES - 1, SL_PIECES, SL_PIECES + 1,
		2 * SL_PIECES - 1, 2 * SL_PIECES, 2 * SL_PIECES + 1, 31, 32, 33, 255, 257, 1000,
		TILE / 2 - 1, TILE / 2, TILE - 1, TILE, TILE + 1, 5000,
		SL_PIECES * TILE - SL_PIECES, SL_PIECES * TILE - 1, SL_PIECES * TILE,
		SL_PIECES * TILE + 1, 2 * SL_PIECES * TILE, (1 << 20) + 3, (1 << 24) + 5};
	const uint64_t least = by_pieces ? sl_exchange_set_least(0) : 0;

	sl_sampling_one_in(one_in);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= largest; i++)
		for (uint32_t n = by_pieces ? 2 : 1; n <= (by_pieces ? 2 : SHARES); n++)
			check_size(sort, by_pieces ? 2 : n_devices, sizes[i], n);
	if (by_pieces)
		(void)sl_exchange_set_least(least);
}
