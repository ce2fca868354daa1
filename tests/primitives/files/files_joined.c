/* files_joined.c - a second writer of a .part file: it writes other bytes, and never removes the file. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/faults/fault_injection.h"
#include "tests/primitives/files/files_check.h"

/* Begins the file "a", and returns its inode number. */
static uint64_t begin(struct open_dir *s, struct sl_file_writer *first)
{
	uint64_t device, number;
	bool exists;

	assert_ok(sl_file_begin(&s->dir, "a", first));
	assert_ok(sl_file_identity(&s->dir, "a.part", &exists, &device, &number));
	assert_true(exists);
	return number;
}

TEST(two_writers_make_one_file)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer first, second;
	bool joined;

	assert_ok(sl_file_join(&s->dir, "a", begin(s, &first), &joined, &second));
	assert_true(joined);
	assert_ok(sl_file_seek(&second, 4));
	assert_ok(sl_file_add(&second, "ef", 2));
	assert_ok(sl_file_add(&first, "ab", 2));
	assert_ok(sl_file_seek(&second, 2));
	assert_ok(sl_file_add(&second, "cd", 2));
	assert_ok(sl_file_sync(&second));
	assert_ok(sl_file_end(&first, false));
	expect_content(s, "a", "abcdef");
}

/* Only the writer that has begun the file removes it. */
TEST(a_second_writer_removes_nothing)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer first, second;
	uint64_t number = begin(s, &first);
	bool joined;

	for (int i = 0; i < 3; i++) {
		assert_ok(sl_file_join(&s->dir, "a", number, &joined, &second));
		assert_true(joined);
		if (i == 0)
			sl_file_drop(&second);
		else
			assert_null(sl_fault_set(i == 1 ? "file_write:1:28" : "file_fsync:1:5"));
		if (i == 1)
			assert_fails(sl_file_add(&second, "x", 1), SL_DISK, "write");
		else if (i == 2)
			assert_fails(sl_file_sync(&second), SL_DISK, "sync");
		sl_fault_set(NULL);
		assert_true(folder_has(&folder, "a.part"));
		assert_int_equal(second.fd, -1);
	}
	sl_file_drop(&first);
	assert_int_equal(folder_count(&folder), 0);
}

TEST(another_file_is_not_joined)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer first, second;
	uint64_t number = begin(s, &first);
	bool joined = true;

	assert_ok(sl_file_join(&s->dir, "a", number + 1, &joined, &second));
	assert_false(joined);
	assert_int_equal(second.fd, -1);
	assert_true(folder_has(&folder, "a.part"));
	sl_file_drop(&first);
	joined = true;
	assert_ok(sl_file_join(&s->dir, "a", number, &joined, &second));
	assert_false(joined);
	assert_int_equal(0, symlink("b", folder_path(&folder, "a.part")));
	assert_fails(sl_file_join(&s->dir, "a", number, &joined, &second), SL_DISK, "a.part");
	assert_fails(sl_file_join(&s->dir, "../a", number, &joined, &second), SL_USAGE, "a");
}

TEST(wrong_offsets_are_refused)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer first;

	(void)begin(s, &first);
	assert_fails(sl_file_seek(&first, UINT64_MAX), SL_DISK, "a.part");
	assert_null(sl_fault_set("file_seek:1:28"));
	assert_fails(sl_file_seek(&first, 1), SL_DISK, "No space left");
	sl_fault_set(NULL);
	sl_file_drop(&first);
}

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}
