/* manifest_line.c - lines of the manifest: complete lines are read back, and damaged lines are always refused. */
#include <stdlib.h>
#include <string.h>

#include "primitives/files/crc32.h"
#include "tests/pipeline/results/manifest_sample.h"
#include "tests/support/basic/check.h"

static void expect_same(const struct sl_manifest_line *line)
{
	char text[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest_line again;
	size_t n = sl_manifest_print(line, text);

	assert_int_equal(n, strlen(text));
	assert_int_equal(text[n - 1], '\n');
	assert_ok(sl_manifest_parse(text, n - 1, &again));
	assert_memory_equal(&again, line, sizeof(again));
}

TEST(lines_read_back)
{
	struct sl_manifest_line line = sample(0);

	expect_same(&line);
	line.batch = line.first_id = line.file_bytes = UINT64_MAX;
	line.file_crc = 0;
	expect_same(&line);
	snprintf(line.bins_file, sizeof(line.bins_file), "name_0.bins");
	line.bins_bytes = UINT64_MAX;
	line.bins_crc = 0xfedcba98;
	expect_same(&line);
	snprintf(line.order_file, sizeof(line.order_file), "name_0.order");
	line.order_bytes = 8;
	line.order_crc = 0x12345678;
	expect_same(&line);
	memset(&line, 0, sizeof(line));
	expect_same(&line);
}

/* The format is documented: other programs read these bytes. */
TEST(line_has_the_documented_text)
{
	struct sl_manifest_line line = sample(7);
	char text[SL_MANIFEST_LINE_BYTES], expected[1024];
	static const char before[] =
		"{\"batch\":7,\"first_id\":7000,\"generated\":1000,\"survivors\":600,"
		"\"fates\":{\"reflected\":400,\"transmitted\":600},"
		"\"weights\":{\"reflected\":18446744073709551615,\"transmitted\":2576980377600},"
		"\"steps\":12345,\"collisions\":6789,"
		"\"digests\":{\"id\":\"0123456789abcdef\",\"x\":\"0000000000000000\","
		"\"w\":\"0000000000000007\"},"
		"\"file\":{\"name\":\"name_7.h5\",\"bytes\":987654,\"crc\":\"deadbeef\"}";

	sl_manifest_print(&line, text);
	snprintf(expected, sizeof(expected), "%s,\"crc\":\"%08x\"}\n", before,
		sl_crc32(before, strlen(before)));
	assert_string_equal(text, expected);
	/* a run without files of survivors */
	memset(line.file, 0, sizeof(line.file));
	line.file_bytes = line.file_crc = 0;
	expect_same(&line);
	sl_manifest_print(&line, text);
	assert_non_null(strstr(text, "\"w\":\"0000000000000007\"},\"crc\":\""));
	line = sample(7);
	/* histograms follow the file */
	snprintf(line.bins_file, sizeof(line.bins_file), "name_7.bins");
	line.bins_bytes = 480;
	line.bins_crc = 0xabc;
	sl_manifest_print(&line, text);
	assert_non_null(strstr(text, "\"crc\":\"deadbeef\"},\"bins\":{\"name\":\"name_7.bins\","
				     "\"bytes\":480,\"crc\":\"00000abc\"},\"crc\":\""));
	/* sort keys follow the histograms */
	snprintf(line.order_file, sizeof(line.order_file), "name_7.order");
	line.order_bytes = 4800;
	line.order_crc = 0xdef;
	sl_manifest_print(&line, text);
	assert_non_null(strstr(text, "\"crc\":\"00000abc\"},\"order\":{\"name\":\"name_7.order\","
				     "\"bytes\":4800,\"crc\":\"00000def\"},\"crc\":\""));
}

/* The longest possible line: every fate and column, long names, and a name of control characters. */
TEST(largest_line_fits)
{
	struct sl_manifest_line line = sample(UINT64_MAX);

	line.first_id = line.generated = line.survivors = line.file_bytes = UINT64_MAX;
	line.tally.steps = line.tally.collisions = UINT64_MAX;
	line.columns = SL_BIT(SL_COLUMN_COUNT) - 1;
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++)
		memset(line.label[i].name, 'a' + i, SL_COLUMN_NAME_BYTES - 1);
	memset(line.digest, 0xff, sizeof(line.digest));
	memset(line.tally.weight, 0xff, sizeof(line.tally.weight));
	memset(line.tally.count, 0, sizeof(line.tally.count));
	line.tally.count[SL_FATE_hit] = UINT64_MAX;
	memset(line.file, '\1', sizeof(line.file) - 1); /* six bytes each when escaped */
	expect_same(&line);
}

