/*
 * dirs.c - tests that directories are created with their parents, listed in order, and refused
 * with a message.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

static enum sl_status open_below(const char *name, bool make)
{
	struct sl_dir d;
	enum sl_status s = sl_dir_open(folder_path(&folder, name), make, &d);

	assert_int_equal(d.fd >= 0, s == SL_OK);
	assert_int_equal(d.lock, -1);
	sl_dir_close(&d);
	assert_int_equal(d.fd, -1); /* so that a second time does no harm */
	return s;
}

static bool is_folder(const char *name)
{
	struct stat facts;

	return stat(folder_path(&folder, name), &facts) == 0 && S_ISDIR(facts.st_mode);
}

TEST(directories_are_made_with_parents)
{
	assert_fails(open_below("a", false), SL_DISK, "cannot open the folder");
	assert_false(folder_has(&folder, "a"));
	assert_ok(open_below("a/b/c", true));
	assert_ok(open_below("a/b/c", true));
	assert_ok(open_below("a/b/c", false));
	assert_ok(open_below("a//b///d//", true));
	assert_ok(open_below("./e/../f", true));
	assert_true(is_folder("a/b/c") && is_folder("a/b/d") && is_folder("e") && is_folder("f"));
	assert_int_equal(folder_count(&folder), 3);
}

TEST(temporary_directories_have_new_names)
{
	struct sl_dir a, b;

	assert_int_equal(setenv("TMPDIR", folder.path, 1), 0);
	assert_ok(sl_dir_make_temporary(NULL, "work", &a));
	assert_ok(sl_dir_make_temporary(NULL, "work", &b));
	assert_true(sl_dir_is_writable(&a));
	assert_string_not_equal(a.path, b.path);
	assert_int_equal(strncmp(a.path, folder.path, strlen(folder.path)), 0);
	assert_int_equal(folder_count(&folder), 2);
	sl_dir_close(&a);
	sl_dir_close(&b);
	assert_ok(sl_dir_remove(a.path));
	assert_ok(sl_dir_remove(b.path));
	assert_null(sl_fault_set("dir_make:1:28"));
	assert_fails(sl_dir_make_temporary(NULL, "work", &a), SL_DISK, "cannot create the folder");
	assert_null(sl_fault_set("file_open:1:24"));
	assert_fails(sl_dir_make_temporary(NULL, "work", &a), SL_DISK, "cannot open");
	sl_fault_set(NULL);
	assert_int_equal(folder_count(&folder), 0);
	unsetenv("TMPDIR");
}

TEST(relative_paths_are_opened)
{
	struct sl_dir d;
	char here[4096];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder.path), 0);
	assert_ok(sl_dir_open("a/b/", true, &d));
	assert_string_equal(d.path, "a/b");
	sl_dir_close(&d);
	assert_ok(sl_dir_open("c", true, &d));
	sl_dir_close(&d);
	assert_ok(sl_dir_open(".", true, &d));
	sl_dir_close(&d);
	assert_int_equal(chdir(here), 0);
	assert_true(is_folder("a/b") && is_folder("c"));
	assert_ok(sl_dir_open("/", true, &d));
	assert_string_equal(d.path, "/");
	sl_dir_close(&d);
}

TEST(links_to_directories_are_followed)
{
	assert_ok(open_below("real", true));
	assert_int_equal(symlink("real", folder_path(&folder, "link")), 0);
	assert_int_equal(symlink("nowhere", folder_path(&folder, "dangling")), 0);
	assert_ok(open_below("link", true));
	assert_ok(open_below("link/below", true));
	assert_true(is_folder("real/below"));
	assert_fails(open_below("dangling", true), SL_DISK, "dangling: No such file");
	assert_fails(open_below("dangling/x", true), SL_DISK, "dangling: No such file");
	assert_false(folder_has(&folder, "nowhere"));
}

/* The message names the component that is a file. */
TEST(blocking_component_is_named)
{
	static const char *const paths[] = {"file", "file/", "file/a", "file/a/b"};

	folder_write(&folder, "file", "x", 1);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_fails(open_below(paths[i], true), SL_DISK, "/file: Not a directory");
		assert_fails(open_below(paths[i], false), SL_DISK, "Not a directory");
	}
	assert_int_equal(folder_count(&folder), 1);
}

