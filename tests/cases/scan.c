/*
 * scan.c - the test case of scan: u32 and u64, exclusive or inclusive, in place or not, any
 * alignment.
 */
#include "case.h"

#include <stdio.h>

enum { IN, OUT };

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	snprintf(text, size, "%s, %s, %s%s", set->type == SL_U32 ? "u32" : "u64",
		sl_distribution_name(set->input), set->inclusive ? "inclusive" : "exclusive",
		set->in_place ? ", in place" : "");
	sl_describe_offsets(set, text, size);
}

static enum sl_status make(struct sl_trial *t)
{
	size_t item_bytes = sl_type_bytes(t->set.type);
	struct sl_shape shape = {.type = t->set.type, .tuning = t->set.tuning};

	sl_trial_count(t);
	shape.n = t->most;
	SL_TRY(sl_memory_get(SL_HOST, t->set.n * item_bytes, &t->input));
	sl_input_fill(t->set.input, t->set.type, t->set.n, t->input);
	SL_TRY(sl_trial_block(t, t->set.n, item_bytes, t->set.off[IN], t->input));
	if (!t->set.in_place)
		SL_TRY(sl_trial_block(t, t->set.n, item_bytes, t->set.off[OUT], NULL));
	SL_TRY(sl_trial_count_block(t));
	return sl_trial_scratch(t, &shape);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_scan_job job = {.in = t->block[IN].at,
		.out = t->block[t->set.in_place ? IN : OUT].at,
		.n = t->most,
		.n_on_device = t->n_on_device,
		.n_type = t->set.n_type,
		.type = t->set.type,
		.inclusive = t->set.inclusive};

	return sl_scan(t->backend, &x, &job);
}

static enum sl_status compare(const struct sl_setting *set, const void *in, const void *out)
{
	uint64_t mask = set->type == SL_U32 ? UINT32_MAX : UINT64_MAX;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		uint64_t after = sum + sl_item(in, set->type, i);
		uint64_t want = (set->inclusive ? after : sum) & mask;

		if (sl_item(out, set->type, i) != want)
			return sl_fail(SL_CHECK_FAILED, "sum %u is %llu, not %llu", i,
				(unsigned long long)sl_item(out, set->type, i),
				(unsigned long long)want);
		sum = after;
	}
	return SL_OK;
}

static enum sl_status right(const struct sl_trial *t)
{
	return compare(&t->set, t->input, t->result[t->set.in_place ? IN : OUT]);
}

static uint64_t bytes_moved(const struct sl_trial *t)
{
	return 2 * (uint64_t)t->set.n * sl_type_bytes(t->set.type);
}

const struct sl_case sl_case_scan = {SL_SCAN, describe, make, run, right, NULL, bytes_moved};
