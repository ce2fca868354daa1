/*
 * emulated.c - every kernel on the emulated device: the same cases as on a real one, seen from
 * inside by whatever sanitizer this is built with.
 */
#include <stdio.h>

#include "primitives/base/emulated.h"
#include "tests/cases/walk.h"
#include "tests/support/check.h"

/* A barrier costs some 40 ns a thread here, 100 under AddressSanitizer, 2 us under ThreadSanitizer.
 */
#if defined(__SANITIZE_THREAD__)
enum { LARGEST = 300 };
#else
enum { LARGEST = 5000 };
#endif

static void every_backend_is_right(void **state)
{
	uint64_t trials;

	(void)state;
	assert_ok(sl_walk_space(SL_DEVICE, &trials));
	printf("%llu trials\n", (unsigned long long)trials);
}

/* Threads in any order, several blocks in flight, blocks started from the last. */
static void every_schedule_gives_the_same(void **state)
{
	uint64_t trials;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		const struct sl_emulated_choices c = {.blocks = (uint32_t)seed + 1,
			.seed = seed,
			.from_last = seed % 2 == 1,
			.memory_bytes = (size_t)1 << 30};

		sl_emulated_choose(&c);
		assert_ok(sl_walk_space(SL_DEVICE, &trials));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_backend_is_right),
		cmocka_unit_test(every_schedule_gives_the_same),
	};

	sl_device_emulate(true);
	sl_walk_up_to(LARGEST);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