TEST(invalid_paths_are_refused)
{
	static char path[SL_PATH_BYTES + 1];
	struct sl_dir d;

	assert_fails(sl_dir_open("", true, &d), SL_USAGE, "0 bytes");
	memset(path, '/', SL_PATH_BYTES);
	assert_fails(sl_dir_open(path, true, &d), SL_USAGE, "4096 bytes");
	memset(path, 'a', 300);
	path[300] = '\0';
	assert_fails(sl_dir_open(path, true, &d), SL_DISK, "File name too long");
}

TEST(failed_calls_are_reported)
{
	static const struct {
		const char *fault, *message;
	} cases[] = {{"dir_make:1:30", "cannot create the folder"},
		{"dir_make:2:13", "/a/b: Permission denied (this user has no permission); change"},
		{"file_dirsync:1:5", "cannot sync the parent of the new folder"},
		{"file_open:1:24", "Too many open files"},
		{"file_open:3:24", "Too many open files"}};
	struct sl_dir d;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sl_fault_set(cases[i].fault);
		assert_fails(open_below("a/b", true), SL_DISK, cases[i].message);
		rmdir(folder_path(&folder, "a/b"));
		rmdir(folder_path(&folder, "a"));
	}
	sl_fault_set(
		"file_open:1:13,file_dirsync:1:22"); /* a parent that may not be read, or synced */
	assert_ok(open_below("a/b", true));
	sl_fault_set("dir_space:1:5");
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_fails(sl_dir_free_bytes(&d, &bytes), SL_DISK, "free space");
	assert_ok(sl_dir_free_bytes(&d, &bytes));
	assert_true(bytes > 0);
	sl_dir_close(&d);
}

/* --- listing ------------------------------------------------------------------------------ */

struct seen {
	size_t n, stop_at;
	char last[256];
};

static enum sl_status record_name(void *of, const char *name)
{
	struct seen *seen = (struct seen *)of;

	assert_true(strcmp(seen->last, name) < 0);
	snprintf(seen->last, sizeof(seen->last), "%s", name);
	return ++seen->n == seen->stop_at ? sl_fail(SL_CHECK_FAILED, "stop") : SL_OK;
}

enum { MANY = 700 };

TEST(entries_are_listed_in_order)
{
	struct seen seen = {0, 0, ""};
	struct sl_dir d;
	char name[64];

	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_each(&d, record_name, &seen));
	assert_int_equal(seen.n, 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d_a_name_of_some_length", i * 37 % MANY);
		folder_write(&folder, name, "", 0);
	}
	assert_ok(sl_dir_each(&d, record_name, &seen));
	assert_int_equal(seen.n, MANY);
	seen = (struct seen){0, 10, ""};
	assert_fails(sl_dir_each(&d, record_name, &seen), SL_CHECK_FAILED, "stop");
	assert_int_equal(seen.n, 10);
	sl_dir_close(&d);
}

TEST(failed_listing_is_reported)
{
	static const char *const texts[] = {"file_open:1:5", "dir_read:1:5", "dir_read:2:5",
		"host_malloc:1:12", "host_malloc:2:12"};
	struct seen seen = {0, 0, ""};
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	folder_write(&folder, "a", "", 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		sl_fault_set(texts[i]);
		assert_int_equal(
			sl_dir_each(&d, record_name, &seen), i < 3 ? SL_DISK : SL_HOST_MEMORY);
		assert_int_equal(seen.n, 0);
	}
	sl_dir_close(&d);
}

static enum sl_status remove_entry(void *of, const char *name)
{
	return sl_file_remove((const struct sl_dir *)of, name);
}

/* The callback may change the folder. */
TEST(callback_may_remove_entries)
{
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	folder_write(&folder, "a", "", 0);
	folder_write(&folder, "b", "", 0);
	assert_ok(sl_dir_each(&d, remove_entry, &d));
	assert_int_equal(folder_count(&folder), 0);
	sl_dir_close(&d);
}

TEST(directory_is_emptied_without_memory)
{
	struct sl_dir d;
	char name[300];

	assert_ok(sl_dir_open(folder.path, false, &d));
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d_%0200d", i, i);
		folder_write(&folder, name, "", 0);
	}
	sl_fault_set("dir_read:1:5");
	assert_fails(sl_dir_empty(&d), SL_DISK, "list");
	sl_fault_set("host_malloc:1:12");
	assert_ok(sl_dir_empty(&d));
	sl_fault_set("");
	assert_int_equal(folder_count(&folder), 0);
	sl_dir_close(&d);
}

BEFORE_EACH()
{
}
