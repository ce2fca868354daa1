/*
 * read.c - tests that only regular files are read and mapped, that streams are read to their ends,
 * and changes detected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

#define PATH(name) folder_path(&folder, name)

BEFORE_EACH()
{
}

/* What is not a regular file of at most this size is refused, read or mapped. */
TEST(files_are_read_by_path)
{
	static const struct {
		const char *path, *error, *error_of_map;
		enum sl_status status;
	} rows[] = {{"b", "/b: No", "it does not exist", SL_DISK}, {"", "No such", "", SL_DISK},
		{"pipe", "regular", "not a regular file", SL_BAD_INPUT},
		{".", "is a folder", "is a folder", SL_BAD_INPUT},
		{"/dev/zero", "regular", "not a regular file", SL_BAD_INPUT}};
	char *text;
	size_t size;
	struct sl_map m;

	folder_write(&folder, "a", "a\0b", 3);
	assert_int_equal(symlink("a", PATH("link")), 0);
	assert_int_equal(mkfifo(PATH("pipe"), 0600), 0);
	assert_ok(sl_path_read(PATH("link"), 3, &text, &size));
	assert_int_equal(size, 3);
	assert_memory_equal(text, "a\0b", 4);
	sl_memory_give(SL_HOST, text);
	assert_fails(sl_path_read(PATH("a"), 2, &text, &size), SL_BAD_INPUT,
		"has 3 bytes, but at most 2 are read");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = rows[i].path;

		path = path[0] && path[0] != '/' ? PATH(path) : path;
		assert_fails(sl_path_read(path, 99, &text, &size), rows[i].status, rows[i].error);
		assert_fails(sl_map_file(path, &m), rows[i].status, rows[i].error_of_map);
		assert_true(text == NULL && m.at == NULL);
	}
}

/* Writes text to a pipe and reads it back as a stream of at most most bytes. */
static enum sl_status read_pipe(const char *in, size_t most, char **text, size_t *size)
{
	enum sl_status s;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], in, strlen(in)), strlen(in));
	close(ends[1]);
	s = sl_stream_read(ends[0], "<pipe>", most, text, size);
	close(ends[0]);
	assert_int_equal(*text != NULL, s == SL_OK);
	return s;
}

TEST(streams_are_read_up_to_their_ends)
{
	char *text;
	size_t size;

	for (size_t most = 3; most < 8; most++) {
		const char *in = most < 6 ? "abc" : "";

		assert_ok(read_pipe(in, most, &text, &size));
		assert_int_equal(size, strlen(in));
		assert_string_equal(text, in);
		sl_memory_give(SL_HOST, text);
	}
	assert_fails(read_pipe("abcd", 3, &text, &size), SL_BAD_INPUT, "has more than 3 bytes");
	sl_fault_set("file_read:1:5");
	assert_fails(read_pipe("abc", 9, &text, &size), SL_DISK, "<pipe>");
	sl_fault_set("host_malloc:1:12");
	assert_fails(read_pipe("abc", 9, &text, &size), SL_HOST_MEMORY, "");
}

/*
 * A write changes the mapped file; another file under the same name does not. A kernel can give all
 * writes of one tick the same time, so the tick must be over when the file is mapped.
 */
TEST(changes_of_the_mapped_file_are_detected)
{
	const char *path = PATH("some");
	struct timespec now;
	struct sl_map m;

	for (int i = 0; i < 10; i++) {
		write_text(&folder, "some", "bytes");
		assert_ok(sl_map_file(path, &m));
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		assert_true(now.tv_sec * INT64_C(1000000000) + now.tv_nsec > m.written_ns);
		assert_false(sl_map_is_changed(&m, path));
		if (i > 0)
			folder_flip(&folder, "some", 0, 1);
		else
			assert_int_equal(0, truncate(path, 1));
		assert_true(sl_map_is_changed(&m, path));
		sl_unmap(&m);
	}
	assert_ok(sl_map_file(path, &m));
	write_text(&folder, "other", "by");
	assert_int_equal(0, rename(PATH("other"), path));
	assert_false(sl_map_is_changed(&m, path));
	sl_unmap(&m);
}
