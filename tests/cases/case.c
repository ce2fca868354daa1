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
	return sl_guarded_get_offset(
		t->backend->space, n * item_bytes, off * item_bytes, &t->block[t->n_blocks++]);
}

enum sl_status sl_trial_load(struct sl_trial *t, int poison)
{
	for (int i = 0; i < t->n_blocks; i++) {
		const struct sl_guarded *g = &t->block[i];

		SL_TRY(t->given[i] ? sl_copy(g->at, t->given[i], g->bytes, NULL)
				   : sl_fill(g->at, poison, g->bytes, NULL));
	}
	return sl_fill(t->scratch.at, poison, t->scratch.bytes, NULL);
}

void sl_describe_offsets(const struct sl_setting *set, char *text, size_t size)
{
	size_t used = strlen(text);

	if (set->off[0] || set->off[1])
		snprintf(text + used, size - used, ", %u and %u items off", set->off[0],
			set->off[1]);
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
	for (int i = 0; i < t->n_blocks; i++)
		if (t->given[i] && !t->set.in_place &&
			memcmp(t->result[i], t->given[i], t->block[i].bytes) != 0)
			return sl_fail(
				SL_CHECK_FAILED, "block %d, an input, has been written to", i);
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