/* Each byte with one flipped bit, replaced by 0, and complemented. */
TEST(every_flipped_bit_is_refused)
{
	struct sl_manifest_line line = sample(3), again;
	char text[SL_MANIFEST_LINE_BYTES];
	size_t n = sl_manifest_print(&line, text) - 1;

	for (size_t i = 0; i < n; i++) {
		char was = text[i];

		for (int bit = 0; bit < 8; bit++) {
			text[i] = (char)(was ^ (1 << bit));
			assert_fails(sl_manifest_parse(text, n, &again), SL_BAD_INPUT, "checksum");
		}
		text[i] = '\0';
		assert_fails(sl_manifest_parse(text, n, &again), SL_BAD_INPUT, "checksum");
		text[i] = (char)~was;
		assert_fails(sl_manifest_parse(text, n, &again), SL_BAD_INPUT, "checksum");
		text[i] = was;
	}
	assert_ok(sl_manifest_parse(text, n, &again));
}

TEST(every_prefix_is_refused)
{
	struct sl_manifest_line line = sample(3), again;
	char text[SL_MANIFEST_LINE_BYTES];
	size_t n = sl_manifest_print(&line, text) - 1;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(sl_manifest_parse(text, i, &again), SL_BAD_INPUT);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(sl_manifest_parse(text + i, n - i, &again), SL_BAD_INPUT);
}

/* Appends the right checksum to the line, and expects the refusal. */
static void expect_refused(const char *before, const char *why)
{
	char text[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest_line line;
	int n = snprintf(text, sizeof(text), "%s,\"crc\":\"%08x\"}", before,
		sl_crc32(before, strlen(before)));

	assert_fails(sl_manifest_parse(text, (size_t)n, &line), SL_BAD_INPUT, why);
}

#define HEAD      "{\"batch\":0,\"first_id\":0,\"generated\":2,"
#define TAIL      ",\"steps\":0,\"collisions\":0,\"digests\":{}," FILE_PART
#define FILE_PART "\"file\":{\"name\":\"a\",\"bytes\":0,\"crc\":\"00000000\"}"
#define WEIGHTS   ",\"weights\":{\"hit\":0}"

/* The checksum is right, but the values contradict each other. */
TEST(inconsistent_lines_are_refused)
{
	char text[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest_line line;
	const char good[] = HEAD "\"survivors\":2,\"fates\":{\"hit\":2}" WEIGHTS TAIL;
	int n = snprintf(
		text, sizeof(text), "%s,\"crc\":\"%08x\"}", good, sl_crc32(good, strlen(good)));

	assert_ok(sl_manifest_parse(text, (size_t)n, &line));
	expect_refused(HEAD "\"survivors\":2,\"fates\":{\"hit\":1}" WEIGHTS TAIL, "add up");
	expect_refused(HEAD "\"survivors\":2,\"fates\":{\"hit\":3}" WEIGHTS TAIL, "add up");
	expect_refused(HEAD "\"survivors\":3,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "add up");
	expect_refused(
		HEAD "\"survivors\":2,\"fates\":{\"hit\":2,\"alive\":0}" WEIGHTS TAIL, "version");
	expect_refused(HEAD "\"survivors\":2,\"fates\":{\"lost\":2}" WEIGHTS TAIL, "version");
	expect_refused(HEAD "\"survivors\":-2,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version");
	expect_refused(HEAD "\"survivors\":\"2\",\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version");
	expect_refused(HEAD "\"survivors\": 2,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version");
	expect_refused(HEAD "\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version");
	expect_refused(
		HEAD "\"survivors\":2,\"more\":1,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version");
	expect_refused("{\"first_id\":0,\"batch\":0,\"generated\":2,\"survivors\":2,"
		       "\"fates\":{\"hit\":2}" WEIGHTS TAIL,
		"version");
	expect_refused("{\"batch\":0", "version");
	expect_refused("{", "");
	expect_refused("[", "");
}

/* Counts whose sum wraps around to the right total are refused. */
TEST(sums_do_not_wrap)
{
	struct sl_manifest_line line = sample(0), again;
	char text[SL_MANIFEST_LINE_BYTES];

	line.tally.count[SL_FATE_reflected] = UINT64_MAX;
	line.tally.count[SL_FATE_transmitted] = line.generated + 1;
	assert_fails(sl_manifest_parse(text, sl_manifest_print(&line, text) - 1, &again),
		SL_BAD_INPUT, "add up");
}
