/*
 * dirs.c - tests that directories are created with their parents, listed in order, emptied, and
 * refused with a message.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { MANY = 700 };

BEFORE_EACH()
{
}

/*
 * What stands in the folder: file, link to real, dangling link. The message names the component
 * that cannot be opened.
 */
TEST(directories_are_made_with_parents_or_refused)
{
	static char long_name[301], long_path[SL_PATH_BYTES + 1];
	static const struct {
		const char *path;
		bool make;
		const char *error, *made; /* NULL: none */
	} rows[] = {
		{"a", false, "cannot open the folder", NULL},
		{"a/b/c", true, NULL, "a/b/c"},
		{"a/b/c/", true, NULL, "a/b/c"},
		{"a/b/c", false, NULL, "a/b/c"},
		{"a//b///d//", true, NULL, "a//b///d"},
		{"./e/../f", true, NULL, "./e/../f"},
		{".", true, NULL, "."},
		{"/", true, NULL, "/"},
		{"link", true, NULL, "link"},
		{"link/below", true, NULL, "link/below"},
		{"dangling/x", true, "dangling: No such file", NULL},
		{"file", true, "file: Not a directory", NULL},
		{"file/", true, "file: Not a directory", NULL},
		{"file/a/b", true, "file: Not a directory", NULL},
		{"file/a", false, "Not a directory", NULL},
		{long_name, true, "File name too long", NULL},
		{"", true, "0 bytes", NULL},
		{long_path, true, "4096 bytes", NULL},
	};
	struct sl_dir d;
	bool exists = true;

	assert_int_equal(chdir(folder.path), 0);
	memset(long_name, 'a', 300);
	memset(long_path, '/', SL_PATH_BYTES);
	write_text(&folder, "file", "x");
	assert_int_equal(mkdir("real", 0777), 0);
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum sl_status s = sl_dir_open(rows[i].path, rows[i].make, &d);

		print_message("%.20s\n", rows[i].path);
		assert_true((d.fd >= 0) == (s == SL_OK) && d.lock == -1);
		if (rows[i].error) {
			assert_fails(s, strstr(rows[i].error, " bytes") ? SL_USAGE : SL_DISK,
				rows[i].error);
			continue;
		}
		assert_ok(s);
		assert_string_equal(d.path, rows[i].made);
		sl_dir_close(&d);
		assert_int_equal(d.fd, -1); /* so that a second time does no harm */
		assert_ok(sl_dir_exists(rows[i].made, &exists));
		assert_true(exists);
	}
	assert_true(folder_has(&folder, "a/b/d") && folder_has(&folder, "real/below"));
	assert_int_equal(folder_count(&folder), 7); /* file, real, link, dangling, a, e, f */
	assert_int_equal(chdir("/"), 0);
}

/* --- listing ---------------------------------------------------------------------------------- */

struct seen {
	size_t n, stop_at;
	char last[256];
	const struct sl_dir
		*dir; /* not NULL: each entry is removed, so the folder changes meanwhile */
};

static enum sl_status record_name(void *of, const char *name)
{
	struct seen *seen = (struct seen *)of;

	assert_true(strcmp(seen->last, name) < 0);
	snprintf(seen->last, sizeof(seen->last), "%s", name);
	if (seen->dir)
		SL_TRY(sl_file_remove(seen->dir, name));
	return ++seen->n == seen->stop_at ? sl_fail(SL_CHECK_FAILED, "stop") : SL_OK;
}

/* Makes files in no order; width is that of the second number in their names. */
static void write_many(int width)
{
	char name[300];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d_%0*d", i * 37 % MANY, width, i);
		write_text(&folder, name, "");
	}
}

TEST(entries_are_listed_in_order_and_removed)
{
	struct seen stops = {.stop_at = 10}, removes = {0};
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	write_many(20);
	assert_fails(sl_dir_each(&d, record_name, &stops), SL_CHECK_FAILED, "stop");
	assert_int_equal(stops.n, 10);
	removes.dir = &d;
	assert_ok(sl_dir_each(&d, record_name, &removes));
	assert_int_equal(removes.n, MANY);
	assert_int_equal(folder_count(&folder), 0);
	sl_fault_set("dir_read:1:5");
	assert_fails(sl_dir_each(&d, record_name, &stops), SL_DISK, "list");
	sl_dir_close(&d);
}
