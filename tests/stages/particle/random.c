/* random.c - compares Philox with its published output, and tests the limits of sl_uniform(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/particle/random.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

/*
 * The lines are "philox COUNTER(4) KEY(2) WORDS(4)" and "draw SEED ID K WORDS(8)"; words are
 * hexadecimal.
 */
TEST(published_output_is_reproduced)
{
	FILE *f = open_source("data/reference/philox.txt");
	char line[LINE_BYTES];
	int n_philox = 0, n_draw = 0;

	while (next_line(f, line)) {
		bool philox = strncmp(line, "philox ", 7) == 0;
		char *at = strchr(line, ' ');
		uint64_t word[11] = {0};

		for (int k = 0; k < (philox ? 10 : 11); k++)
			word[k] = strtoull(at, &at, philox || k > 2 ? 16 : 10);
		assert_string_equal(at, "");
		if (philox) {
			struct sl_words c = {{(uint32_t)word[0], (uint32_t)word[1],
				(uint32_t)word[2], (uint32_t)word[3]}};

			c = sl_philox(c, (uint32_t)word[4], (uint32_t)word[5]);
			for (int k = 0; k < 4; k++)
				assert_int_equal(word[6 + k], c.at[k]);
		} else {
			for (uint64_t k = 0, i = word[2]; k < 8; k++, i++)
				assert_int_equal(
					word[3 + k], sl_draw(word[0], word[1], i / 4).at[i % 4]);
		}
		n_philox += philox;
		n_draw += !philox;
	}
	fclose(f);
	assert_true(n_philox == 3 && n_draw == 4);
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

/* Has the limits of cuRAND: 0xffffff7f is the last below 1. */
TEST(uniform_is_monotonic)
{
	static const struct {
		uint32_t word;
		float uniform;
	} rows[] = {{0, 0x1p-33f}, {1, 0x1.8p-32f}, {0x80000000u, 0.5f},
		{0xffffff7fu, 0x1.fffffep-1f}, {0xffffff80u, 1}, {0xffffffffu, 1}};
	float before = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(sl_uniform(rows[i].word) == rows[i].uniform);
	for (uint64_t word = 0; word <= UINT32_MAX; word += 509) {
		float u = sl_uniform((uint32_t)word);

		assert_true(u >= before && u > 0 && u <= 1);
		before = u;
	}
}
