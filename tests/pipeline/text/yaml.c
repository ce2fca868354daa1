/*
 * yaml.c - YAML parsed into a tree: access to nodes, work, and size. Refused texts:
 * tests/text/bad_configs.txt.
 */
#include "tests/support/basic/check.h"

#include <stdlib.h>

#include "pipeline/text/text.h"
#include "tests/support/basic/allocations.h"

static struct sl_yaml *tree;
static struct sl_yaml_problem problem;

static enum sl_status parse(const char *text)
{
	return sl_yaml_parse(text, strlen(text), &tree, &problem);
}

TEST(nodes_are_found_by_key_and_index)
{
	sl_node root, list, key, node;
	size_t line, column, bytes;
	uint64_t value;

	assert_ok(
		parse("a: [1, {b: \"x\\0y\"}]\n\303\274: 2 \n'c d':\n  - 18446744073709551615\n"));
	root = SL_YAML_ROOT;
	assert_int_equal(sl_yaml_kind(tree, root), SL_MAPPING);
	assert_int_equal(sl_yaml_size(tree, root), 3);
	list = sl_yaml_item(tree, root, 0, &key);
	assert_string_equal(sl_yaml_text(tree, key, NULL), "a");
	assert_int_equal(sl_yaml_kind(tree, list), SL_LIST);
	assert_int_equal(sl_yaml_size(tree, list), 2);
	node = sl_yaml_get(tree, sl_yaml_item(tree, list, 1, &key), "b");
	assert_int_equal(key, 0);
	assert_string_equal(sl_yaml_text(tree, node, &bytes), "x");
	assert_int_equal(bytes, 3);
	sl_yaml_place(tree, node, &line, &column);
	assert_true(line == 1 && column == 12);
	node = sl_yaml_get(tree, root, "\303\274");
	sl_yaml_place(tree, node, &line, &column);
	assert_true(line == 2 && column == 4); /* characters, not bytes */
	assert_true(sl_yaml_u64(tree, node, &value) && value == 2);
	node = sl_yaml_item(tree, sl_yaml_get(tree, root, "c d"), 0, NULL);
	assert_true(sl_yaml_u64(tree, node, &value) && value == UINT64_MAX);
	sl_yaml_free(tree);
}

TEST(missing_nodes_are_not_found)
{
	size_t line, column, bytes;
	uint64_t value;
	sl_node key;

	assert_ok(parse("a: [1]"));
	assert_int_equal(sl_yaml_get(tree, 1, "b"), 0);
	assert_int_equal(sl_yaml_get(tree, sl_yaml_get(tree, 1, "a"), "a"), 0);
	assert_int_equal(sl_yaml_get(tree, 0, "a"), 0);
	assert_true(sl_yaml_item(tree, 1, 1, &key) == 0 && key == 0);
	assert_int_equal(sl_yaml_item(tree, 0, 0, NULL), 0);
	assert_true(sl_yaml_size(tree, 0) == 0 && sl_yaml_size(tree, 999) == 0);
	assert_string_equal(sl_yaml_text(tree, 1, &bytes), "");
	assert_int_equal(bytes, 0);
	sl_yaml_place(tree, 0, &line, &column);
	assert_int_equal(line, 0);
	assert_false(sl_yaml_u64(tree, 0, &value) || sl_yaml_u64(tree, 1, &value));
	sl_yaml_free(tree);
	sl_yaml_free(NULL);
}

TEST(counts_are_decimal_digits)
{
	static const char *const bad[] = {
		"-1", "+1", "1.0", "1e3", "' 1'", "''", "0x1", "18446744073709551616", "1_0", "x"};
	uint64_t value;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_ok(parse(bad[i]));
		if (sl_yaml_u64(tree, SL_YAML_ROOT, &value))
			fail_msg("%s is read as a number", bad[i]);
		sl_yaml_free(tree);
	}
}

/* Returns a text of that many bytes, of copies of piece. The caller frees it. */
static char *repeat(const char *piece, size_t bytes)
{
	char *text = (char *)malloc(bytes + 1);

	assert_non_null(text);
	for (size_t i = 0; i <= bytes; i++)
		text[i] = i < bytes ? piece[i % strlen(piece)] : '\0';
	return text;
}

/* The allocations of reading such a text. */
static uint64_t work_of(const char *piece, size_t bytes)
{
	char *text = repeat(piece, bytes);
	uint64_t before = allocations_of_thread();

	sl_yaml_parse(text, bytes, &tree, &problem);
	before = allocations_of_thread() - before;
	sl_yaml_free(tree);
	free(text);
	return before;
}

/*
 * What expands, nests deeply or is no YAML ends the reading at its place, whatever follows. Other
 * texts take work in proportion to their length, here counted in allocations.
 */
TEST(work_follows_the_length)
{
	static const char *const ended[] = {"[", "{", "? ", "!", "&a ", "a: &x 1\nb: *x\n",
		"[a: ", "a: ", "- ", "*x ", "%", "a: [[*x]]\n"},
				 *const read[] = {"[x],", "'a': 1\n", "{a: 1},", "- 1\n", "- - a\n",
					 "a\n", "\"", "#", "\n", "|\n"};
	const size_t bytes = 1 << 14;

	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++)
		if (work_of(ended[i], 8 * bytes) > work_of(ended[i], bytes) + 16)
			fail_msg("'%s': %d allocations", ended[i],
				(int)work_of(ended[i], 8 * bytes));
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (work_of(read[i], 8 * bytes) > 9 * work_of(read[i], bytes) + 16)
			fail_msg("'%s': %d allocations", read[i], (int)work_of(read[i], 8 * bytes));
}

TEST(text_is_limited_to_one_mebibyte)
{
	char *text = repeat("x", SL_YAML_BYTES + 1);

	assert_fails(sl_yaml_parse(text, SL_YAML_BYTES + 1, &tree, &problem), SL_BAD_INPUT,
		"1048577 bytes, at most 1048576");
	assert_ok(sl_yaml_parse(text, SL_YAML_BYTES, &tree, &problem));
	sl_yaml_free(tree);
	free(text);
}
