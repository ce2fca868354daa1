/*
 * deflate_emulated.c - compares the device encoder, on the emulated device, with the specification
 * byte for byte: every kind of input and split, threads in any order.
 */
#include "primitives/emulator/settings.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"

/* Several segments more than the device does at a time, and streams; under a sanitizer a few. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { LARGEST = 60000, JOBS = 4 };
#else
enum { LARGEST = 360000, JOBS = 8 };
#endif

static const struct sl_backend *device(void)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_DEFLATE, "device", &b));
	return b;
}

static void every_size_kind_and_cut(void **state)
{
	(void)state;
	deflate_sweep(device(), LARGEST);
}

/* More segments than a warp has lanes. */
static void a_long_stream(void **state)
{
	enum { BYTES = 33 * 32768 + 9 };
	static uint8_t in[BYTES];

	(void)state;
	deflate_input_make(DEFLATE_CONSTANT, BYTES, in);
	in[BYTES / 2] = 0;
	deflate_check(device(), in, BYTES, (struct deflate_try){.wrapper = SL_GZIP, .exact = true});
}

static void any_job(void **state)
{
	(void)state;
	deflate_random_jobs(device(), JOBS, LARGEST);
}

static void no_room(void **state)
{
	(void)state;
	deflate_without_room(device());
}

static void every_schedule_gives_the_same(void **state)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 2, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 7, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 3, .turing = true, .memory_bytes = 1 << 30},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		sl_emulator_set_settings(&schedules[i]);
		for (uint64_t k = 0; k < 3; k++)
			deflate_random(device(), 100 + 3 * i + k, 4000);
	}
	sl_emulator_set_settings(&schedules[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_kind_and_cut),
		cmocka_unit_test(a_long_stream),
		cmocka_unit_test(any_job),
		cmocka_unit_test(no_room),
		cmocka_unit_test(every_schedule_gives_the_same),
	};

	sl_device_emulate(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
