/*
 * manifest.c - lines of the manifest and files of them: documented text, invalid lines, failures.
 * tests/property/results.c reads back lines with any values, and refuses torn ones;
 * tests/text/resume.txt repairs them.
 */
#include "pipeline/results/results.h"

#include <stdio.h>
#include <string.h>

#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}

/* A line with values in all parts but those of side files. All bytes are set, for memcmp. */
static struct sl_manifest_line sample(uint64_t batch)
{
	struct sl_manifest_line line;

	memset(&line, 0, sizeof(line));
	line.batch = batch;
	line.first_id = batch * 1000;
	line.generated = 1000;
	line.survivors = 600;
	line.tally.count[SL_FATE_transmitted] = 600;
	line.tally.count[SL_FATE_reflected] = 400;
	line.tally.weight[SL_FATE_transmitted] = (uint64_t)600 << 32;
	line.tally.weight[SL_FATE_reflected] = UINT64_MAX;
	line.tally.steps = 12345;
	line.tally.collisions = 6789;
	line.columns = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_w);
	line.digest[SL_COLUMN_id] = 0x0123456789abcdefu;
	line.digest[SL_COLUMN_w] = batch;
	snprintf(line.file.name, sizeof(line.file.name), "name_%llu.h5", (unsigned long long)batch);
	line.file.bytes = 987654;
	line.file.crc = 0xdeadbeef;
	return line;
}

/* --- lines ------------------------------------------------------------------------------------ */

/*
 * Writes the checksum of a text after it, as in a line. Returns the length, without an end of line.
 */
static size_t seal(const char *before, char text[SL_MANIFEST_LINE_BYTES])
{
	return (size_t)snprintf(text, SL_MANIFEST_LINE_BYTES, "%s,\"crc\":\"%08x\"}", before,
		sl_crc32(before, strlen(before)));
}

static void expect_text(const struct sl_manifest_line *line, const char *files)
{
	char before[SL_MANIFEST_LINE_BYTES], text[SL_MANIFEST_LINE_BYTES],
		expected[SL_MANIFEST_LINE_BYTES];
	size_t n = sl_manifest_print(line, text);

	snprintf(before, sizeof(before),
		"{\"batch\":7,\"first_id\":7000,\"generated\":1000,\"survivors\":600,"
		"\"fates\":{\"reflected\":400,\"transmitted\":600},"
		"\"weights\":{\"reflected\":18446744073709551615,\"transmitted\":2576980377600},"
		"\"steps\":12345,\"collisions\":6789,\"digests\":{\"id\":\"0123456789abcdef\","
		"\"w\":\"0000000000000007\"}%s",
		files);
	assert_int_equal(n, seal(before, expected) + 1);
	strcat(expected, "\n");
	assert_string_equal(text, expected);
}

/* The format is documented: other programs read these bytes. */
TEST(line_has_the_documented_text)
{
	struct sl_manifest_line line = sample(7);

	line.bins = (struct sl_committed_file){"name_7.bins", 480, 0xabc};
	line.order = (struct sl_committed_file){"name_7.order", 4800, 0xdef};
	expect_text(&line,
		",\"file\":{\"name\":\"name_7.h5\",\"bytes\":987654,\"crc\":\"deadbeef\"},"
		"\"bins\":{\"name\":\"name_7.bins\",\"bytes\":480,\"crc\":\"00000abc\"},"
		"\"order\":{\"name\":\"name_7.order\",\"bytes\":4800,\"crc\":\"00000def\"}");
	line.file.name[0] = line.bins.name[0] = line.order.name[0] = '\0';
	expect_text(&line, "");
}

/*
 * The longest possible line: every fate and column, long names, and a name of control characters.
 */
TEST(largest_line_fits)
{
	struct sl_manifest_line line = sample(UINT64_MAX), again;
	char text[SL_MANIFEST_LINE_BYTES];

	line.first_id = line.generated = line.survivors = line.file.bytes = UINT64_MAX;
	line.tally.steps = line.tally.collisions = UINT64_MAX;
	line.columns = SL_BIT(SL_COLUMN_COUNT) - 1;
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++)
		memset(line.label[i].name, 'a' + i, SL_COLUMN_NAME_BYTES - 1);
	memset(line.digest, 0xff, sizeof(line.digest));
	memset(line.tally.weight, 0xff, sizeof(line.tally.weight));
	memset(line.tally.square, 0xff, sizeof(line.tally.square));
	memset(line.tally.count, 0, sizeof(line.tally.count));
	line.tally.count[SL_FATE_hit] = UINT64_MAX;
	memset(line.file.name, '\1', sizeof(line.file.name) - 1); /* six bytes each when escaped */
	assert_ok(sl_manifest_parse(text, sl_manifest_print(&line, text) - 1, &again));
	assert_memory_equal(&again, &line, sizeof(again));
	/* counts whose sum wraps around to the right total */
	line.tally.count[SL_FATE_reflected] = UINT64_MAX;
	line.tally.count[SL_FATE_transmitted] = 1;
	assert_fails(sl_manifest_parse(text, sl_manifest_print(&line, text) - 1, &again),
		SL_BAD_INPUT, "add up");
}

