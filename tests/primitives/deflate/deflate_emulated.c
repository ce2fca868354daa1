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

TEST(every_size_kind_and_split)
{
	deflate_sweep(encoder, LARGEST);
}

/* More segments than a warp has lanes. */
TEST(streams_of_many_segments)
{
	enum { BYTES = 33 * 32768 + 9 };
	static uint8_t in[BYTES];

	deflate_input_make(DEFLATE_CONSTANT, BYTES, in);
	in[BYTES / 2] = 0;
	deflate_check(encoder, in, BYTES, (struct deflate_try){.wrapper = SL_GZIP, .exact = true});
}

TEST(random_jobs)
{
	deflate_random_jobs(encoder, JOBS, LARGEST);
}

TEST(joined_parts)
{
	deflate_check_parts(encoder, 40000);
}

TEST(no_room)
{
	deflate_check_full_output(encoder);
}

TEST(every_schedule_gives_the_same)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 2, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 7, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 3, .turing = true, .memory_bytes = 1 << 30},
	};

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
	int failed = 0;

	sl_device_emulate(true);
	for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
		encoder = deflate_backend(encoders[i]);
		failed += run_test_file(encoders[i]);
	}
	return failed;
}
