/*
 * backends.c - compares every backend of the host and of the emulated device with the
 * specification, by random jobs; and checks the catalog of backends. A build with a sanitizer then
 * checks the kernels from inside.
 */
#include "tests/cases/jobs.h"
#include "tests/support/basic/check.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

TEST(every_backend_of_the_host_is_right)
{
	assert_ok(sl_jobs_run(&(struct sl_jobs){SL_HOST, 700, 700, 14, UINT32_MAX}));
}

/*
 * A switch between threads costs about 40 ns, 100 ns under AddressSanitizer and 2 us under
 * valgrind.
 */
TEST(every_emulated_backend_is_right)
{
	sl_device_emulate(true);
	sl_sampling_one_in(RUNNING_ON_VALGRIND ? 7 : 1);
	assert_ok(sl_jobs_run(&(struct sl_jobs){SL_DEVICE, 70, 14, 0, 10000}));
}

TEST(every_backend_has_one_primitive_and_is_found)
{
	const struct sl_backend *b, *found;
	size_t i;

	for (i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		assert_int_equal(b->scan != NULL, b->primitive == SL_SCAN);
		assert_int_equal(b->compact != NULL, b->primitive == SL_COMPACT);
		assert_int_equal(b->sort != NULL, b->primitive == SL_SORT);
		assert_int_equal(b->deflate != NULL, b->primitive == SL_DEFLATE);
		assert_int_equal(b->expand != NULL, b->primitive == SL_EXPAND);
		assert_non_null(b->scratch);
		assert_true(strlen(b->help) > 0);
		assert_ok(sl_find(b->primitive, b->name, &found));
		assert_ptr_equal(found, b);
	}
	assert_true(i >= 4);
	assert_null(sl_backend_at(i));
}
