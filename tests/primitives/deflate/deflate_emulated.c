/*
 * deflate_emulated.c - compares the device encoders, on the emulated device, with the specification
 * byte for byte: every kind of input and split, threads in any order.
 */
#include "primitives/emulator/settings.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_inputs.h"
#include "tests/support/formats/deflate_sweep.h"

/* Sizes with more segments and streams than the device handles at a time; a few with a sanitizer. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { LARGEST = 60000, JOBS = 4 };
#else
enum { LARGEST = 360000, JOBS = 8 };
#endif

static const struct sl_backend *encoder;

static void every_size_kind_and_split(void **state)
{
	(void)state;
	deflate_sweep(encoder, LARGEST);
}

/* More segments than a warp has lanes. */
static void streams_of_many_segments(void **state)
{
	enum { BYTES = 33 * 32768 + 9 };
	static uint8_t in[BYTES];

	(void)state;
	deflate_input_make(DEFLATE_CONSTANT, BYTES, in);
	in[BYTES / 2] = 0;
	deflate_check(encoder, in, BYTES, (struct deflate_try){.wrapper = SL_GZIP, .exact = true});
}

static void random_jobs(void **state)
{
	(void)state;
	deflate_random_jobs(encoder, JOBS, LARGEST);
}

static void joined_parts(void **state)
{
	(void)state;
	deflate_check_parts(encoder, 40000);
}

static void no_room(void **state)
{
	(void)state;
	deflate_check_full_output(encoder);
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
			deflate_random(encoder, 100 + 3 * i + k, 4000);
	}
	sl_emulator_set_settings(&schedules[0]);
}

TEST_FILE(argc, argv)
{
	static const char *const encoders[] = {"device", "device_fast"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_kind_and_split),
		cmocka_unit_test(streams_of_many_segments),
		cmocka_unit_test(random_jobs),
		cmocka_unit_test(joined_parts),
		cmocka_unit_test(no_room),
		cmocka_unit_test(every_schedule_gives_the_same),
	};
	int failed = 0;

	sl_device_emulate(true);
	for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
		encoder = deflate_backend(encoders[i]);
		failed += cmocka_run_group_tests_name(encoders[i], tests, NULL, NULL);
	}
	return failed;
}
