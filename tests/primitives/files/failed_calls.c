/*
 * failed_calls.c - the functions of primitives/files with system calls that fail: a failure has its
 * status, a message with the path, the text of errno and the remedy, and leaves the folder
 * unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"
#include "tests/support/program/program.h"

/* The folder has the file a with this text, and an empty LOCK. */
#define OLD "old"

static char bytes[(2 << 20) + 1]; /* three writes */
static struct sl_dir other;       /* the same folder, opened once more */
static struct sl_dir made;
static struct sl_map map;
static char *read_bytes;
static size_t size, listed;
static uint64_t device, number;
static uint32_t crc;
static bool exists;
static struct sl_lock_holder holder;

static enum sl_status count_name(void *unused, const char *name)
{
	(void)unused;
	listed += name[0] != '\0';
	return SL_OK;
}

/* --- calls ------------------------------------------------------------------------------------ */

#define HERE    (&open_dir.dir)
#define PATH(x) folder_path(&folder, x)

#define CALL(name, expression)                \
	static enum sl_status do_##name(void) \
	{                                     \
		return expression;            \
	}

CALL(commit, sl_file_commit(HERE, "new", bytes, sizeof(bytes), false))
CALL(commit_again, sl_file_commit(HERE, "a", bytes, 1, false))
CALL(replace, sl_file_commit(HERE, "a", "new text", 8, true))
CALL(replace_large, sl_file_commit(HERE, "a", bytes, sizeof(bytes), true))
CALL(make_by_replace, sl_file_commit(HERE, "new", bytes, sizeof(bytes), true))
CALL(append, sl_file_append(HERE, "a", "er", 2))
CALL(append_large, sl_file_append(HERE, "a", bytes, sizeof(bytes)))
CALL(append_new, sl_file_append(HERE, "new", bytes, sizeof(bytes)))
CALL(remove, sl_file_remove(HERE, "new"))
CALL(remove_a, sl_file_remove(HERE, "a"))
CALL(find, sl_file_exists(HERE, "none", &exists))
CALL(identify, sl_file_identity(HERE, "none", &exists, &device, &number))
CALL(find_folder, sl_dir_exists(folder.path, &exists))
CALL(read, sl_file_read(HERE, "a", &read_bytes, &size))
CALL(read_path, sl_path_read(PATH("a"), 99, &read_bytes, &size))
CALL(check, sl_file_check(HERE, "a", &number, &crc))
CALL(map, sl_map_file(PATH("a"), &map))
CALL(make_folders, sl_dir_open(PATH("b/c"), true, &made))
CALL(make_temporary, sl_dir_make_temporary(NULL, "work", &made))
CALL(list, sl_dir_each(HERE, count_name, NULL))
CALL(free_space, sl_dir_free_bytes(HERE, &number))
CALL(lock, sl_dir_lock(&other))
CALL(find_holder, sl_dir_lock_holder(HERE, "/proc/locks", &holder))

/*
 * With each of the faults, which spaces separate. A failure of the disk has the text of the error
 * in its message; more is another part of the message, or after a success the contents of the file
 * a.
 */
