/*
 * backends_host.c - compares every host backend with the specification, and checks the catalog of
 * backends.
 */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"

TEST(every_host_backend_is_right)
{
	uint64_t trials;

	assert_ok(sl_sweep_space(SL_HOST, &trials));
	printf("%llu trials\n", (unsigned long long)trials);
}

TEST(every_backend_has_one_primitive)
{
	const struct sl_backend *b;
	size_t i;

	for (i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		assert_int_equal(b->scan != NULL, b->primitive == SL_SCAN);
		assert_int_equal(b->compact != NULL, b->primitive == SL_COMPACT);
		assert_int_equal(b->sort != NULL, b->primitive == SL_SORT);
		assert_int_equal(b->deflate != NULL, b->primitive == SL_DEFLATE);
		assert_non_null(b->scratch);
		assert_true(strlen(b->help) > 0);
	}
	assert_true(i >= 4);
	assert_null(sl_backend_at(i));
}

TEST(every_backend_is_found)
{
	const struct sl_backend *b, *found;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		assert_ok(sl_find(b->primitive, b->name, &found));
		assert_ptr_equal(found, b);
	}
}

BEFORE_TESTS()
{
	/* Large blocks are used again and not given back to the system: page faults took half the time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}
