/*
 * config.c - the shipped configurations, the table of options, suggestions, and parts of a run. Texts that are refused:
 * tests/text/bad_configs.txt; those that are read: tests/text/config.txt.
 */
#include <ctype.h>
#include <stdio.h>

#include "pipeline/config/config_print.h"
#include "pipeline/config/options.h"
#include "pipeline/config/part.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/text/messages.h"
#include "pipeline/text/yaml.h"
#include "primitives/files/read.h"
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

/* The configuration is read, as it is printed too, but not with any key misspelt. A short buffer cuts the text. */
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

TEST(suggestions_are_the_nearest_words)
{
	static const char *const words[] = {
		"seed", "particles", "batch", "max_steps", "x", "to", "a____b"};
	static const char *const rows[][2] = {{"sede", "seed"}, {"PARTICLE", "particles"},
		{"max-stpes", "max_steps"}, {"ot", "to"}, {"A----B", "a____b"}, {"colour", NULL},
		{"", NULL}, {"y", NULL}, {"foo", NULL}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *found = sl_nearest(rows[i][0], words, sizeof(words) / sizeof(words[0]));

		if ((found == NULL) != (rows[i][1] == NULL) ||
			(found && strcmp(found, rows[i][1]) != 0))
			fail_msg("'%s': %s", rows[i][0], found ? found : "nothing");
	}
	assert_null(sl_nearest("seed", words, 0));
}

/* --- parts ------------------------------------------------------------------------------------ */

TEST(names_of_parts_are_read_back)
{
	static const char *const bad[] = {"part_3_of_20", "part_003_of_20", "part_03_of_20x",
		"part_03_of_", "part_00_of_20", "part_21_of_20", "part_03", "xpart_03_of_20", ""};
	char name[SL_PART_NAME_BYTES];
	struct sl_part part = {.number = 3, .of = 20}, read;

	assert_string_equal(sl_part_name(&part, name), "part_03_of_20");
	assert_true(sl_part_find(name, &read) && read.number == 3 && read.of == 20);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (sl_part_find(bad[i], &read))
			fail_msg("'%s' is the name of a part", bad[i]);
}

/* Every batch is in one part, and no part has two batches more than another. */
TEST(batches_are_divided)
{
	for (uint64_t n = 1; n <= 40; n++)
		for (uint64_t of = 1; of <= n; of++) {
			uint64_t next = 0;

			for (uint64_t i = 1; i <= of; i++) {
				struct sl_part part = {.number = i, .of = of};
				uint64_t first, end;

				sl_part_batches(&part, n, &first, &end);
				assert_int_equal(first, next);
				assert_in_range(end - first, n / of, n / of + 1);
				next = end;
			}
			assert_int_equal(next, n);
		}
}