/* The checksum is right, but the values contradict each other. */
TEST(inconsistent_lines_are_refused)
{
	static const struct {
		const char *text, *why; /* NULL: it is read */
	} rows[] = {{"\"survivors\":2,\"fates\":{\"hit\":2}", NULL},
		{"\"survivors\":2,\"fates\":{\"hit\":1}", "add up"},
		{"\"survivors\":2,\"fates\":{\"hit\":3}", "add up"},
		{"\"survivors\":3,\"fates\":{\"hit\":2}", "add up"},
		{"\"survivors\":2,\"fates\":{\"hit\":2,\"alive\":0}", "version"},
		{"\"survivors\":2,\"fates\":{\"lost\":2}", "version"},
		{"\"survivors\":-2,\"fates\":{\"hit\":2}", "version"},
		{"\"survivors\":\"2\",\"fates\":{\"hit\":2}", "version"},
		{"\"survivors\": 2,\"fates\":{\"hit\":2}", "version"},
		{"\"fates\":{\"hit\":2}", "version"}, {"", "version"},
		{"\"fates\":{\"hit\":2},\"survivors\":2", "version"},
		{"\"survivors\":2,\"more\":1,\"fates\":{\"hit\":2}", "version"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char before[SL_MANIFEST_LINE_BYTES], text[SL_MANIFEST_LINE_BYTES];
		struct sl_manifest_line line;

		snprintf(before, sizeof(before),
			"{\"batch\":0,\"first_id\":0,\"generated\":2,%s,\"weights\":{\"hit\":0},"
			"\"steps\":0,\"collisions\":0,\"digests\":{},"
			"\"file\":{\"name\":\"a\",\"bytes\":0,\"crc\":\"00000000\"}",
			rows[i].text);
		print_message("%s\n", before);
		if (rows[i].why)
			assert_fails(sl_manifest_parse(text, seal(before, text), &line),
				SL_BAD_INPUT, rows[i].why);
		else
			assert_ok(sl_manifest_parse(text, seal(before, text), &line));
	}
}

/* --- files ------------------------------------------------------------------------------------ */

/* Expects n batches in the manifest. */
static void expect_batches(size_t n, const uint64_t *batches, size_t damaged, bool in_order)
{
	struct sl_manifest m;

	assert_ok(sl_manifest_read(&open_dir.dir, &m));
	assert_int_equal(m.n, n);
	assert_int_equal(m.damaged, damaged);
	assert_int_equal(m.in_order, in_order);
	for (size_t i = 0; i < n; i++) {
		struct sl_manifest_line expected = sample(batches[i]);

		assert_memory_equal(&m.line[i], &expected, sizeof(expected));
	}
	sl_manifest_free(&m);
}

static enum sl_status append(uint64_t batch, uint64_t more_bytes)
{
	struct sl_manifest_line line = sample(batch);

	line.file.bytes += more_bytes;
	return sl_manifest_append(&open_dir.dir, &line);
}

/* The first of repeated batches is used. */
TEST(appended_lines_are_read)
{
	static const struct {
		uint64_t batch;
		size_t n, damaged;
		bool in_order;
		uint64_t batches[4];
	} rows[] = {{0, 1, 0, true, {0}}, {1, 2, 0, true, {0, 1}}, {3, 3, 0, true, {0, 1, 3}},
		{2, 4, 0, false, {0, 1, 2, 3}}, {1, 4, 1, false, {0, 1, 2, 3}},
		{0, 4, 2, false, {0, 1, 2, 3}}};

	expect_batches(0, NULL, 0, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_ok(append(rows[i].batch, rows[i].damaged));
		expect_batches(rows[i].n, rows[i].batches, rows[i].damaged, rows[i].in_order);
	}
}

TEST(invalid_lines_are_counted_as_damaged)
{
	static const char invalid_lines[] = "\n\n{}\n\xff\xfe\0\0binary\n{\"batch\":0}\n[[[[[[\n";
	char text[SL_MANIFEST_LINE_BYTES + 2 * sizeof(invalid_lines)];
	struct sl_manifest_line line = sample(5), shortest = {.batch = 0};
	size_t n = sizeof(invalid_lines) - 1;
	struct sl_manifest m;

	memcpy(text, invalid_lines, n);
	n += sl_manifest_print(&line, text + n);
	memcpy(text + n, invalid_lines, sizeof(invalid_lines) - 1);
	folder_write(&folder, "manifest.jsonl", text, n + sizeof(invalid_lines) - 1);
	expect_batches(1, (const uint64_t[]){5}, 12, false);
	/* the shortest possible line is read, not ignored as an empty line */
	folder_write(&folder, "manifest.jsonl", text, sl_manifest_print(&shortest, text));
	assert_ok(sl_manifest_read(&open_dir.dir, &m));
	assert_true(m.n == 1 && m.damaged == 0);
	sl_manifest_free(&m);
}

/*
 * After a failed append the file has complete lines only; after a failed read it is not treated as
 * empty.
 */
TEST(failures_are_reported)
{
	static const struct {
		const char *fault;
		enum sl_status status;
		bool appends;
	} rows[] = {{"file_append:1:28", SL_DISK, true}, {"file_datasync:1:5", SL_DISK, true},
		{"file_close:1:5", SL_DISK, true}, {"file_open:1:5", SL_DISK, false},
		{"file_stat:1:5", SL_DISK, false}, {"file_read:1:5", SL_DISK, false},
		{"host_malloc:1:12", SL_HOST_MEMORY, false},
		{"host_malloc:2:12", SL_HOST_MEMORY, false},
		{"host_malloc:3:12", SL_HOST_MEMORY, false}};

	assert_ok(append(0, 0));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_manifest m = {0};
		enum sl_status s;

		assert_null(sl_fault_set(rows[i].fault));
		s = rows[i].appends ? append(1, 0) : sl_manifest_read(&open_dir.dir, &m);
		sl_fault_set(NULL);
		sl_manifest_free(&m);
		if (s != rows[i].status)
			fail_msg("%s: %s", rows[i].fault, sl_status_name(s));
		expect_batches(1, (const uint64_t[]){0}, 0, true);
	}
}
