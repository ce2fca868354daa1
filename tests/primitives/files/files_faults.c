/*
 * files_faults.c - tests that files are committed atomically when any system call fails, and when
 * a real disk is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/files/disk.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/files/files_check.h"
#include "tests/support/basic/small_disk.h"
#include "tests/support/program/process.h"

/* --- faults ------------------------------------------------------------------------------- */

static bool any_part(void)
{
	return folder_has(&folder, "a.part") || folder_has(&folder, "new.part");
}

/*
 * Commits with a fault at the k-th call, for k = 1, 2, ... until a commit has fewer calls. Each failure
 * must be SL_DISK with the errno in its message, and must leave the folder unchanged. Returns the
 * number of failures.
 */
static int sweep(const char *call, int error, const char *on, const char *name, bool replace)
{
	static char bytes[2 * MIB + 1];

	for (int k = 1;; k++) {
		uint64_t before = folder_hash(folder.path, NULL);
		char fault[64];
		enum sl_status status;

		snprintf(fault, sizeof(fault), "%s:%d%s:%d", call, k, on, error);
		assert_null(sl_fault_set(fault));
		status = sl_file_commit(dir(), name, bytes, sizeof(bytes), replace);
		sl_fault_set(NULL);
		assert_false(any_part());
		if (status == SL_OK)
			return k - 1;
		assert_int_equal(status, SL_DISK);
		assert_non_null(strstr(sl_last_error(), strerrordesc_np(error)));
		assert_non_null(strstr(sl_last_error(), name));
		assert_int_equal(folder_hash(folder.path, NULL), before);
	}
}

TEST(each_failed_call_leaves_the_folder_unchanged)
{
	static const struct {
		const char *call;
		int times; /* how often a commit of 2 MiB and a byte makes it */
	} calls[] = {{"file_open", 1}, {"file_write", 3}, {"file_fsync", 1}, {"file_close", 1},
		{"file_rename", 1}};
	static const int errors[] = {ENOSPC, EIO, EDQUOT, EFBIG, EROFS};

	assert_ok(put("a", "old", false));
	for (size_t i = 0; i < COUNT(calls); i++) {
		for (size_t e = 0; e < COUNT(errors); e++) {
			const char *on = e % 2 ? "+" : "";

			assert_int_equal(
				sweep(calls[i].call, errors[e], on, "new", false), calls[i].times);
			assert_ok(sl_file_remove(dir(), "new"));
			assert_int_equal(
				sweep(calls[i].call, errors[e], on, "a", true), calls[i].times);
			assert_ok(put("a", "old", true));
		}
	}
	assert_int_equal(sweep("file_dirsync", EIO, "", "new", false), 1);
}

/* The only exception: if only the sync of the folder fails, the file stays replaced. */
TEST(replaced_file_stays_after_failed_sync)
{

	assert_ok(put("a", "old", false));
	sl_fault_set("file_dirsync:1:5");
	assert_fails(put("a", "new", true), SL_DISK, "sync the folder");
	expect("a", "new");
	assert_false(any_part());
}

/* An interrupting signal, or a file system that cannot sync a folder, is not a failure. */
TEST(harmless_errors_are_ignored)
{

	sl_fault_set("file_write:1:4");
	assert_ok(put("a", "text", false));
	sl_fault_set("file_dirsync:1:22");
	assert_ok(put("b", "text", false));
	sl_fault_set("file_read:1:4");
	expect("a", "text");
	sl_fault_set("file_append:1:4");
	assert_ok(sl_file_append(dir(), "a", "more", 4));
	sl_fault_set(NULL);
	expect("a", "textmore");
}

/* File systems without RENAME_NOREPLACE, with and without hard links. */
TEST(old_file_systems_are_supported)
{
	static const char *const faults[] = {"file_rename:1:22", "file_rename:1:38",
		"file_rename:1:22,file_link:1:1", "file_rename:1:22,file_link:1:95"};

	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_ok(put("a", "old", false));
		sl_fault_set(faults[i]);
		assert_fails(put("a", "new", false), SL_OUTPUT_IN_USE, "already");
		sl_fault_set(NULL);
		expect("a", "old");
		assert_int_equal(folder_count(&folder), 1);
		assert_ok(sl_file_remove(dir(), "a"));
	}
	sl_fault_set("file_rename:1:22,file_remove:1:5");
	assert_int_equal(put("a", "old", false), SL_DISK);
	sl_fault_set("file_rename:1:22,file_link:1:5");
	assert_int_equal(put("a", "old", false), SL_DISK);
	sl_fault_set("file_rename:1+:22,file_link:1:1");
	assert_int_equal(put("a", "old", false), SL_DISK);
	assert_int_equal(folder_count(&folder), 0);
}

TEST(failed_reads_are_reported)
{
	static const char *const faults[] = {
		"file_open:1:5", "file_stat:1:5", "file_read:1:5", "file_close:1:5"};
	uint64_t checked;
	uint32_t crc;
	char *bytes;
	size_t size;

	assert_ok(put("a", "text", false));
	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_fails(sl_file_read(dir(), "a", &bytes, &size), SL_DISK, "Input/output");
		assert_null(bytes);
		sl_fault_set(faults[i]);
		assert_fails(sl_file_check(dir(), "a", &checked, &crc), SL_DISK, "Input/output");
		sl_fault_set(faults[i]);
		assert_fails(sl_path_read(folder_path(&folder, "a"), 99, &bytes, &size), SL_DISK,
			"Input/output");
	}
	sl_fault_set("host_malloc:1:12");
	assert_int_equal(sl_file_read(dir(), "a", &bytes, &size), SL_HOST_MEMORY);
	assert_null(bytes);
}

