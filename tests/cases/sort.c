/*
 * sort.c - the test case of sort: u32 and u64 keys, with an index or alone, in place or not, by
 * all bits or other bit ranges, any alignment.
 */
#include "case.h"

#include <stdio.h>
#include <string.h>

#include "primitives/base/size.h"

enum { KEY, INDEX, KEY_OUT, INDEX_OUT };

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	snprintf(text, size, "%s%s, %s, bits %u to %u%s%s", set->type == SL_U32 ? "u32" : "u64",
		set->keys_only ? " alone" : "", sl_distribution_name(set->input), set->begin_bit,
		set->end_bit, set->in_place ? ", in place" : "",
		set->key_spent ? ", key spent" : "");
	sl_describe_offsets(set, text, size);
}

/* Differs from i, because a sort must move the index of the caller whatever its value is. */
static uint32_t index_of(uint32_t i)
{
	return ~i;
}

static size_t key_bytes(const struct sl_trial *t)
{
	return t->set.n * sl_type_bytes(t->set.type);
}

static const void *input_index(const struct sl_trial *t)
{
	return (const char *)t->input + key_bytes(t);
}

/*
 * Allocates the blocks in the order of enum block. One that the setting does not use has no memory.
 */
static enum sl_status make_blocks(struct sl_trial *t)
{
	const struct sl_setting *set = &t->set;
	const struct {
		bool has;
		size_t item_bytes;
		uint32_t off;
		const void *given;
	} blocks[] = {{true, sl_type_bytes(set->type), set->off[0], t->input},
		{!set->keys_only, sizeof(uint32_t), set->off[1], input_index(t)},
		{!set->in_place, sl_type_bytes(set->type), 0, NULL},
		{!set->in_place && !set->keys_only, sizeof(uint32_t), 0, NULL}};

	for (int i = 0; i < 4; i++, t->n_blocks = i)
		if (blocks[i].has)
			SL_TRY(sl_trial_block(
				t, set->n, blocks[i].item_bytes, blocks[i].off, blocks[i].given));
	return SL_OK;
}

static enum sl_status make(struct sl_trial *t)
{
	struct sl_shape shape = {
		.type = t->set.type, .tuning = t->set.tuning, .keys_only = t->set.keys_only};
	uint32_t *index;

	sl_trial_count(t);
	shape.n = t->most;
	SL_TRY(sl_memory_get(SL_HOST, key_bytes(t) + t->set.n * sizeof(*index), &t->input));
	sl_input_fill(t->set.input, t->set.type, t->set.n, t->input);
	index = (uint32_t *)((char *)t->input + key_bytes(t));
	for (uint32_t i = 0; i < t->set.n; i++)
		index[i] = index_of(i);
	SL_TRY(make_blocks(t));
	SL_TRY(sl_trial_count_block(t));
	return sl_trial_scratch(t, &shape);
}

/* Blocks that the setting does not have are null. */
static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_sort_job job = {.key = t->block[KEY].at,
		.index = (uint32_t *)t->block[INDEX].at,
		.key_out = t->block[KEY_OUT].at,
		.index_out = (uint32_t *)t->block[INDEX_OUT].at,
		.key_spent = t->set.key_spent,
		.n = t->most,
		.n_on_device = t->n_on_device,
		.n_type = t->set.n_type,
		.type = t->set.type,
		.begin_bit = t->set.begin_bit,
		.end_bit = t->set.end_bit};

	return sl_sort(t->backend, &x, &job);
}

/* The bits of the key that the sort compares. */
static uint64_t sorted_bits(const struct sl_setting *set, uint64_t key)
{
	uint32_t n_bits = set->end_bit - set->begin_bit;

	if (n_bits == 0)
		return 0;
	return key >> set->begin_bit & UINT64_MAX >> (64 - n_bits);
}

/*
 * Each pair must be an input pair and must follow its predecessor in the order of (sorted bits,
 * input position). So no pair is repeated or missing, and equal keys keep their order. If the
 * output keys are not checked, the input keys take their place.
 */
static enum sl_status compare(
	const struct sl_setting *set, const void *in, const void *key, const uint32_t *index)
{
	uint64_t bits_before = 0;
	uint32_t stood_before = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t stood = index_of(index[i]);
		uint64_t k = stood < set->n ? sl_item(in, set->type, stood) : 0;
		uint64_t bits = sorted_bits(set, k);

		if (stood >= set->n || (!set->key_spent && sl_item(key, set->type, i) != k))
			return sl_fail(SL_CHECK_FAILED,
				"pair %u (key %llx, index %x) was not given", i,
				(unsigned long long)sl_item(key, set->type, i), index[i]);
		if (i > 0 && bits < bits_before)
			return sl_fail(SL_CHECK_FAILED, "key %u is smaller than the one before", i);
		if (i > 0 && bits == bits_before && stood <= stood_before)
			return sl_fail(SL_CHECK_FAILED, "pair %u has overtaken an equal one", i);
		bits_before = bits;
		stood_before = stood;
	}
	return SL_OK;
}

/*
 * Without an index the keys must equal those of the sorted pairs, where the specification sorts
 * them.
 */
static enum sl_status compare_keys(const struct sl_trial *t, const void *key)
{
	const struct sl_shape shape = {.n = t->set.n, .type = t->set.type};
	const size_t bytes = key_bytes(t) + t->set.n * sizeof(uint32_t),
		     at = sl_round_up(bytes, SL_ALIGN), scratch = sl_scratch(&sl_sort_cpu, &shape);
	struct sl_exec x = {.space = SL_HOST};
	struct sl_sort_job job = {.n = t->set.n,
		.type = t->set.type,
		.begin_bit = t->set.begin_bit,
		.end_bit = t->set.end_bit};
	enum sl_status s;

	SL_TRY(sl_memory_get(SL_HOST, at + scratch, &job.key));
	memcpy(job.key, t->input, bytes);
	job.index = (uint32_t *)(void *)((char *)job.key + key_bytes(t));
	x.scratch = (struct sl_arena){(char *)job.key + at, 0, scratch};
	s = sl_sort(&sl_sort_cpu, &x, &job);
	if (s == SL_OK && memcmp(key, job.key, key_bytes(t)) != 0)
		s = sl_fail(SL_CHECK_FAILED, "the keys differ from those of sort/cpu");
	sl_memory_give(SL_HOST, job.key);
	return s;
}

static enum sl_status right(const struct sl_trial *t)
{
	void *const *out = &t->result[t->set.in_place ? KEY : KEY_OUT];

	return t->set.keys_only
	               ? compare_keys(t, out[KEY])
	               : compare(&t->set, t->input, out[KEY], (const uint32_t *)out[INDEX]);
}

/* If the output keys are not checked, a backend may leave anything in them. */
static void answer_bytes(const struct sl_trial *t, uint64_t bytes[SL_TRIAL_BLOCKS])
{
	if (t->set.key_spent)
		bytes[t->set.in_place ? KEY : KEY_OUT] = 0;
}

/* Lower bound: every key, or pair, is read once and written once. */
static uint64_t bytes_moved(const struct sl_trial *t)
{
	size_t index_bytes = t->set.keys_only ? 0 : sizeof(uint32_t);

	return 2 * (uint64_t)t->set.n * (sl_type_bytes(t->set.type) + index_bytes);
}

const struct sl_case sl_case_sort = {
	SL_SORT, describe, make, run, right, answer_bytes, bytes_moved};
