/* json.c - the exact bytes of the JSON writer, and that they read back. */
#include "pipeline/text/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "tests/support/basic/check.h"

static void write_sample(struct sl_json *j)
{
	sl_json_object(j, NULL);
	sl_json_u64(j, "largest", UINT64_MAX);
	sl_json_object(j, "none");
	sl_json_close(j);
	sl_json_array(j, "list");
	sl_json_real(j, NULL, 0.1);
	sl_json_bool(j, NULL, true);
	sl_json_object(j, NULL);
	sl_json_text(j, "a", "b");
	sl_json_close(j);
	sl_json_close(j);
	sl_json_hex(j, "crc", 0xab, 8);
	sl_json_close(j);
}

static const char one_line[] = "{\"largest\":18446744073709551615,\"none\":{},\"list\":[0.1,true,"
			       "{\"a\":\"b\"}],\"crc\":\"000000ab\"}";

TEST(one_line_form_is_exact)
{
	char text[256];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	write_sample(&j);
	assert_string_equal(text, one_line);
	assert_int_equal(j.used, strlen(one_line));
	assert_true(j.used < j.size);
}

TEST(indented_form_is_exact)
{
	char text[256];
	struct sl_json j = sl_json_start(text, sizeof(text), true);

	write_sample(&j);
	assert_string_equal(text, "{\n\t\"largest\": 18446744073709551615,\n\t\"none\": {},\n"
				  "\t\"list\": [\n\t\t0.1,\n\t\ttrue,\n\t\t{\n\t\t\t\"a\": \"b\"\n"
				  "\t\t}\n\t],\n\t\"crc\": \"000000ab\"\n}");
}

/* An array of numbers is written in one line, also in the indented form. */
TEST(arrays_of_numbers_are_exact)
{
	static const uint64_t whole[] = {1, UINT64_MAX, 0};
	const double real[] = {0.5, (double)NAN};
	char text[256];
	struct sl_json j = sl_json_start(text, sizeof(text), true);

	sl_json_object(&j, NULL);
	sl_json_u64s(&j, "a", whole, 3);
	sl_json_reals(&j, "b", real, 2);
	sl_json_u64s(&j, "c", whole, 0);
	sl_json_u64(&j, "d", 4);
	sl_json_close(&j);
	assert_string_equal(text, "{\n\t\"a\": [1,18446744073709551615,0],\n\t\"b\": [0.5,null],\n"
				  "\t\"c\": [],\n\t\"d\": 4\n}");
}

/*
 * For every buffer size: the full length is counted, the text is terminated, and no byte after the
 * buffer changes.
 */
TEST(short_buffers_truncate_the_text)
{
	for (size_t size = 0; size <= sizeof(one_line) + 1; size++) {
		char text[256];
		struct sl_json j;

		memset(text, 0x5a, sizeof(text));
		j = sl_json_start(text, size, false);
		write_sample(&j);
		assert_int_equal(j.used, sizeof(one_line) - 1);
		assert_int_equal(j.used < j.size, size >= sizeof(one_line));
		assert_int_equal(text[size], 0x5a);
		if (size) {
			size_t kept = size < sizeof(one_line) ? size - 1 : sizeof(one_line) - 1;

			assert_int_equal(strlen(text), kept);
			assert_memory_equal(text, one_line, kept);
		}
	}
}

static void expect_text(const char *value, const char *expected)
{
	char text[256];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_text(&j, NULL, value);
	assert_string_equal(text, expected);
}

TEST(special_characters_are_escaped)
{
	expect_text("", "\"\"");
	expect_text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	expect_text("line\n\ttab\r\x01\x7f", "\"line\\n\\ttab\\u000d\\u0001\\u007f\"");
	expect_text(
		"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	expect_text("\xc2\x85", "\"\\u0085\"");
	expect_text("\xef\xbb\xbf", "\"\\ufeff\"");
}

TEST(invalid_utf8_is_replaced)
{
	expect_text("a\xff"
		    "b",
		"\"a\\ufffdb\"");
	expect_text("\x80", "\"\\ufffd\"");
	expect_text("\xc3", "\"\\ufffd\"");
	expect_text("\xc3(", "\"\\ufffd(\"");
	expect_text("\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* an overlong form of '/' */
	expect_text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	expect_text("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

/* yaml.h reads back what was written, for every byte and for many code points. */
TEST(output_reads_back)
{
	char value[256], text[2048];
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	struct sl_json j;

	for (int first = 1; first < 0x80; first++) {
		snprintf(value, sizeof(value), "%c\xc2\x9f-%c\xef\xbf\xbd%c", first, first, first);
		j = sl_json_start(text, sizeof(text), first % 2);
		sl_json_object(&j, NULL);
		sl_json_text(&j, "v", value);
		sl_json_close(&j);
		assert_ok(sl_yaml_parse(text, j.used, &tree, &problem));
		assert_string_equal(
			sl_yaml_text(tree, sl_yaml_get(tree, sl_yaml_root(tree), "v"), NULL),
			value);
		sl_yaml_free(tree);
	}
}

static void expect_real(double value, const char *expected)
{
	char text[64];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_real(&j, NULL, value);
	assert_string_equal(text, expected);
}

TEST(reals_are_shortest)
{
	expect_real(0, "0");
	expect_real(-0.0, "-0.0");
	expect_real(0.1, "0.1");
	expect_real(0.1 + 0.2, "0.30000000000000004");
	expect_real(1e22, "1e+22");
	expect_real(123456, "123456");
	expect_real(DBL_MAX, "1.7976931348623157e+308");
	expect_real(5e-324, "5e-324");
	expect_real(NAN, "null");
	expect_real(INFINITY, "null");
	expect_real(-INFINITY, "null");
}

/* Random bit patterns are read back exactly; the multiplier is that of Knuth's MMIX generator. */
TEST(reals_read_back)
{
	uint64_t bits = 1;

	for (int i = 0; i < 50000; i++) {
		char text[64];
		struct sl_json j = sl_json_start(text, sizeof(text), false);
		double value, again;

		bits = bits * 6364136223846793005u + 1442695040888963407u;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		sl_json_real(&j, NULL, value);
		again = strtod(text, NULL);
		assert_memory_equal(&again, &value, sizeof(value));
	}
}
