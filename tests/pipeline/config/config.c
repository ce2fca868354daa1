/*
 * config.c - the shipped configurations, and the table of options. Texts that are refused, and
 * suggestions: tests/text/bad_configs.txt; those that are read: tests/text/config.txt; parts:
 * tests/text/parts.txt.
 */
#include <ctype.h>
#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"
#include "stages/models/models.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/configs/configs.h"

/* --- shipped configurations ------------------------------------------------------------------- */

/* The colon after the next key that begins at or after text, or NULL. */
static const char *next_key(const char *text)
{
	for (; *text; text++) {
		if (*text == '#')
			text += strcspn(text, "\n") - 1;
		else if (*text == ':' && isspace((unsigned char)text[1]))
			return text;
	}
	return NULL;
}

/*
 * The configuration is read, as it is printed too, but not with any key misspelt. A short buffer
 * cuts the text.
 */
static void check_config(const char *name, const char *text)
{
	static char edited[1 << 16];
	struct sl_reader *r;
	size_t bytes;

	resolve_good_text(text);
	bytes = sl_config_print(&config, true, NULL, 0);
	assert_int_equal(sl_config_print(&config, true, edited, 100), bytes);
	assert_int_equal(strlen(edited), 99);
	assert_int_equal(sl_config_print(&config, true, edited, bytes + 1), bytes);
	assert_int_equal(strlen(edited), bytes);
	resolve_good_text(edited);
	for (const char *at = text; (at = next_key(at)) != NULL; at++) {
		snprintf(edited, sizeof(edited), "%.*s_qqqqqqqqqqqq%s", (int)(at - text), text, at);
		if (resolve_text(edited, NULL, 0, &r) != SL_USAGE || sl_config_problems(r) == 0)
			fail_msg("%s is not refused:\n%s", name, edited);
		sl_config_close(r);
	}
}

TEST(misspelt_keys_of_shipped_configs_are_refused)
{
	static struct configs all;

	configs_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		char path[CONFIG_PATH_BYTES], *text;
		size_t bytes;

		config_path(all.name[i], path);
		assert_ok(sl_path_read(path, SL_YAML_BYTES, &text, &bytes));
		check_config(all.name[i], text);
		sl_memory_give(SL_HOST, text);
	}
}

/* --- options ---------------------------------------------------------------------------------- */

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
