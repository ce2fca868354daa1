/*
 * backends_gpu.c - compares every device backend with the specification, by random jobs up to
 * 2^20+3 items and by given ones of 2^24+3 and 2^28, beyond the exact integers of a float.
 *
 * The test is skipped without a device.
 */
#include <stdio.h>

#include "primitives/base/clock.h"
#include "tests/cases/cross_check.h"
#include "tests/cases/jobs.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

TEST(every_device_backend_is_right)
{
	assert_ok(sl_jobs_run(&(struct sl_jobs){SL_DEVICE, 700, 350, 140, (1 << 20) + 3}));
}

/* --- large sizes ------------------------------------------------------------------------------ */

enum { MIDDLE = (1 << 24) + 3, LARGE = 1 << 28, BACKENDS_MOST = 64 };

static const struct {
	enum sl_primitive primitive;
	struct sl_setting set;
} large[] = {
	{SL_SCAN, {.type = SL_U32, .input = SL_INPUT_RANDOM}},
	{SL_SCAN, {.type = SL_U64, .input = SL_INPUT_LARGEST, .inclusive = true}},
	{SL_SCAN, {.type = SL_F32, .input = SL_INPUT_RANDOM, .inclusive = true}},
	{SL_SCAN, {.type = SL_F64, .input = SL_INPUT_RANDOM, .in_place = true}},
	{SL_COMPACT, {.alive = SL_ALIVE_HALF}},
	{SL_COMPACT, {.alive = SL_ALIVE_ALL}},
	{SL_COMPACT, {.alive = SL_ALIVE_HALF, .columns = {2, 8}}}, /* beyond 2^31 bytes */
	{SL_EXPAND, {.type = SL_U32, .alive = SL_ALIVE_HALF}},
	{SL_EXPAND, {.type = SL_U64, .alive = SL_ALIVE_1_PERCENT, .columns = {2, 8}}},
	{SL_EXPAND, {.type = SL_U32, .alive = SL_ALIVE_ONE, .form = SL_RUN_COUNTS}},
	{SL_EXPAND, {.type = SL_U32, .alive = SL_ALIVE_ALL, .n_runs = 1000}},
	{SL_SORT, {.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32}},
	{SL_SORT, {.type = SL_U64, .input = SL_INPUT_RANDOM, .end_bit = 64}},
	{SL_SORT, {.type = SL_U32, .input = SL_INPUT_FEW, .begin_bit = 3, .end_bit = 17}},
	{SL_SORT, {.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32, .in_place = true}},
	{SL_SORT, {.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32, .keys_only = true}},
	{SL_SORT, {.type = SL_U64, .input = SL_INPUT_RANDOM, .end_bit = 64, .keys_only = true}},
};

/*
 * Estimated seconds of LARGE items with each backend, by the index in the catalog. Those of more
 * than 5 are left out.
 */
static double seconds[BACKENDS_MOST];

/* SL_DEVICE_MEMORY is no failure of a backend: the device is too small for the job. */
static enum sl_status unless_too_small(enum sl_status s)
{
	if (s != SL_DEVICE_MEMORY)
		return s;
	printf("a job is left out: %s\n", sl_last_error());
	return SL_OK;
}

/* Twice: the first answer is checked on the host, the others on the device. */
static enum sl_status run_large(struct sl_cross_check *c, const struct sl_backend *b, size_t i)
{
	uint64_t began;
	enum sl_status s = SL_OK;

	if (c->trial.set.n == LARGE && seconds[i] > 5) {
		printf("%s/%s is left out: it would take %.0f s\n", sl_primitive_name(b->primitive),
			b->name, seconds[i]);
		return SL_OK;
	}
	s = sl_cross_check_select(c, b, (struct sl_tuning){0});
	if (s == SL_OK && !c->is_answered)
		s = sl_cross_check_run(c);
	began = sl_now_ns();
	if (s == SL_OK)
		s = sl_cross_check_run(c);
	seconds[i] = 1e-9 * (double)(sl_now_ns() - began) * LARGE / c->trial.set.n;
	return sl_add_context(s, "%s/%s", sl_primitive_name(b->primitive), b->name);
}

static enum sl_status try_large(enum sl_primitive p, const struct sl_setting *set)
{
	const struct sl_backend *b;
	enum sl_status s = SL_OK;
	struct sl_cross_check c;
	char text[128];

	SL_TRY(unless_too_small(sl_cross_check_open(p, set, &c)));
	for (size_t i = 0; s == SL_OK && i < BACKENDS_MOST && (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == p && b->space == SL_DEVICE &&
			!(b->integers_only && sl_type_is_float(set->type)))
			s = unless_too_small(run_large(&c, b, i));
	sl_case_of(p)->describe(set, text, sizeof(text));
	sl_cross_check_close(&c);
	return sl_add_context(s, "n=%u, %s", set->n, text);
}

TEST(large_sizes_are_right)
{
	static const uint32_t sizes[] = {MIDDLE, LARGE};

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
			struct sl_setting set = large[i].set;

			set.n = sizes[k];
			if (!sl_sampling_skips_size(set.n))
				assert_ok(try_large(large[i].primitive, &set));
		}
}

BEFORE_TESTS()
{
	skip_without_device();
}
