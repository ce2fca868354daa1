/* sort.c - the case of sort: u32 and u64 keys, by all bits or odd ranges, on any alignment. */
#include "case.h"

#include <stdio.h>

enum { KEY, INDEX };

/* All bits, none, one, within a digit of 8, across digits, the upper half. */
static const struct {
	uint32_t begin_bit, end_bit;
} ranges[2][6] = {
	[SL_U32] = {{0, 32}, {7, 7}, {31, 32}, {1, 6}, {3, 17}, {16, 32}},
	[SL_U64] = {{0, 64}, {64, 64}, {63, 64}, {33, 38}, {5, 59}, {32, 64}},
};

enum { RANGES = sizeof(ranges[0]) / sizeof(ranges[0][0]) };

/* Every kind of keys by every range, then random ones by all bits off alignment. */
static bool variant(size_t i, struct sl_setting *set)
{
	const size_t aligned = 2 * RANGES * SL_INPUT_COUNT;
	size_t off = i < aligned ? 0 : (i - aligned) / 2 + 1;
	size_t range = off == 0 ? i / 2 % RANGES : 0;

	set->type = i % 2 ? SL_U64 : SL_U32;
	set->begin_bit = ranges[set->type][range].begin_bit;
	set->end_bit = ranges[set->type][range].end_bit;
	set->input = off == 0 ? (enum sl_input)(i / 2 / RANGES) : SL_INPUT_RANDOM;
	return sl_set_off(off, set);
}

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	snprintf(text, size, "%s, %s, bits %u to %u", set->type == SL_U32 ? "u32" : "u64",
		sl_input_name(set->input), set->begin_bit, set->end_bit);
	sl_describe_off(set, text, size);
}

/* Not i itself: an index is the caller's, whatever its value. */
static uint32_t index_of(uint32_t i)
{
	return ~i;
}

static size_t key_bytes(const struct sl_trial *t)
{
	return t->set.n * sl_type_bytes(t->set.type);
}

static enum sl_status make(struct sl_trial *t)
{
	struct sl_shape shape = {.n = t->set.n, .type = t->set.type, .tuning = t->set.tuning};
	size_t index_bytes = t->set.n * sizeof(uint32_t);
	uint32_t *index;

	SL_TRY(sl_memory_get(SL_HOST, key_bytes(t) + index_bytes, &t->input));
	sl_input_fill(t->set.input, t->set.type, t->set.n, t->input);
	index = (uint32_t *)((char *)t->input + key_bytes(t));
	for (uint32_t i = 0; i < t->set.n; i++)
		index[i] = index_of(i);
	SL_TRY(sl_trial_block(t, t->set.n, sl_type_bytes(t->set.type), t->set.off[KEY]));
	SL_TRY(sl_trial_block(t, t->set.n, sizeof(uint32_t), t->set.off[INDEX]));
	return sl_trial_scratch(t, &shape);
}

static enum sl_status load(struct sl_trial *t, int poison)
{
	SL_TRY(sl_copy(t->block[KEY].at, t->input, t->block[KEY].bytes, NULL));
	SL_TRY(sl_copy(t->block[INDEX].at, (const char *)t->input + key_bytes(t),
		t->block[INDEX].bytes, NULL));
	return sl_fill(t->scratch.at, poison, t->scratch.bytes, NULL);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_sort_job job = {.key = t->block[KEY].at,
		.index = (uint32_t *)t->block[INDEX].at,
		.n = t->set.n,
		.type = t->set.type,
		.begin_bit = t->set.begin_bit,
		.end_bit = t->set.end_bit};

	return sl_sort(t->backend, &x, &job);
}

/* The bits of a key that are sorted by. */
static uint64_t sorted_bits(const struct sl_setting *set, uint64_t key)
{
	uint32_t n_bits = set->end_bit - set->begin_bit;

	if (n_bits == 0)
		return 0;
	return key >> set->begin_bit & UINT64_MAX >> (64 - n_bits);
}

/*
 * Each pair must be one that went in, and stand strictly behind the one before it in the order of
 * (bits, where it stood): so none is there twice, none is missing and equal keys keep their order.
 */
static enum sl_status compare(
	const struct sl_setting *set, const void *in, const void *key, const uint32_t *index)
{
	uint64_t bits_before = 0;
	uint32_t stood_before = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t stood = index_of(index[i]);
		uint64_t k = sl_item(key, set->type, i), bits = sorted_bits(set, k);

		if (stood >= set->n || sl_item(in, set->type, stood) != k)
			return sl_fail(SL_CHECK_FAILED,
				"pair %u (key %llx, index %x) was not given", i,
				(unsigned long long)k, index[i]);
		if (i > 0 && bits < bits_before)
			return sl_fail(SL_CHECK_FAILED, "key %u is smaller than the one before", i);
		if (i > 0 && bits == bits_before && stood <= stood_before)
			return sl_fail(SL_CHECK_FAILED, "pair %u has overtaken an equal one", i);
		bits_before = bits;
		stood_before = stood;
	}
	return SL_OK;
}

static enum sl_status right(struct sl_trial *t)
{
	void *key = NULL, *index = NULL;
	enum sl_status s = sl_trial_canaries(t);

	if (s == SL_OK)
		s = sl_trial_fetch(&t->block[KEY], &key);
	if (s == SL_OK)
		s = sl_trial_fetch(&t->block[INDEX], &index);
	if (s == SL_OK)
		s = compare(&t->set, t->input, key, (const uint32_t *)index);
	sl_memory_give(SL_HOST, index);
	sl_memory_give(SL_HOST, key);
	return s;
}

/* Every pair is read and written once. */
static uint64_t bytes_moved(const struct sl_trial *t)
{
	return 2 * (uint64_t)t->set.n * (sl_type_bytes(t->set.type) + sizeof(uint32_t));
}

const struct sl_case sl_case_sort = {
	.primitive = SL_SORT,
	.variant = variant,
	.describe = describe,
	.make = make,
	.load = load,
	.run = run,
	.right = right,
	.bytes_moved = bytes_moved,
};