static const struct row {
	const char *name;
	enum sl_status (*call)(void);
	enum sl_status status;
	const char *faults, *more;
} rows[] = {
#define CALLED(call) #call, do_##call
	{CALLED(commit), SL_DISK,
		"file_open:1:28 file_write:1:28 file_write:2+:122 file_write:3:5 file_fsync:1:5 file_close:1:30 "
		"file_rename:1:5 file_rename:1+:28 file_dirsync:1:5 file_rename:1:22,file_remove:1:5 "
		"file_rename:1:22,file_link:1:5 file_link:1:1,file_rename:1+:22",
		"new"},
	{CALLED(commit), SL_DISK, "file_write:1:28",
		"new.part: No space left on device (the file system is full); free space"},
	{CALLED(commit), SL_DISK, "file_write:1:122",
		"(the quota of disk space is used up); free space"},
	{CALLED(commit), SL_DISK, "file_write:1:27",
		"(the file would exceed the largest size of a file here, see ulimit -f); raise"},
	{CALLED(commit), SL_DISK, "file_write:1:5",
		"(the storage reported an error, see dmesg); check"},
	{CALLED(commit), SL_DISK, "file_write:1:9999",
		"unknown error (the system call failed); check the folder"},
	/*
	 * a signal; a file system that cannot sync folders, or without RENAME_NOREPLACE, without
	 * links
	 */
	{CALLED(commit), SL_OK,
		"file_write:1:4 file_write:4:28 file_fsync:2:5 file_dirsync:1:22 file_rename:1:22 file_rename:1:38 "
		"file_rename:1:22,file_link:1:1 file_rename:1:22,file_link:1:95",
		OLD},
	{CALLED(commit_again), SL_OUTPUT_IN_USE,
		"none:1:1 file_rename:1:22 file_rename:1:38 file_rename:1:22,file_link:1:1 "
		"file_rename:1:22,file_link:1:95",
		"/a already exists"},
	{CALLED(replace_large), SL_DISK,
		"file_open:1:28 file_write:1:28 file_write:3:5 file_fsync:1:5 file_close:1:30 file_rename:1+:5",
		"/a"},
	/* if only the sync of the folder fails, the file stays replaced */
	{CALLED(replace), SL_DISK, "file_dirsync:1:5", "sync the folder"},
	{CALLED(replace), SL_OK, "none:1:1", "new text"},
	{CALLED(make_by_replace), SL_OK, "none:1:1", OLD},
	{CALLED(append_large), SL_DISK,
		"file_open:1:5 file_stat:1:5 file_append:1:28 file_append:2:28 file_append:3:28 file_datasync:1:5 "
		"file_close:1:5",
		"/a"},
	{CALLED(append_new), SL_DISK,
		"file_open:2:5 file_stat:1:5 file_append:3:28 file_datasync:1:5 file_close:1:5 file_dirsync:1:5",
		"/new"},
	{CALLED(append), SL_OK, "none:1:1 file_append:1:4", OLD "er"},
	{CALLED(append_new), SL_OK, "file_append:4:28", OLD},
	{CALLED(remove), SL_OK, "none:1:1", OLD},
	{CALLED(remove_a), SL_DISK, "file_remove:1:5", "cannot remove"},
	{CALLED(find), SL_DISK, "file_stat:1:5", "/none"},
	{CALLED(identify), SL_DISK, "file_stat:1:5", "/none"},
	{CALLED(find_folder), SL_DISK, "file_stat:1:5", ""},
	{CALLED(read), SL_DISK, "file_open:1:5 file_stat:1:5 file_read:1:5 file_close:1:5", "/a"},
	{CALLED(read), SL_HOST_MEMORY, "host_malloc:1:12", ""},
	{CALLED(read), SL_OK, "none:1:1 file_read:1:4", OLD},
	{CALLED(read_path), SL_DISK, "file_open:1:5 file_stat:1:5 file_read:1:5 file_close:1:5",
		"/a"},
	{CALLED(check), SL_DISK, "file_open:1:5 file_stat:1:5 file_read:1:5 file_close:1:5", "/a"},
	{CALLED(map), SL_DISK, "file_open:1:5 file_stat:1:5 file_close:1:5", "/a"},
	{CALLED(map), SL_HOST_MEMORY, "file_map:1:12", "/a"},
	{CALLED(make_folders), SL_DISK, "dir_make:1:30", "cannot create the folder"},
	{CALLED(make_folders), SL_DISK, "dir_make:2:13",
		"/b/c: Permission denied (this user has no permission); change"},
	{CALLED(make_folders), SL_DISK, "file_dirsync:1:5",
		"cannot sync the parent of the new folder"},
	{CALLED(make_folders), SL_DISK, "file_open:1:24 file_open:3:24", ""},
	/* a parent that may not be read, or synced */
	{CALLED(make_folders), SL_OK, "file_open:1:13,file_dirsync:1:22", OLD},
	{CALLED(make_temporary), SL_DISK, "dir_make:1:28", "cannot create the folder"},
	{CALLED(make_temporary), SL_DISK, "file_open:1:24", "cannot open"},
	{CALLED(make_temporary), SL_OK, "none:1:1", OLD},
	{CALLED(list), SL_DISK, "dir_read:1:5", "list"},
	{CALLED(free_space), SL_DISK, "dir_space:1:5", "free space"},
	{CALLED(lock), SL_DISK, "file_open:1:13 dir_lock:1:37 dir_lock:1:95 dir_sign:1:28", "LOCK"},
	{CALLED(lock), SL_OK, "none:1:1", OLD}, /* failed calls have released it */
	{CALLED(find_holder), SL_DISK, "file_open:1:5 file_stat:1:5 file_read:1:5 file_close:1:5",
		"LOCK"},
};

