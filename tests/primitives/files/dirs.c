/* dirs.c - tests that directories are created with their parents, listed in order, emptied, and refused with a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

enum { MANY = 700 };

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

/* What stands in the folder: file, link to real, dangling link. The message names the component that cannot be opened. */
TEST(directories_are_made_with_parents_or_refused)
{
	static char long_name[301];
	static const struct {
		const char *path;
		bool make;
		const char *error, *made; /* NULL: none */
	} rows[] = {
		{"a", false, "cannot open the folder", NULL},
		{"a/b/c", true, NULL, "a/b/c"},
		{"a/b/c", true, NULL, "a/b/c"},
		{"a/b/c", false, NULL, "a/b/c"},
		{"a//b///d//", true, NULL, "a/b/d"},
		{"./e/../f", true, NULL, "f"},
		{"link", true, NULL, "real"},
		{"link/below", true, NULL, "real/below"},
		{"dangling", true, "dangling: No such file", NULL},
		{"dangling/x", true, "dangling: No such file", NULL},
		{"file", true, "/file: Not a directory", NULL},
		{"file/", true, "/file: Not a directory", NULL},
		{"file/a", true, "/file: Not a directory", NULL},
		{"file/a/b", true, "/file: Not a directory", NULL},
		{"file/a", false, "Not a directory", NULL},
		{long_name, true, "File name too long", NULL},
	};

	memset(long_name, 'a', 300);
	folder_write(&folder, "file", "x", 1);
	assert_int_equal(mkdir(folder_path(&folder, "real"), 0777), 0);
	assert_int_equal(symlink("real", folder_path(&folder, "link")), 0);
	assert_int_equal(symlink("nowhere", folder_path(&folder, "dangling")), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat facts;

		if (rows[i].error)
			assert_fails(
				open_below(rows[i].path, rows[i].make), SL_DISK, rows[i].error);
		else
			assert_ok(open_below(rows[i].path, rows[i].make));
		assert_true(
			!rows[i].made || (stat(folder_path(&folder, rows[i].made), &facts) == 0 &&
						 S_ISDIR(facts.st_mode)));
	}
	assert_int_equal(folder_count(&folder), 7); /* file, real, link, dangling, a, e, f */
}

TEST(paths_can_be_relative_but_not_empty_or_long)
{
	static const char *const paths[][2] = {{"a/b/", "a/b"}, {"c", "c"}, {".", "."}, {"/", "/"}};
	static char path[SL_PATH_BYTES + 1];
	char here[4096];
	struct sl_dir d;

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(folder.path), 0);
	for (int i = 0; i < 4; i++) {
		assert_ok(sl_dir_open(paths[i][0], true, &d));
		assert_string_equal(d.path, paths[i][1]);
		sl_dir_close(&d);
	}
	assert_int_equal(chdir(here), 0);
	assert_true(folder_has(&folder, "a/b") && folder_has(&folder, "c"));
	assert_fails(sl_dir_open("", true, &d), SL_USAGE, "0 bytes");
	memset(path, '/', SL_PATH_BYTES);
	assert_fails(sl_dir_open(path, true, &d), SL_USAGE, "4096 bytes");
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
	assert_int_equal(folder_count(&folder), 0);
	unsetenv("TMPDIR");
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
	/* a parent that may not be read, or synced */
	sl_fault_set("file_open:1:13,file_dirsync:1:22");
	assert_ok(open_below("a/b", true));
	sl_fault_set("dir_space:1:5");
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_fails(sl_dir_free_bytes(&d, &bytes), SL_DISK, "free space");
	assert_ok(sl_dir_free_bytes(&d, &bytes));
	assert_true(bytes > 0);
	sl_dir_close(&d);
}

/* --- listing ---------------------------------------------------------------------------------- */

struct seen {
	size_t n, stop_at;
	char last[256];
	const struct sl_dir
		*remove_from; /* not NULL: each entry is removed, so the folder changes meanwhile */
};

static enum sl_status record_name(void *of, const char *name)
{
	struct seen *seen = (struct seen *)of;

	assert_true(strcmp(seen->last, name) < 0);
	snprintf(seen->last, sizeof(seen->last), "%s", name);
	if (seen->remove_from)
		SL_TRY(sl_file_remove(seen->remove_from, name));
	return ++seen->n == seen->stop_at ? sl_fail(SL_CHECK_FAILED, "stop") : SL_OK;
}

/* Files in no order; width: of the second number in their names. */
static void write_many(int width)
{
	char name[300];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d_%0*d", i * 37 % MANY, width, i);
		folder_write(&folder, name, "", 0);
	}
}

TEST(entries_are_listed_in_order)
{
	static const char *const faults[] = {"file_open:1:5", "dir_read:1:5", "dir_read:2:5",
		"host_malloc:1:12", "host_malloc:2:12"};
	struct seen seen = {0};
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_each(&d, record_name, &seen));
	assert_int_equal(seen.n, 0);
	write_many(20);
	for (int i = 0; i < 5; i++) {
		sl_fault_set(faults[i]);
		assert_int_equal(
			sl_dir_each(&d, record_name, &seen), i < 3 ? SL_DISK : SL_HOST_MEMORY);
		assert_int_equal(seen.n, 0);
	}
	sl_fault_set(NULL);
	assert_ok(sl_dir_each(&d, record_name, &seen));
	assert_int_equal(seen.n, MANY);
	seen = (struct seen){.stop_at = 10};
	assert_fails(sl_dir_each(&d, record_name, &seen), SL_CHECK_FAILED, "stop");
	assert_int_equal(seen.n, 10);
	seen = (struct seen){.remove_from = &d};
	assert_ok(sl_dir_each(&d, record_name, &seen));
	assert_int_equal(folder_count(&folder), 0);
	sl_dir_close(&d);
}

TEST(directory_is_emptied_without_memory)
{
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	write_many(200);
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
