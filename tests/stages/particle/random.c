/* random.c - compares Philox with its published output, and tests the limits of sl_uniform(). */
#include <stdio.h>
#include <string.h>

#include "stages/particle/random.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

/* philox COUNTER(4) KEY(2) WORDS(4) */
static void check_philox(const char *line)
{
	struct sl_words c, want;
	uint32_t key[2];

	assert_int_equal(10, sscanf(line, "philox %x %x %x %x %x %x %x %x %x %x", &c.at[0],
				     &c.at[1], &c.at[2], &c.at[3], &key[0], &key[1], &want.at[0],
				     &want.at[1], &want.at[2], &want.at[3]));
	c = sl_philox(c, key[0], key[1]);
	assert_memory_equal(&c, &want, sizeof(c));
}

/* draw SEED ID K WORDS(8) */
static void check_draw(const char *line)
{
	unsigned long long seed, id, k;
	uint32_t want[8];

	assert_int_equal(11, sscanf(line, "draw %llu %llu %llu %x %x %x %x %x %x %x %x", &seed, &id,
				     &k, &want[0], &want[1], &want[2], &want[3], &want[4], &want[5],
				     &want[6], &want[7]));
	for (uint64_t i = 0; i < 8; i++) {
		struct sl_words block = sl_draw(seed, id, (k + i) / 4);

		assert_int_equal(want[i], block.at[(k + i) % 4]);
	}
}

TEST(published_output_is_reproduced)
{
	FILE *f = open_source("data/reference/philox.txt");
	char line[LINE_BYTES];
	int n_philox = 0, n_draw = 0;

	while (next_line(f, line)) {
		if (strncmp(line, "philox ", 7) == 0) {
			check_philox(line);
			n_philox++;
		} else {
			check_draw(line);
			n_draw++;
		}
	}
	fclose(f);
	assert_int_equal(3, n_philox);
	assert_int_equal(4, n_draw);
}

/* Each 32-bit half of seed, id and block has a separate word of key or counter. */
TEST(all_bits_of_the_input_matter)
{
	uint64_t seed = 0xdeadbeefcafebabeu, id = 0x8000000000000010u, block = 0x123456789u;
	struct sl_words counter = {{0x23456789u, 0x1u, 0x00000010u, 0x80000000u}};
	struct sl_words want = sl_philox(counter, 0xcafebabeu, 0xdeadbeefu);
	struct sl_words got = sl_draw(seed, id, block);

	assert_memory_equal(&got, &want, sizeof(got));
}

/* All comparisons are of equal floats: the values are exact. */
TEST(uniform_has_the_limits_of_curand)
{
	assert_true(sl_uniform(0) == 0x1p-33f);
	assert_true(sl_uniform(1) == 0x1.8p-32f);
	assert_true(sl_uniform(0x80000000u) == 0.5f);
	assert_true(sl_uniform(0xffffff7fu) == 0x1.fffffep-1f); /* the last below 1 */
	assert_true(sl_uniform(0xffffff80u) == 1.0f);
	assert_true(sl_uniform(0xffffffffu) == 1.0f);
}

TEST(uniform_is_monotonic)
{
	float before = 0;

	for (uint64_t word = 0; word <= UINT32_MAX; word += 509) {
		float u = sl_uniform((uint32_t)word);

		assert_true(u >= before && u > 0 && u <= 1);
		before = u;
	}
}
