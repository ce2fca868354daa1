/*
 * lock.c - tests that one process at a time can lock a directory, that the lock of a dead process
 * is released, and that the holder is found without touching the lock. faults/processes.c starts
 * two programs at the same time.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/process.h"
#include "tests/support/program/program.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* No process has this number. */
#define SIGNED(host) "pid 4194304 host " host " start 2026-01-02T03:04:05Z\n"

static struct sl_dir d, other; /* the folder, opened twice: flock(2) is for a descriptor */

BEFORE_EACH()
{
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_open(folder.path, false, &other));
}

AFTER_EACH()
{
	sl_dir_close(&d);
	sl_dir_close(&other);
}

/* --- one process at a time -------------------------------------------------------------------- */

/* The file names the process, and after a normal close none. Other processes do not inherit it. */
TEST(lock_file_names_the_process)
{
	char expected[64], *text;
	size_t size;

	/* longer than the new one */
	write_text(&folder, "LOCK",
		SIGNED("a-host-with-a-long-name-0123456789-0123456789-0123456789-0123456789"
		       "-0123456789-0123456789-0123456789"));
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
	assert_ok(sl_dir_lock(&d));
	assert_true(fcntl(d.lock, F_GETFD) & FD_CLOEXEC);
	snprintf(expected, sizeof(expected), "by another run (pid %ld host ", (long)getpid());
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, expected);
	assert_int_equal(other.lock, -1);
	text = folder_read(&folder, "LOCK", &size); /* who was refused has not touched it */
	assert_int_equal(strncmp(text, strstr(expected, "pid"), strlen("pid 1")), 0);
	assert_non_null(strstr(text, " start 20"));
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	free(text);
	/* without or with a damaged signature the call is still refused, with one printable line */
	write_text(&folder, "LOCK", "");
	assert_fails(
		sl_dir_lock(&other), SL_OUTPUT_IN_USE, "it has not written its name to LOCK yet");
	write_text(&folder, "LOCK", "\x1b[2J\x07 pid\nmore");
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, "(\\x1b[2J\\x07 pid; two runs");
	sl_dir_close(&d);
	expect_file(&folder, "LOCK", "");
	assert_ok(sl_dir_lock(&other));
	assert_false(other.interrupted);
}

/* Ends without closing the directory; a child keeps the lock for a moment. */
static int lock_and_leave_a_child(void *unused)
{
	(void)unused;
	if (sl_dir_lock(&other) == SL_OK && fork() == 0)
		usleep(200000);
	return 0;
}

TEST(the_last_child_of_a_dead_process_is_waited_for)
{
	assert_int_equal(in_child(lock_and_leave_a_child, NULL), 0);
	sl_dir_close(&other);
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
}

/*
 * Any number of processes can read a directory at once; while one does, none can lock it for
 * itself.
 */
TEST(a_shared_lock_keeps_writers_away)
{
	struct sl_lock_holder h;
	struct sl_dir reader;

	assert_ok(sl_dir_open(folder.path, false, &reader));
	assert_ok(sl_dir_lock_shared(&reader));
	assert_false(folder_has(&folder, "LOCK"));
	assert_ok(sl_dir_lock(&d));
	assert_fails(sl_dir_lock_shared(&reader), SL_OUTPUT_IN_USE, "in use by another run (pid");
	sl_dir_close(&d);
	assert_ok(sl_dir_lock_shared(&reader));
	assert_ok(sl_dir_lock_shared(&other));
	assert_ok(sl_dir_lock_holder(&other, "/proc/locks", &h));
	assert_int_equal(h.state, SL_LOCK_FREE);
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, "or joins this one");
	sl_dir_close(&reader);
	assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, "or joins this one");
	sl_dir_close(&other);
	assert_ok(sl_dir_lock(&d));
}

/*
 * Other entries, and a file that holds anything but a signature, are a user's: the call is refused,
 * the entry kept.
 */
