/*
 * manifest.c - lines of the manifest and files of them: documented text, reading, appending, torn and invalid lines,
 * failures. tests/property/lists.c reads back lines with any values.
 */
#include "pipeline/results/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "primitives/files/crc32.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"

/* A line with values in all parts. All bytes are set, so that lines can be compared with memcmp. */
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
	line.columns = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_w);
	line.digest[SL_COLUMN_id] = 0x0123456789abcdefu;
	line.digest[SL_COLUMN_w] = batch;
	snprintf(line.file, sizeof(line.file), "name_%llu.h5", (unsigned long long)batch);
	line.file_bytes = 987654;
	line.file_crc = 0xdeadbeef;
	return line;
}

/* --- lines ------------------------------------------------------------------------------------ */

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

#define HEAD    "{\"batch\":0,\"first_id\":0,\"generated\":2,"
#define WEIGHTS ",\"weights\":{\"hit\":0}"
#define TAIL                                            \
	",\"steps\":0,\"collisions\":0,\"digests\":{}," \
	"\"file\":{\"name\":\"a\",\"bytes\":0,\"crc\":\"00000000\"}"

/* The checksum is right, but the values contradict each other. */
TEST(inconsistent_lines_are_refused)
{
	static const struct {
		const char *text, *why; /* NULL: it is read */
	} rows[] = {{HEAD "\"survivors\":2,\"fates\":{\"hit\":2}" WEIGHTS TAIL, NULL},
		{HEAD "\"survivors\":2,\"fates\":{\"hit\":1}" WEIGHTS TAIL, "add up"},
		{HEAD "\"survivors\":2,\"fates\":{\"hit\":3}" WEIGHTS TAIL, "add up"},
		{HEAD "\"survivors\":3,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "add up"},
		{HEAD "\"survivors\":2,\"fates\":{\"hit\":2,\"alive\":0}" WEIGHTS TAIL, "version"},
		{HEAD "\"survivors\":2,\"fates\":{\"lost\":2}" WEIGHTS TAIL, "version"},
		{HEAD "\"survivors\":-2,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version"},
		{HEAD "\"survivors\":\"2\",\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version"},
		{HEAD "\"survivors\": 2,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version"},
		{HEAD "\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version"},
		{HEAD "\"survivors\":2,\"more\":1,\"fates\":{\"hit\":2}" WEIGHTS TAIL, "version"},
		{"{\"first_id\":0,\"batch\":0,\"generated\":2,\"survivors\":2,"
		 "\"fates\":{\"hit\":2}" WEIGHTS TAIL,
			"version"},
		{"{\"batch\":0", "version"}, {"{", ""}, {"[", ""}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[SL_MANIFEST_LINE_BYTES];
		struct sl_manifest_line line;
		int n = snprintf(text, sizeof(text), "%s,\"crc\":\"%08x\"}", rows[i].text,
			sl_crc32(rows[i].text, strlen(rows[i].text)));
		enum sl_status s = sl_manifest_parse(text, (size_t)n, &line);

		print_message("%s\n", text);
		if (rows[i].why)
			assert_fails(s, SL_BAD_INPUT, rows[i].why);
		else
			assert_ok(s);
	}
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

/* --- files ------------------------------------------------------------------------------------ */

static void expect_batches(
	struct open_dir *s, size_t n, const uint64_t *batches, size_t damaged, bool in_order)
{
	struct sl_manifest m;

	assert_ok(sl_manifest_read(&s->dir, &m));
	assert_int_equal(m.n, n);
	assert_int_equal(m.damaged, damaged);
	assert_int_equal(m.in_order, in_order);
	for (size_t i = 0; i < n; i++) {
		struct sl_manifest_line expected = sample(batches[i]);

		assert_memory_equal(&m.line[i], &expected, sizeof(expected));
	}
	sl_manifest_free(&m);
}

static void append(struct open_dir *s, uint64_t batch)
{
	struct sl_manifest_line line = sample(batch);

	assert_ok(sl_manifest_append(&s->dir, &line));
}

/* The first of repeated batches is used. */
TEST(appended_lines_are_read)
{
	static const struct {
		uint64_t batch;
		size_t n, damaged;
		bool in_order;
	} rows[] = {{0, 1, 0, true}, {1, 2, 0, true}, {3, 3, 0, true}, {2, 4, 0, false},
		{1, 4, 1, false}, {0, 4, 2, false}};
	static const uint64_t batches[][4] = {{0}, {0, 1}, {0, 1, 3}, {0, 1, 2, 3}};
	struct open_dir *s = &open_dir;

	expect_batches(s, 0, NULL, 0, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_manifest_line line = sample(rows[i].batch);

		line.file_bytes += rows[i].damaged;
		assert_ok(sl_manifest_append(&s->dir, &line));
		expect_batches(
			s, rows[i].n, batches[rows[i].n - 1], rows[i].damaged, rows[i].in_order);
	}
}

/* A killed process can leave any prefix of the last line. */
TEST(torn_last_line_is_ignored_at_every_byte)
{
	struct open_dir *s = &open_dir;
	size_t size, first;
	char *text;

	append(s, 0);
	append(s, 1);
	text = folder_read(&folder, "manifest.jsonl", &size);
	first = (size_t)(strchr(text, '\n') + 1 - text);
	for (size_t n = first + 1; n < size; n++) {
		bool complete = n == size - 1; /* only the newline is missing */

		folder_write(&folder, "manifest.jsonl", text, n);
		expect_batches(
			s, complete ? 2 : 1, (const uint64_t[]){0, 1}, complete ? 0 : 1, false);
	}
	free(text);
}

TEST(invalid_lines_are_counted_as_damaged)
{
	static const char invalid_lines[] = "\n\n{}\n\xff\xfe\0\0binary\n{\"batch\":0}\n[[[[[[\n";
	struct open_dir *s = &open_dir;
	char text[SL_MANIFEST_LINE_BYTES + 2 * sizeof(invalid_lines)];
	struct sl_manifest_line line = sample(5);
	size_t n = sizeof(invalid_lines) - 1;

	memcpy(text, invalid_lines, n);
	n += sl_manifest_print(&line, text + n);
	memcpy(text + n, invalid_lines, sizeof(invalid_lines) - 1);
	folder_write(&folder, "manifest.jsonl", text, n + sizeof(invalid_lines) - 1);
	expect_batches(s, 1, (const uint64_t[]){5}, 12, false);
}

/* The shortest possible line is read, not ignored as an empty line. */
TEST(shortest_line_is_read)
{
	struct open_dir *s = &open_dir;
	char text[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest_line line = {.batch = 0};
	struct sl_manifest m;
	size_t n = sl_manifest_print(&line, text);

	folder_write(&folder, "manifest.jsonl", text, n);
	assert_ok(sl_manifest_read(&s->dir, &m));
	assert_int_equal(m.n, 1);
	assert_int_equal(m.damaged, 0);
	sl_manifest_free(&m);
}

/* Lines too short to be valid take no memory: 4 million of them are read in 512 MiB. */
TEST(empty_lines_take_no_memory)
{
	struct open_dir *s = &open_dir;
	struct rlimit was, low;
	struct sl_manifest m;
	size_t n = 4000000;
	char *text = (char *)malloc(n);
	enum sl_status status;

	memset(text, '\n', n);
	folder_write(&folder, "manifest.jsonl", text, n);
	free(text);
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	low = was;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	low.rlim_cur = (rlim_t)512 << 20;
#endif
	assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
	status = sl_manifest_read(&s->dir, &m);
	setrlimit(RLIMIT_AS, &was);
	assert_ok(status);
	assert_int_equal(m.n, 0);
	assert_int_equal(m.damaged, n);
	sl_manifest_free(&m);
}

/* The steps of --resume, read, rewrite and append, give the bytes of an uninterrupted run. */
TEST(torn_last_line_is_repaired)
{
	struct open_dir *s = &open_dir;
	struct sl_manifest m;
	size_t size, size_again;
	char *text, *again;

	for (uint64_t batch = 0; batch < 3; batch++)
		append(s, batch);
	text = folder_read(&folder, "manifest.jsonl", &size);
	folder_write(&folder, "manifest.jsonl", text, size - 100);
	assert_ok(sl_manifest_read(&s->dir, &m));
	assert_false(m.in_order);
	assert_ok(sl_manifest_write(&s->dir, &m));
	sl_manifest_free(&m);
	expect_batches(s, 2, (const uint64_t[]){0, 1}, 0, true);
	append(s, 2);
	again = folder_read(&folder, "manifest.jsonl", &size_again);
	assert_int_equal(size_again, size);
	assert_memory_equal(again, text, size);
	free(text);
	free(again);
}

/* After a failed append the file has complete lines only. */
TEST(failed_append_is_reported)
{
	static const char *const faults[] = {
		"file_append:1:28", "file_datasync:1:5", "file_close:1:5"};
	struct open_dir *s = &open_dir;
	struct sl_manifest_line line = sample(1);

	append(s, 0);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		assert_null(sl_fault_set(faults[i]));
		assert_int_equal(sl_manifest_append(&s->dir, &line), SL_DISK);
		expect_batches(s, 1, (const uint64_t[]){0}, 0, true);
	}
	sl_fault_set(NULL);
	append(s, 1);
	expect_batches(s, 2, (const uint64_t[]){0, 1}, 0, true);
}

/* If memory or the disk fails, the manifest is not treated as empty. */
TEST(failed_read_is_reported)
{
	static const char *const faults[] = {"file_open:1:5", "file_stat:1:5", "file_read:1:5"};
	struct open_dir *s = &open_dir;
	struct sl_manifest m;

	append(s, 0);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		assert_null(sl_fault_set(faults[i]));
		assert_int_equal(sl_manifest_read(&s->dir, &m), SL_DISK);
		sl_manifest_free(&m);
	}
	for (int k = 1;; k++) {
		char fault[64];
		enum sl_status status;

		snprintf(fault, sizeof(fault), "host_malloc:%d:12", k);
		sl_fault_set(fault);
		status = sl_manifest_read(&s->dir, &m);
		sl_manifest_free(&m);
		if (status == SL_OK) {
			assert_true(k > 3);
			break;
		}
		assert_int_equal(status, SL_HOST_MEMORY);
	}
}

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}
