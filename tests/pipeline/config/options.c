/* options.c - the option tables: order of the entries, and lookup of keys. */
#include "pipeline/text/messages.h"
#include "pipeline/config/options.h"

#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "tests/support/basic/check.h"

/* Printing opens each section once, so the options of a section must be adjacent. */
TEST(options_of_a_section_are_adjacent)
{
	char path[SL_KEY_BYTES], section[SL_KEY_BYTES], other[SL_KEY_BYTES];

	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		for (size_t i = 0; sl_option_at(sl_models[m], i, path); i++) {
			bool adjacent = true;

			snprintf(section, sizeof(section), "%.*s", (int)(sl_key_leaf(path) - path),
				path);
			for (size_t j = i; *section && j-- > 0;) {
				bool inside;

				sl_option_at(sl_models[m], j, other);
				inside = strncmp(other, section, strlen(section)) == 0;
				if (inside && !adjacent)
					fail_msg("%s is not adjacent to %s", path, other);
				adjacent = adjacent && inside;
			}
		}
	}
}

/* Every path is found exactly once; the reader has space for all paths and sections. */
TEST(options_are_found_by_path)
{
	char path[SL_KEY_BYTES], other[SL_KEY_BYTES];
	const struct sl_option *o;

	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		size_t n = 0;

		for (; (o = sl_option_at(sl_models[m], n, path)); n++) {
			const struct sl_model *model;

			assert_ptr_equal(sl_option_find(path, &model), o);
			assert_ptr_equal(model, n < sl_n_options ? NULL : sl_models[m]);
			assert_non_null(o->help);
			assert_false(o->required && o->fallback);
			for (size_t j = 0; j < n; j++) {
				sl_option_at(sl_models[m], j, other);
				assert_string_not_equal(path, other);
			}
		}
		assert_true(2 * n < SL_SEEN_MAX);
	}
}

TEST(suggestions_are_the_nearest_words)
{
	static const char *const words[] = {"seed", "particles", "batch", "max_steps", "x"};
	static const char *const swapped[] = {"to", "a____b"};

	assert_string_equal(sl_nearest("sede", words, 5), "seed");
	assert_string_equal(sl_nearest("PARTICLE", words, 5), "particles");
	assert_string_equal(sl_nearest("max-stpes", words, 5), "max_steps");
	assert_string_equal(sl_nearest("ot", swapped, 2), "to");
	assert_string_equal(sl_nearest("A----B", swapped, 2), "a____b");
	assert_null(sl_nearest("colour", words, 5));
	assert_null(sl_nearest("", words, 5));
	assert_null(sl_nearest("y", words, 5));
	/* a word of three letters may have one wrong letter */
	assert_null(sl_nearest("foo", swapped, 2));
	assert_null(sl_nearest("seed", words, 0));
}
