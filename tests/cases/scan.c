/*
 * scan.c - the test case of scan: u32, u64, f32 and f64, exclusive or inclusive, in place or not, any
 * alignment.
 */
#include "case.h"

#include <stdio.h>
#include <string.h>

enum { IN, OUT };

/* The block of the sum is the last one. */
static bool has_sum(const struct sl_setting *set)
{
	return set->sum && sl_type_is_float(set->type);
}

static bool sum_alone(const struct sl_setting *set)
{
	return has_sum(set) && set->keys_only;
}

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	snprintf(text, size, "%s, %s, %s%s%s", sl_type_text(set->type),
		sl_distribution_name(set->input), set->inclusive ? "inclusive" : "exclusive",
		set->in_place ? ", in place" : "",
		sum_alone(set) ? ", sum alone"
		: set->sum     ? ", and sum"
			       : "");
	sl_describe_offsets(set, text, size);
}

static enum sl_status make(struct sl_trial *t)
{
	size_t item_bytes = sl_type_bytes(t->set.type);
	struct sl_shape shape = {
		.sum = has_sum(&t->set), .type = t->set.type, .tuning = t->set.tuning};

	sl_trial_count(t);
	shape.n = t->most;
	SL_TRY(sl_memory_get(SL_HOST, t->set.n * item_bytes, &t->input));
	sl_input_fill(t->set.input, t->set.type, t->set.n, t->input);
	SL_TRY(sl_trial_block(t, t->set.n, item_bytes, t->set.off[IN], t->input));
	if (!t->set.in_place)
		SL_TRY(sl_trial_block(t, t->set.n, item_bytes, t->set.off[OUT], NULL));
	SL_TRY(sl_trial_count_block(t));
	if (has_sum(&t->set))
		SL_TRY(sl_trial_block(t, 1, item_bytes, 0, NULL));
	return sl_trial_scratch(t, &shape);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_scan_job job = {.in = t->block[IN].at,
		.out = sum_alone(&t->set) ? NULL : t->block[t->set.in_place ? IN : OUT].at,
		.n = t->most,
		.n_on_device = t->n_on_device,
		.n_type = t->set.n_type,
		.type = t->set.type,
		.inclusive = t->set.inclusive,
		.sum = has_sum(&t->set) ? t->block[t->n_blocks - 1].at : NULL};

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

/* --- floating-point items: the definition in primitives.h, node by node ------------------------ */

struct ordered {
	const struct sl_setting *set;
	const void *in, *out;
	double before[8]; /* c(level) of the current item */
	uint32_t wrong;   /* the first wrong item; n: none */
};

static double rounded(const struct ordered *o, double sum)
{
	return o->set->type == SL_F32 ? (double)(float)sum : sum;
}

/* The addition of the type. Twice rounded is right for a float: 53 bits are twice 24 and more. */
static double add(const struct ordered *o, double a, double b)
{
	return rounded(o, a + b);
}

static double float_at(const struct ordered *o, const void *items, uint64_t i)
{
	return o->set->type == SL_F32 ? (double)((const float *)items)[i]
	                              : ((const double *)items)[i];
}

static bool same_bits(const struct ordered *o, uint64_t i, double want)
{
	const uint64_t nan = UINT64_C(0x7ff8000000000000), nan32 = 0x7fc00000;
	const float narrow = (float)want;
	const uint64_t got = sl_item(o->out, o->set->type == SL_F32 ? SL_U32 : SL_U64, (uint32_t)i);
	uint64_t bits = 0;

	if (want != want)
		return got == (o->set->type == SL_F32 ? nan32 : nan);
	if (o->set->type == SL_F32)
		memcpy(&bits, &narrow, sizeof(narrow));
	else
		memcpy(&bits, &want, sizeof(want));
	return got == bits;
}

/* Compares the items of a node of a level, of which the first is `first`; returns its sum. */
static double check_node(struct ordered *o, int level, uint64_t first)
{
	const uint64_t step = UINT64_C(1) << 4 * level;
	double sum = 0;

	for (uint64_t i = first; i < first + 16 * step && i < o->set->n; i += step) {
		const double own = level > 0 ? 0 : float_at(o, o->in, i);
		double all;

		o->before[level] = level == 0 && o->set->inclusive ? add(o, sum, own) : sum;
		if (level > 0) {
			sum = add(o, sum, check_node(o, level - 1, i));
			continue;
		}
		sum = add(o, sum, own);
		all = o->before[0];
		for (int k = 1; k < 8; k++)
			all = add(o, o->before[k], all);
		if (!sum_alone(o->set) && !same_bits(o, i, all) && o->wrong > i)
			o->wrong = (uint32_t)i;
	}
	return sum;
}

static enum sl_status compare_floats(
	const struct sl_setting *set, const void *in, const void *out, const void *all)
{
	struct ordered o = {.set = set, .in = in, .out = out, .wrong = set->n};

	const double sum = check_node(&o, 7, 0);

	o.out = all ? all : out;
	if (all && !same_bits(&o, 0, sum))
		return sl_fail(SL_CHECK_FAILED, "the sum of all is wrong");
	if (o.wrong == set->n)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED, "sum %u is %a, which is not in the stated order", o.wrong,
		float_at(&o, out, o.wrong));
}

static enum sl_status right(const struct sl_trial *t)
{
	const void *out = t->result[t->set.in_place ? IN : OUT];
	const void *all = has_sum(&t->set) ? t->result[t->n_blocks - 1] : NULL;

	if (sl_type_is_float(t->set.type))
		return compare_floats(&t->set, t->input, out, all);
	return compare(&t->set, t->input, out);
}

static uint64_t bytes_moved(const struct sl_trial *t)
{
	return 2 * (uint64_t)t->set.n * sl_type_bytes(t->set.type);
}

const struct sl_case sl_case_scan = {SL_SCAN, describe, make, run, right, NULL, bytes_moved};
