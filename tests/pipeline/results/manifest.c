/* manifest.c - files of lines: reading, appending, torn and invalid lines, failures. */
#include "pipeline/results/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/faults/fault_injection.h"
#include "tests/pipeline/results/manifest_sample.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"

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

TEST(appended_lines_are_read)
{
	struct open_dir *s = &open_dir;

	expect_batches(s, 0, NULL, 0, true);
	for (uint64_t batch = 0; batch < 3; batch++)
		append(s, batch);
	expect_batches(s, 3, (const uint64_t[]){0, 1, 2}, 0, true);
}

TEST(lines_out_of_order_are_read)
{
	struct open_dir *s = &open_dir;

	append(s, 2);
	append(s, 0);
	append(s, 1);
	expect_batches(s, 3, (const uint64_t[]){0, 1, 2}, 0, false);
}

TEST(first_of_repeated_batches_is_used)
{
	struct open_dir *s = &open_dir;
	struct sl_manifest_line other = sample(1);

	append(s, 0);
	append(s, 1);
	other.file_bytes = 1;
	assert_ok(sl_manifest_append(&s->dir, &other));
	expect_batches(s, 2, (const uint64_t[]){0, 1}, 1, false);
	append(s, 0);
	expect_batches(s, 2, (const uint64_t[]){0, 1}, 2, false);
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