/* --- checks ----------------------------------------------------------------------------------- */

/* Closes, removes and restores what a successful call has made. */
static void tidy(void)
{
	sl_dir_close(&other);
	sl_dir_close(&made);
	sl_unmap(&map);
	sl_memory_give(SL_HOST, read_bytes);
	read_bytes = NULL;
	rmdir(PATH("b/c"));
	rmdir(PATH("b"));
}

static void expect_success(const struct row *r, const char *fault)
{
	if (sl_file_exists(HERE, "new", &exists) == SL_OK && exists) {
		assert_ok(sl_file_check(HERE, "new", &number, &crc));
		assert_int_equal(number, sizeof(bytes));
		assert_ok(do_remove());
	}
	if (r->call == do_read)
		assert_string_equal(read_bytes, OLD);
	if (r->call == do_make_temporary) {
		assert_ptr_equal(strstr(made.path, folder.path), made.path);
		assert_ok(sl_dir_remove(made.path));
	}
	print_message("%s, %s\n", r->name, fault);
	expect_file(&folder, "a", r->more);
}

static void expect_failure(const struct row *r, const char *fault)
{
	const char *message = sl_last_error();
	const char *reason = strerrordesc_np(atoi(strrchr(fault, ':') + 1));

	if (!strstr(message, r->more) ||
		(r->status == SL_DISK && reason && !strstr(message, reason)))
		fail_msg("%s, %s: %s", r->name, fault, message);
	assert_true(read_bytes == NULL && map.at == NULL && listed == 0);
	assert_true(other.lock == -1 && made.fd == -1);
	if (r->call == do_replace)
		expect_file(&folder, "a", "new text");
}

static void check_row(const struct row *r, const char *fault)
{
	uint64_t before = folder_hash(folder.path, NULL);
	enum sl_status status;

	listed = 0;
	assert_ok(sl_dir_open(folder.path, false, &other));
	assert_null(sl_fault_set(fault));
	status = r->call();
	sl_fault_set(NULL);
	if (status != r->status)
		fail_msg("%s, %s: %s", r->name, fault, sl_status_name(status));
	if (status == SL_OK)
		expect_success(r, fault);
	else
		expect_failure(r, fault);
	tidy();
	if (r->call == do_replace || r->call == do_append)
		assert_ok(sl_file_commit(HERE, "a", OLD, strlen(OLD), true));
	if (folder_hash(folder.path, NULL) != before)
		fail_msg("%s, %s has changed the folder", r->name, fault);
}

TEST(failures_are_reported_and_change_nothing)
{
	made.fd = made.lock = -1;
	assert_int_equal(setenv("TMPDIR", folder.path, 1), 0);
	open_dir_begin();
	write_text(&folder, "a", OLD);
	write_text(&folder, "LOCK", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char faults[512], *fault, *rest = faults;

		snprintf(faults, sizeof(faults), "%s", rows[i].faults);
		while ((fault = strsep(&rest, " ")) != NULL)
			check_row(&rows[i], fault);
	}
	open_dir_end();
}