/* A message says what is wrong, why, and what to do. */
TEST(messages_say_problem_reason_and_remedy)
{
	static const struct {
		int error;
		const char *message;
	} cases[] = {
		{ENOSPC, "a.part: No space left on device (the file system is full); free space"},
		{EDQUOT, "Disk quota exceeded (the quota of disk space is used up); free space"},
		{EFBIG, "File too large (the file would exceed the largest size of a file here, see ulimit -f); raise"},
		{EIO, "Input/output error (the storage reported an error, see dmesg); check"},
		{9999, "unknown error (the system call failed); check the folder"}};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char fault[64];

		snprintf(fault, sizeof(fault), "file_write:1:%d", cases[i].error);
		sl_fault_set(fault);
		assert_fails(put("a", "x", false), SL_DISK, cases[i].message);
	}
}

TEST(each_failed_append_is_reported)
{
	static const char *const faults[] = {"file_open:1:5", "file_stat:1:5", "file_append:1:28",
		"file_append:2:28", "file_append:3:28", "file_datasync:1:5", "file_close:1:5"};
	static char bytes[2 * MIB + 1];

	folder_write(&folder, "log", "one\n", 4);
	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_int_equal(sl_file_append(dir(), "log", bytes, sizeof(bytes)), SL_DISK);
		sl_fault_set(faults[i]);
		assert_int_equal(sl_file_append(dir(), "new", bytes, sizeof(bytes)), SL_DISK);
		expect("log", "one\n");
		assert_int_equal(folder_count(&folder), 1);
	}
	sl_fault_set("file_dirsync:1:5");
	assert_int_equal(sl_file_append(dir(), "new", "x", 1), SL_DISK);
	assert_int_equal(folder_count(&folder), 1);
}

/* --- real faults -------------------------------------------------------------------------- */

TEST(full_device_is_reported)
{
	int fd = open("/dev/full", O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(sl_write_all(fd, "file_write", "x", 1), ENOSPC);
	assert_int_equal(sl_write_all(fd, "file_write", "x", 0), 0);
	close(fd);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Reads the pipe slowly to its end. Returns 0 if all bytes are correct and in order. */
static int read_slowly(int fd, size_t expected)
{
	unsigned char bytes[5000];
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++, at++) {
			if (bytes[i] != byte_at(at))
				return 1;
		}
		usleep(100);
	}
	return at == expected ? 0 : 2;
}

/* With a slow reader of the pipe and a timer, most writes are interrupted before or in the middle. */
TEST(interrupted_writes_are_complete)
{
	enum { BYTES = 3 * MIB + 1 };
	const struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	unsigned char *bytes = (unsigned char *)malloc(BYTES);
	int ends[2], status;
	pid_t reader;

	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(pipe(ends), 0);
	reader = fork();
	assert_true(reader >= 0);
	if (reader == 0) {
		close(ends[1]);
		_exit(read_slowly(ends[0], BYTES));
	}
	close(ends[0]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	status = sl_write_all(ends[1], "file_write", bytes, BYTES);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(ends[1]);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	free(bytes);
}

enum { CANNOT_LIMIT = 77, NOT_REFUSED = 1, LEFTOVER = 2, NO_SUCCESS = 3 };

/* Commits more bytes than the disk holds, then fewer. Runs in a child process. */
static int commit_too_much(void *in)
{
	const struct folder *where = (const struct folder *)in;
	static char bytes[4 * MIB];
	struct sl_dir d;

	if (sl_dir_open(where->path, false, &d) != SL_OK)
		return NO_SUCCESS;
	if (sl_file_commit(&d, "small", bytes, 1000, false) != SL_OK)
		return NO_SUCCESS;
	if (sl_file_commit(&d, "a", bytes, sizeof(bytes), false) != SL_DISK ||
		sl_file_commit(&d, "small", bytes, sizeof(bytes), true) != SL_DISK ||
		sl_file_append(&d, "small", bytes, sizeof(bytes)) != SL_DISK ||
		sl_file_append(&d, "b", bytes, sizeof(bytes)) != SL_DISK)
		return NOT_REFUSED;
	if (folder_count(where) != 1 || faccessat(d.fd, "small", F_OK, 0) != 0)
		return LEFTOVER;
	return sl_file_commit(&d, "a", bytes, MIB / 2, false) == SL_OK ? 0 : NO_SUCCESS;
}

TEST(full_disk_is_reported)
{
	struct folder small;

	snprintf(small.path, sizeof(small.path), "%s", folder_path(&folder, "small"));
	small_disk_mount(small.path, "size=1m");
	assert_int_equal(in_child(commit_too_much, &small), 0);
	small_disk_unmount(small.path);
}

static int with_file_limit(void *in)
{
	const struct rlimit limit = {MIB, MIB};

	signal(SIGXFSZ, SIG_IGN); /* as the program does */
	return setrlimit(RLIMIT_FSIZE, &limit) ? CANNOT_LIMIT : commit_too_much(in);
}

TEST(file_size_limit_is_reported)
{
	assert_int_equal(in_child(with_file_limit, &folder), 0);
}

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}
