/*
 * json.c - the exact bytes of the JSON writer, and texts that are no JSON. That they read back:
 * tests/property/results.c.
 */
#include "pipeline/print/result.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

static const char one_line[] = "{\"largest\":18446744073709551615,\"none\":{},\"list\":[0.1,true,"
			       "{\"a\":\"b\"}],\"whole\":[1,18446744073709551615,0],"
			       "\"real\":[0.5,null],\"empty\":[],\"crc\":\"000000ab\"}";

/* An array of numbers is written in one line, also in the indented form. */
static const char indented[] =
	"{\n\t\"largest\": 18446744073709551615,\n\t\"none\": {},\n\t\"list\": [\n\t\t0.1,\n"
	"\t\ttrue,\n\t\t{\n\t\t\t\"a\": \"b\"\n\t\t}\n\t],\n\t\"whole\": [1,18446744073709551615,0],\n"
	"\t\"real\": [0.5,null],\n\t\"empty\": [],\n\t\"crc\": \"000000ab\"\n}";

/* Returns the length of the complete text. */
static size_t write_sample(char *text, size_t size, bool indent)
{
	static const uint64_t whole[] = {1, UINT64_MAX, 0};
	const double real[] = {0.5, (double)NAN};
	struct sl_json j = sl_json_start(text, size, indent);

	sl_json_object(&j, NULL);
	sl_json_u64(&j, "largest", UINT64_MAX);
	sl_json_object(&j, "none");
	sl_json_close(&j);
	sl_json_array(&j, "list");
	sl_json_real(&j, NULL, 0.1);
	sl_json_bool(&j, NULL, true);
	sl_json_object(&j, NULL);
	sl_json_text(&j, "a", "b");
	sl_json_close(&j);
	sl_json_close(&j);
	sl_json_u64s(&j, "whole", whole, 3);
	sl_json_reals(&j, "real", real, 2);
	sl_json_u64s(&j, "empty", whole, 0);
	sl_json_hex(&j, "crc", 0xab, 8);
	sl_json_close(&j);
	return j.used;
}

/*
 * For every buffer size: the full length is counted, the text is terminated, and no byte after the
 * buffer changes.
 */
TEST(text_is_exact_and_cut_to_the_buffer)
{
	static const char *const whole[] = {one_line, indented};

	for (int indent = 0; indent < 2; indent++) {
		const size_t length = strlen(whole[indent]);

		for (size_t size = 0; size <= length + 2; size++) {
			char text[512];
			size_t kept = size <= length ? size - 1 : length;

			memset(text, 0x5a, sizeof(text));
			assert_int_equal(write_sample(text, size, indent), length);
			assert_int_equal(text[size], 0x5a);
			if (size > 0)
				assert_int_equal(strlen(text), kept);
			if (size > 0)
				assert_memory_equal(text, whole[indent], kept);
		}
	}
}

TEST(texts_are_escaped)
{
	static const char *const rows[][2] = {{"", "\"\""}, {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
		{"line\n\ttab\r\x01\x7f", "\"line\\n\\ttab\\u000d\\u0001\\u007f\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xc2\x85", "\"\\u0085\""}, {"\xef\xbb\xbf", "\"\\ufeff\""},
		/* not UTF-8; an overlong form of '/', a surrogate, and what is too large */
		{"a\xff\"", "\"a\\ufffd\\\"\""}, {"\x80", "\"\\ufffd\""}, {"\xc3", "\"\\ufffd\""},
		{"\xc3(", "\"\\ufffd(\""}, {"\xc0\xaf", "\"\\ufffd\\ufffd\""},
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[256];
		struct sl_json j = sl_json_start(text, sizeof(text), false);

		sl_json_text(&j, NULL, rows[i][0]);
		assert_string_equal(text, rows[i][1]);
	}
}

/* That any of them reads back: config/values.c. */
TEST(reals_are_shortest)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {{0, "0"}, {-0.0, "-0.0"}, {0.1, "0.1"}, {0.1 + 0.2, "0.30000000000000004"},
		{1e22, "1e+22"}, {123456, "123456"}, {DBL_MAX, "1.7976931348623157e+308"},
		{5e-324, "5e-324"}, {HUGE_VAL, "null"}, {-HUGE_VAL, "null"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];
		struct sl_json j = sl_json_start(text, sizeof(text), false);

		sl_json_real(&j, NULL, rows[i].value);
		assert_string_equal(text, rows[i].text);
	}
}

/*
 * A child process that has read a crafted file can return any text; sanitizers see what leaves it.
 */
TEST(texts_that_are_no_json_are_printed)
{
	static const struct sl_line lines[] = {
		{"a", NULL, "{b.c} {d:8.3g} {e~batch} {#f} [{?g=x}y]"},
		{"a.f.*3", "x {*:5}\n", "{@} {*:9.4g} <k|{m:5B}> {n/o:T}"},
		{"a.f.*", NULL, "{} {p.*:-4r}"}, {NULL, NULL, NULL}};
	static const char letters[] = "{}[]\":,\\abcdefghk1.-n ";
	FILE *out = fopen("/dev/null", "w");
	uint64_t seed = 1;

	for (int i = 0; i < 20000; i++) {
		struct sl_result r;
		char text[48] = "";

		assert_ok(sl_result_begin(&r, lines, out));
		for (size_t k = random_below(&seed, sizeof(text)); k > 0; k--)
			text[k - 1] = letters[random_below(&seed, sizeof(letters) - 1)];
		fprintf(r.memory.out, "{\"a\":%.*s{\"f\":[%.*s", i % 2 * 40, text, 47, text);
		assert_ok(sl_result_end(&r, SL_OK));
	}
	fclose(out);
}