TEST(other_entries_at_the_lock_are_refused)
{
	static const char *const texts[] = {"mine\n", "\n",
		"\npid 1 host a start 2026-01-02T03:04:05Z\n", "pid 12", "pid 1 host a start",
		"pid 1 host a start 2026-01-02T03:04:05Z and more\n",
		"pid one host a start 2026-01-02T03:04:05Z\n"};
	const char *lock = folder_path(&folder, "LOCK");

	assert_int_equal(symlink("victim", lock), 0);
	assert_fails(sl_dir_lock(&d), SL_DISK, "symbolic link");
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(mkdir(lock, 0777), 0);
	assert_fails(sl_dir_lock(&d), SL_DISK, "folder");
	assert_int_equal(rmdir(lock), 0);
	alarm(10);
	assert_int_equal(mkfifo(lock, 0666), 0);
	assert_int_not_equal(sl_dir_lock(&d), SL_OK);
	alarm(0);
	assert_int_equal(unlink(lock), 0);
	for (size_t i = 0; i < COUNT(texts); i++) {
		write_text(&folder, "LOCK", texts[i]);
		assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, "LOCK was not made by sluice");
		assert_int_equal(d.lock, -1);
		expect_file(&folder, "LOCK", texts[i]);
	}
}

/* --- the holder ------------------------------------------------------------------------------- */

/* Signs LOCK for a process of this host. */
static void sign(long pid)
{
	char host[128] = "", text[256];

	gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "pid %ld host %s start 2026-01-02T03:04:05Z\n", pid, host);
	write_text(&folder, "LOCK", text);
}

static void expect_holder(const char *locks, enum sl_lock_state state, long pid, const char *host)
{
	struct sl_lock_holder h;

	assert_ok(sl_dir_lock_holder(&other, locks, &h));
	assert_int_equal(h.state, state);
	assert_int_equal(h.pid, pid);
	assert_true(!host || strcmp(h.host, host) == 0);
	assert_int_equal(strlen(h.since), pid ? 20 : 0);
}

TEST(holder_is_found_by_the_lock_not_by_its_number)
{
	static const char locks[] = "/proc/locks";
	const char *missing = folder_path(&folder, "missing");

	expect_holder(locks, SL_LOCK_FREE, 0, NULL); /* no LOCK */
	assert_ok(sl_dir_lock(&d));
	expect_holder(locks, SL_LOCK_HELD, getpid(), NULL);
	sl_dir_close(&d);
	expect_holder(locks, SL_LOCK_FREE, 0, NULL);
	sign(4194304);
	expect_holder(locks, SL_LOCK_LEFT, 4194304, NULL);
	expect_holder(missing, SL_LOCK_LEFT, 4194304, NULL);
	sign(getpid()); /* a process of this number runs, but does not hold the lock */
	expect_holder(locks, SL_LOCK_LEFT, getpid(), NULL);
	expect_holder(
		missing, SL_LOCK_HELD, getpid(), NULL); /* without a list, the number has to do */
	write_text(&folder, "LOCK", SIGNED("another"));
	expect_holder(locks, SL_LOCK_ELSEWHERE, 4194304, "another");
	write_text(&folder, "LOCK", "a file of the user\n");
	expect_holder(locks, SL_LOCK_FREE, 0, NULL);
}

/*
 * Lists of locks: kind, process, device (0: of LOCK) and distance of the inode from that of LOCK.
 */
TEST(list_of_locks_is_read)
{
	static const struct {
		const char *kind;
		int pid;
		unsigned device, inode;
		enum sl_lock_state state;
	} rows[] = {
		/*
		 * by the process, if the file system hides its device; by the device, if the number
		 * is of another namespace
		 */
		{"FLOCK", 77, 0xff7f, 0, SL_LOCK_HELD}, {"FLOCK", 5, 0, 0, SL_LOCK_HELD},
		{"FLOCK", 77, 0, 1, SL_LOCK_LEFT}, /* of another file */
		{"POSIX", 77, 0, 0, SL_LOCK_LEFT}, /* of another kind */
	};
	struct stat facts;
	char text[512];

	sign(77);
	assert_int_equal(stat(folder_path(&folder, "LOCK"), &facts), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const unsigned device = rows[i].device;

		snprintf(text, sizeof(text),
			"no line\n1: POSIX  ADVISORY  READ 77 fe:00:%llu 0 EOF\n"
			"2: %s  ADVISORY  WRITE %d %02x:%02x:%llu 0 EOF\n",
			(unsigned long long)facts.st_ino, rows[i].kind, rows[i].pid,
			device ? device >> 8 : major(facts.st_dev),
			device ? device & 255 : minor(facts.st_dev),
			(unsigned long long)facts.st_ino + rows[i].inode);
		write_text(&folder, "locks", text);
		expect_holder(folder_path(&folder, "locks"), rows[i].state, 77, NULL);
	}
}
