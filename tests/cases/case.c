/* case.c - what all cases share. */
#include "case.h"

#include <stdio.h>
#include <string.h>

const struct sl_case *sl_case_of(enum sl_primitive p)
{
	return p == SL_SCAN      ? &sl_case_scan
	       : p == SL_COMPACT ? &sl_case_compact
	       : p == SL_SORT    ? &sl_case_sort
	       : p == SL_EXPAND  ? &sl_case_expand
	                         : NULL;
}

void sl_trial_free(struct sl_trial *t)
{
	sl_memory_give(SL_HOST, t->input);
	for (int i = 0; i < t->n_blocks; i++)
		sl_guarded_give(&t->block[i]);
	sl_guarded_give(&t->scratch);
	memset(t, 0, sizeof(*t));
}

enum sl_status sl_trial_scratch(struct sl_trial *t, const struct sl_shape *shape)
{
	t->scratch_bytes = sl_scratch(t->backend, shape);
	return sl_guarded_get(t->backend->space, t->scratch_bytes, &t->scratch);
}

enum sl_status sl_trial_block(
	struct sl_trial *t, uint32_t n, size_t item_bytes, uint32_t off, const void *given)
{
	t->given[t->n_blocks] = given;
	t->unused[t->n_blocks] = t->set.spare * item_bytes;
	return sl_guarded_get_offset(t->backend->space, (n + (size_t)t->set.spare) * item_bytes,
		off * item_bytes, &t->block[t->n_blocks++]);
}

void sl_trial_count(struct sl_trial *t)
{
	t->most = t->set.n + t->set.spare;
	t->count = t->set.n + t->set.excess;
}

/* The words of the machine are little-endian: the low half of the count is its u32. */
enum sl_status sl_trial_count_block(struct sl_trial *t)
{
	if (!t->set.counted)
		return SL_OK;
	SL_TRY(sl_trial_block(t, 1, sl_type_bytes(t->set.n_type), 0, &t->count));
	t->n_on_device = t->block[t->n_blocks - 1].at;
	return SL_OK;
}

enum sl_status sl_trial_load(struct sl_trial *t, int poison)
{
	for (int i = 0; i < t->n_blocks; i++) {
		const struct sl_guarded *g = &t->block[i];

		SL_TRY(sl_fill(g->at, poison, g->bytes, NULL));
		if (t->given[i])
			SL_TRY(sl_copy(g->at, t->given[i], g->bytes - t->unused[i], NULL));
	}
	t->poison = poison;
	return sl_fill(t->scratch.at, poison, t->scratch.bytes, NULL);
}

void sl_describe_offsets(const struct sl_setting *set, char *text, size_t size)
{
	size_t used = strlen(text);

	if (set->off[0] || set->off[1])
		used += (size_t)snprintf(text + used, size - used, ", %u and %u items off",
			set->off[0], set->off[1]);
	if (set->counted && used < size)
		snprintf(text + used, size - used, ", n on the device as %s, of %u more, +%llu",
			set->n_type == SL_U32 ? "u32" : "u64", set->spare,
			(unsigned long long)set->excess);
}

struct sl_exec sl_trial_exec(const struct sl_trial *t)
{
	return (struct sl_exec){
		t->backend->space, NULL, {t->scratch.at, 0, t->scratch_bytes}, t->set.tuning};
}

enum sl_status sl_trial_canaries(const struct sl_trial *t)
{
	char name[24];

	for (int i = 0; i < t->n_blocks; i++) {
		snprintf(name, sizeof(name), "block %d", i);
		SL_TRY(sl_guarded_check(&t->block[i], name));
	}
	return sl_guarded_check(&t->scratch, "scratch");
}

static enum sl_status fetch(struct sl_trial *t)
{
	for (int i = 0; i < t->n_blocks; i++) {
		SL_TRY(sl_memory_get(SL_HOST, t->block[i].bytes, &t->result[i]));
		SL_TRY(sl_copy(t->result[i], t->block[i].at, t->block[i].bytes, NULL));
	}
	return sl_stream_wait(NULL);
}

static enum sl_status compare(const struct sl_case *c, struct sl_trial *t)
{
	SL_TRY(sl_trial_canaries(t));
	SL_TRY(fetch(t));
	for (int i = 0; i < t->n_blocks; i++) {
		const size_t used = t->block[i].bytes - t->unused[i];
		const unsigned char *at = (const unsigned char *)t->result[i];

		if (t->given[i] && !t->set.in_place && memcmp(at, t->given[i], used) != 0)
			return sl_fail(
				SL_CHECK_FAILED, "block %d, an input, has been written to", i);
		for (size_t k = used; k < t->block[i].bytes; k++)
			if (at[k] != (unsigned char)t->poison)
				return sl_fail(SL_CHECK_FAILED,
					"block %d has been written to after item n - 1, at byte %zu",
					i, k);
	}
	return c->right(t);
}

enum sl_status sl_trial_right(const struct sl_case *c, struct sl_trial *t)
{
	const enum sl_status s = compare(c, t);

	for (int i = 0; i < t->n_blocks; i++) {
		sl_memory_give(SL_HOST, t->result[i]);
		t->result[i] = NULL;
	}
	return s;
}
