/*
 * large.c - tests every device backend at 2^24+3 and 2^28 items: beyond the exact integers of a
 * float, with many tiles and large grids.
 *
 * Each job is made and checked on the host once. All backends run it, and the device compares their
 * answers. A job that does not fit into device memory, or would take too long, is left out with a
 * message. The test is skipped without a device.
 */
#include <stdio.h>

#include "primitives/base/clock.h"
#include "tests/cases/cross_check.h"
#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

enum { MIDDLE = (1 << 24) + 3, LARGE = 1 << 28 };

/* A backend that would need more seconds for a job does not run it. */
static const double seconds_most = 5;

/* Seconds of the last job of each backend, by the index in the catalog. */
enum { BACKENDS_MOST = 64 };
static double seconds[BACKENDS_MOST];

static bool would_take_long(size_t i, uint32_t n)
{
	return n == LARGE && i < BACKENDS_MOST &&
	       seconds[i] * ((double)LARGE / (double)MIDDLE) > seconds_most;
}

/* Runs the job with backend i and counts it. */
static enum sl_status try_backend(
	struct sl_cross_check *c, const struct sl_backend *b, size_t i, uint64_t *trials)
{
	const struct sl_tuning own = {0};
	uint64_t began;
	enum sl_status s;

	if (would_take_long(i, c->trial.set.n)) {
		printf("%s/%s is left out: it would take %.0f s\n", sl_primitive_name(b->primitive),
			b->name, seconds[i] * ((double)LARGE / (double)MIDDLE));
		return SL_OK;
	}
	s = sl_cross_check_select(c, b, own);
	if (s == SL_OK && !c->is_answered) /* the host checks it: not what is timed below */
		s = sl_cross_check_run(c);
	began = sl_now_ns();
	if (s == SL_OK)
		s = sl_cross_check_run(c);
	if (i < BACKENDS_MOST)
		seconds[i] = 1e-9 * (double)(sl_now_ns() - began);
	*trials += s == SL_OK;
	return sl_add_context(s, "%s/%s", sl_primitive_name(b->primitive), b->name);
}

/* SL_DEVICE_MEMORY is no failure of a backend: the device is too small for the job. */
static enum sl_status unless_too_small(enum sl_status s)
{
	if (s != SL_DEVICE_MEMORY)
		return s;
	printf("a job is left out: %s\n", sl_last_error());
	return SL_OK;
}

static enum sl_status try_job(enum sl_primitive p, const struct sl_setting *set, uint64_t *trials)
{
	const struct sl_backend *b;
	enum sl_status s = SL_OK;
	struct sl_cross_check c;
	char text[128];

	SL_TRY(unless_too_small(sl_cross_check_open(p, set, &c)));
	for (size_t i = 0; s == SL_OK && c.of && (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == p && b->space == SL_DEVICE)
			s = unless_too_small(try_backend(&c, b, i, trials));
	sl_case_of(p)->describe(set, text, sizeof(text));
	sl_cross_check_close(&c);
	return sl_add_context(s, "n=%u, %s", set->n, text);
}

/* The settings, for both sizes. */
static void try_settings(enum sl_primitive p, const struct sl_setting *settings, size_t n_settings)
{
	const uint32_t sizes[] = {MIDDLE, LARGE};
	uint64_t trials = 0;

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (size_t i = 0; i < n_settings && !sl_sampling_skips_size(sizes[k]); i++) {
			struct sl_setting set = settings[i];

			set.n = sizes[k];
			assert_ok(try_job(p, &set, &trials));
		}
	printf("%llu trials\n", (unsigned long long)trials);
}

TEST(scan_of_large_sizes)
{
	static const struct sl_setting settings[] = {
		{.type = SL_U32, .input = SL_INPUT_RANDOM},
		{.type = SL_U64, .input = SL_INPUT_LARGEST, .inclusive = true},
	};

	try_settings(SL_SCAN, settings, sizeof(settings) / sizeof(settings[0]));
}

TEST(compact_of_large_sizes)
{
	static const struct sl_setting settings[] = {
		{.alive = SL_ALIVE_HALF}, {.alive = SL_ALIVE_ALL},
		{.alive = SL_ALIVE_HALF, .columns = {2, 8}}, /* beyond 2^31 bytes */
	};

	try_settings(SL_COMPACT, settings, sizeof(settings) / sizeof(settings[0]));
}

TEST(sort_of_large_sizes)
{
	static const struct sl_setting settings[] = {
		{.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32},
		{.type = SL_U64, .input = SL_INPUT_RANDOM, .end_bit = 64},
		{.type = SL_U32, .input = SL_INPUT_FEW, .begin_bit = 3, .end_bit = 17},
		{.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32, .in_place = true},
		{.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32, .keys_only = true},
		{.type = SL_U64, .input = SL_INPUT_RANDOM, .end_bit = 64, .keys_only = true},
	};

	try_settings(SL_SORT, settings, sizeof(settings) / sizeof(settings[0]));
}

BEFORE_TESTS()
{
	skip_without_device();
}
