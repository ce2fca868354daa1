/* record_copy.c - records of all sizes are copied whole, and nothing before or after the copy is written. */
#include "primitives/base/record_copy.h"

#include <stdint.h>

#include "tests/support/basic/check.h"

enum { MOST = 130, GUARD = 16, FILL = 0xa5 };

TEST(only_the_record_is_copied)
{
	uint8_t record[MOST], copy[GUARD + MOST + GUARD];

	for (size_t i = 0; i < MOST; i++)
		record[i] = (uint8_t)(i + 1);
	for (size_t bytes = 0; bytes <= MOST; bytes++) {
		memset(copy, FILL, sizeof(copy));
		sl_record_copy(copy + GUARD, record + MOST - bytes, bytes);
		assert_memory_equal(copy + GUARD, record + MOST - bytes, bytes);
		for (size_t i = 0; i < GUARD; i++) {
			assert_int_equal(copy[i], FILL);
			assert_int_equal(copy[GUARD + bytes + i], FILL);
		}
	}
}
