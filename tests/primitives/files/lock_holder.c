/* lock_holder.c - the holder of a lock is found without touching the lock. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "primitives/files/lock.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static const char kernel[] = "/proc/locks";

static struct sl_lock_holder holder_by(const char *locks)
{
	struct sl_lock_holder h;
	struct sl_dir d;

	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &d));
	assert_ok(sl_dir_lock_holder(&d, locks, &h));
	sl_dir_close(&d);
	return h;
}

/* Signs LOCK for a process of this host. */
static void sign(unsigned long pid)
{
	char host[128] = "", text[256];

	gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "pid %lu host %s start 2026-01-02T03:04:05Z\n", pid, host);
	write_text(&folder, "LOCK", text);
}

TEST(lock_of_this_process_is_found)
{
	struct sl_lock_holder h;
	struct sl_dir d;

	assert_int_equal(holder_by(kernel).state, SL_LOCK_FREE); /* no LOCK */
	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &d));
	assert_ok(sl_dir_lock(&d));
	h = holder_by(kernel);
	assert_int_equal(h.state, SL_LOCK_HELD);
	assert_int_equal(h.pid, getpid());
	assert_int_equal(strlen(h.since), 20);
	sl_dir_close(&d);
	h = holder_by(kernel);
	assert_int_equal(h.state, SL_LOCK_FREE);
	assert_int_equal(h.pid, 0);
}

/* Any number of processes can read a directory at once; while one does, none can lock it for itself. */
TEST(a_shared_lock_keeps_writers_away)
{
	struct sl_dir writer, reader[2];

	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &writer));
	assert_ok(sl_dir_lock(&writer));
	for (int i = 0; i < 2; i++)
		assert_ok(sl_dir_open(folder_path(&folder, "."), false, &reader[i]));
	assert_fails(
		sl_dir_lock_shared(&reader[0]), SL_OUTPUT_IN_USE, "in use by another run (pid");
	sl_dir_close(&writer);
	for (int i = 0; i < 2; i++)
		assert_ok(sl_dir_lock_shared(&reader[i]));
	assert_int_equal(holder_by(kernel).state, SL_LOCK_FREE);
	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &writer));
	assert_fails(sl_dir_lock(&writer), SL_OUTPUT_IN_USE, "or joins this one");
	sl_dir_close(&reader[0]);
	assert_fails(sl_dir_lock(&writer), SL_OUTPUT_IN_USE, "or joins this one");
	sl_dir_close(&reader[1]);
	assert_ok(sl_dir_lock(&writer));
	sl_dir_close(&writer);
	assert_int_equal(unlink(folder_path(&folder, "LOCK")), 0);
	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &writer));
	assert_ok(sl_dir_lock_shared(&writer));
	assert_false(folder_has(&folder, "LOCK"));
	sl_dir_close(&writer);
}

TEST(ended_and_distant_processes_are_told_apart)
{
	struct sl_lock_holder h;

	sign(4194304); /* above the largest number of a process */
	h = holder_by(kernel);
	assert_int_equal(h.state, SL_LOCK_LEFT);
	assert_int_equal(h.pid, 4194304);
	assert_string_equal(h.since, "2026-01-02T03:04:05Z");
	write_text(&folder, "LOCK", "pid 17 host another start 2026-01-02T03:04:05Z\n");
	h = holder_by(kernel);
	assert_int_equal(h.state, SL_LOCK_ELSEWHERE);
	assert_string_equal(h.host, "another");
	write_text(&folder, "LOCK", "a file of the user\n");
	assert_int_equal(holder_by(kernel).state, SL_LOCK_FREE);
}

/* A process of the number in LOCK that runs, but does not hold the lock, is another one. */
TEST(number_of_a_process_is_not_enough)
{
	sign((unsigned long)getpid());
	assert_int_equal(holder_by(kernel).state, SL_LOCK_LEFT);
	/* without the list of locks the number has to do */
	assert_int_equal(holder_by(folder_path(&folder, "missing")).state, SL_LOCK_HELD);
	sign(4194304);
	assert_int_equal(holder_by(folder_path(&folder, "missing")).state, SL_LOCK_LEFT);
}

TEST(list_of_locks_is_read)
{
	char text[512];
	struct stat facts;

	sign(77);
	assert_int_equal(stat(folder_path(&folder, "LOCK"), &facts), 0);
	/* by the process, if the file system hides its device */
	snprintf(text, sizeof(text),
		"1: POSIX  ADVISORY  READ 77 fe:00:%llu 0 EOF\n"
		"2: FLOCK  ADVISORY  WRITE 77 ff:7f:%llu 0 EOF\n",
		(unsigned long long)facts.st_ino, (unsigned long long)facts.st_ino);
	write_text(&folder, "locks", text);
	assert_int_equal(holder_by(folder_path(&folder, "locks")).state, SL_LOCK_HELD);
	/* by the device, if the number is of another namespace */
	snprintf(text, sizeof(text), "1: FLOCK  ADVISORY  WRITE 5 %02x:%02x:%llu 0 EOF\n",
		major(facts.st_dev), minor(facts.st_dev), (unsigned long long)facts.st_ino);
	write_text(&folder, "locks", text);
	assert_int_equal(holder_by(folder_path(&folder, "locks")).state, SL_LOCK_HELD);
	/* locks of other files, and of another kind */
	snprintf(text, sizeof(text),
		"1: FLOCK  ADVISORY  WRITE 77 %02x:%02x:%llu 0 EOF\n"
		"2: POSIX  ADVISORY  WRITE 77 %02x:%02x:%llu 0 EOF\n"
		"no line\n",
		major(facts.st_dev), minor(facts.st_dev), (unsigned long long)facts.st_ino + 1,
		major(facts.st_dev), minor(facts.st_dev), (unsigned long long)facts.st_ino);
	write_text(&folder, "locks", text);
	assert_int_equal(holder_by(folder_path(&folder, "locks")).state, SL_LOCK_LEFT);
}

TEST(failures_are_reported)
{
	static const char *const faults[] = {
		"file_open:1:5", "file_stat:1:5", "file_read:1:5", "file_close:1:5"};
	struct sl_lock_holder h;
	struct sl_dir d;

	sign(77);
	assert_ok(sl_dir_open(folder_path(&folder, "."), false, &d));
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		assert_null(sl_fault_set(faults[i]));
		assert_fails(sl_dir_lock_holder(&d, kernel, &h), SL_DISK, "LOCK");
		assert_null(sl_fault_set(NULL));
	}
	sl_dir_close(&d);
}

BEFORE_EACH()
{
}
