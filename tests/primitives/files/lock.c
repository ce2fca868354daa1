/*
 * lock.c - tests that one process at a time can lock a directory, that the lock of a dead process is released, and that the
 * holder is found without touching the lock.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/files/lock.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { ROUNDS = 100 };

static struct sl_dir open_folder(void)
{
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	return d;
}

/* --- one process at a time -------------------------------------------------------------------- */

/* A child that opens and locks the folder, writes one byte to a pipe, then waits for its end. */
struct holder {
	pid_t pid;
	int said; /* the byte: the status of sl_dir_lock */
	int end;  /* when closed, the child unlocks the folder and exits */
};

static void hold(int say, int wait)
{
	struct sl_dir d;
	enum sl_status s = sl_dir_open(folder.path, false, &d);
	char byte;

	if (s == SL_OK)
		s = sl_dir_lock(&d);
	byte = (char)s;
	if (write(say, &byte, 1) == 1 && read(wait, &byte, 1) == 0)
		sl_dir_close(&d);
	_exit(0);
}

static struct holder start_holder(void)
{
	int said[2], end[2];
	pid_t pid;

	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(end[1]);
		hold(said[1], end[0]);
	}
	close(said[1]);
	close(end[0]);
	return (struct holder){pid, said[0], end[1]};
}

static enum sl_status answer(const struct holder *h)
{
	char byte;

	assert_int_equal(read(h->said, &byte, 1), 1);
	return (enum sl_status)byte;
}

/* Ends the child normally or with SIGKILL. */
static void end_holder(struct holder *h, bool killed)
{
	int status;

	if (killed)
		kill(h->pid, SIGKILL);
	close(h->end);
	assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
	assert_int_equal(WIFSIGNALED(status) != 0, killed);
	close(h->said);
}

/* The call is refused with the pid of the holder, and succeeds at once after the holder has ended. */
TEST(lock_is_exclusive_and_released)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct holder h = start_holder();
		struct sl_dir d = open_folder();
		char pid[64];

		assert_int_equal(answer(&h), SL_OK);
		snprintf(pid, sizeof(pid), "in use by another run (pid %ld host ", (long)h.pid);
		assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, pid);
		assert_int_equal(d.lock, -1);
		end_holder(&h, i % 2);
		assert_ok(sl_dir_lock(&d));
		sl_dir_close(&d);
	}
}

/* Of two simultaneous calls, exactly one gets the lock. */
TEST(one_of_two_simultaneous_calls_wins)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct holder a = start_holder(), b = start_holder();
		enum sl_status first = answer(&a), second = answer(&b);

		assert_int_equal((first == SL_OK) + (second == SL_OK), 1);
		assert_int_equal(first == SL_OK ? second : first, SL_OUTPUT_IN_USE);
		close(a.end); /* b has a copy of it, which would keep a waiting */
		end_holder(&b, false);
		assert_int_equal(waitpid(a.pid, NULL, 0), a.pid);
		close(a.said);
	}
}

/* A child process does not keep the lock after the program has ended. */
TEST(child_processes_do_not_inherit_the_lock)
{
	struct sl_dir d = open_folder();
	pid_t sleeper;
	int done[2];
	char byte;

	assert_ok(sl_dir_lock(&d));
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	sleeper = fork();
	assert_true(sleeper >= 0);
	if (sleeper == 0) {
		execlp("sleep", "sleep", "20", (char *)NULL);
		_exit(127);
	}
	close(done[1]);
	assert_int_equal(read(done[0], &byte, 1), 0); /* exec has closed the other end */
	close(done[0]);
	close(d.lock); /* as the kernel does at the end of a process */
	d.lock = -1;
	assert_ok(sl_dir_lock(&d));
	sl_dir_close(&d);
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
}

/* A process that is killed leaves a child, which keeps the lock for a moment. */
TEST(the_last_child_of_a_dead_process_is_waited_for)
{
	pid_t killed = fork();
	struct sl_dir d;

	assert_true(killed >= 0);
	if (killed == 0) {
		if (sl_dir_open(folder.path, false, &d) == SL_OK && sl_dir_lock(&d) == SL_OK &&
			fork() == 0)
			usleep(200000);
		_exit(0);
	}
	assert_int_equal(waitpid(killed, NULL, 0), killed);
	d = open_folder();
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
	sl_dir_close(&d);
}

/* --- the file LOCK ---------------------------------------------------------------------------- */

#define SIGNED(host) \
	"pid 4194304 host " host " start 2026-01-02T03:04:05Z\n" /* no process has this number */

/* The file names the process; after a normal close it names none. */
TEST(lock_file_names_the_process)
{
	struct sl_dir d = open_folder(), other = open_folder();
	char expected[64], *bytes;
	size_t size;

	/* longer than the new one */
	write_text(&folder, "LOCK",
		SIGNED("a-host-with-a-long-name-0123456789-0123456789-0123456789-0123456789"
		       "-0123456789-0123456789-0123456789"));
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
	assert_ok(sl_dir_lock(&d));
	snprintf(expected, sizeof(expected), "pid %ld host ", (long)getpid());
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, expected);
	sl_dir_close(&other);
	bytes = folder_read(&folder, "LOCK", &size); /* who was refused has not touched it */
	assert_memory_equal(bytes, expected, strlen(expected));
	assert_non_null(strstr(bytes, " start 20"));
	assert_string_equal(bytes + size - 2, "Z\n");
	free(bytes);
	sl_dir_close(&d);
	expect_file(&folder, "LOCK", "");
}

/* Without or with a damaged signature the call is still refused, with one printable line. */
TEST(damaged_signatures_are_printed_safely)
{
	struct sl_dir d = open_folder(), other = open_folder();

	assert_ok(sl_dir_lock(&d));
	write_text(&folder, "LOCK", "");
	assert_fails(
		sl_dir_lock(&other), SL_OUTPUT_IN_USE, "it has not written its name to LOCK yet");
	write_text(&folder, "LOCK", "\x1b[2J\x07 pid\nmore");
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, "(\\x1b[2J\\x07 pid; two runs");
	sl_dir_close(&d);
	sl_dir_close(&other);
}

/* Other entries, and a file that holds anything but a signature, are a user's: the call is refused, the entry kept. */
TEST(other_entries_at_the_lock_are_refused)
{
	static const char *const texts[] = {"mine\n", "\n",
		"\npid 1 host a start 2026-01-02T03:04:05Z\n", "pid 12", "pid 1 host a start",
		"pid 1 host a start 2026-01-02T03:04:05Z and more\n",
		"pid one host a start 2026-01-02T03:04:05Z\n"};
	struct sl_dir d = open_folder();

	assert_int_equal(symlink("victim", folder_path(&folder, "LOCK")), 0);
	assert_fails(sl_dir_lock(&d), SL_DISK, "symbolic link");
	assert_int_equal(unlinkat(d.fd, "LOCK", 0), 0);
	assert_int_equal(mkdir(folder_path(&folder, "LOCK"), 0777), 0);
	assert_fails(sl_dir_lock(&d), SL_DISK, "folder");
	assert_int_equal(unlinkat(d.fd, "LOCK", AT_REMOVEDIR), 0);
	alarm(10);
	assert_int_equal(mkfifo(folder_path(&folder, "LOCK"), 0666), 0);
	assert_int_not_equal(sl_dir_lock(&d), SL_OK);
	alarm(0);
	assert_int_equal(unlinkat(d.fd, "LOCK", 0), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_text(&folder, "LOCK", texts[i]);
		assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, "LOCK was not made by sluice");
		assert_int_equal(d.lock, -1);
		expect_file(&folder, "LOCK", texts[i]);
	}
	write_text(&folder, "LOCK", "");
	assert_ok(sl_dir_lock(&d));
	assert_false(d.interrupted);
	sl_dir_close(&d);
}

TEST(failed_calls_are_reported)
{
	static const char *const of_lock[] = {
		"file_open:1:13", "dir_lock:1:37", "dir_lock:1:95", "dir_sign:1:28"};
	static const char *const of_holder[] = {
		"file_open:1:5", "file_stat:1:5", "file_read:1:5", "file_close:1:5"};
	struct sl_dir d = open_folder();
	struct sl_lock_holder h;

	for (int i = 0; i < 4; i++) {
		sl_fault_set(of_lock[i]);
		assert_fails(sl_dir_lock(&d), SL_DISK, "LOCK: ");
		assert_int_equal(d.lock, -1);
	}
	assert_ok(sl_dir_lock(&d)); /* a failed one has let go of it */
	for (int i = 0; i < 4; i++) {
		assert_null(sl_fault_set(of_holder[i]));
		assert_fails(sl_dir_lock_holder(&d, "/proc/locks", &h), SL_DISK, "LOCK");
	}
	assert_null(sl_fault_set(NULL));
	sl_dir_close(&d);
}

/* --- the holder ------------------------------------------------------------------------------- */

static struct sl_lock_holder holder_by(const char *locks)
{
	struct sl_dir d = open_folder();
	struct sl_lock_holder h;

	assert_ok(sl_dir_lock_holder(&d, locks, &h));
	sl_dir_close(&d);
	return h;
}

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
	const struct sl_lock_holder h = holder_by(locks);

	assert_int_equal(h.state, state);
	assert_int_equal(h.pid, pid);
	if (host)
		assert_string_equal(h.host, host);
	assert_int_equal(strlen(h.since), pid ? 20 : 0);
}

TEST(holder_is_found_by_the_lock_not_by_its_number)
{
	const char *missing = folder_path(&folder, "missing");
	struct sl_dir d = open_folder();

	expect_holder("/proc/locks", SL_LOCK_FREE, 0, NULL); /* no LOCK */
	assert_ok(sl_dir_lock(&d));
	expect_holder("/proc/locks", SL_LOCK_HELD, getpid(), NULL);
	sl_dir_close(&d);
	expect_holder("/proc/locks", SL_LOCK_FREE, 0, NULL);
	sign(4194304);
	expect_holder("/proc/locks", SL_LOCK_LEFT, 4194304, NULL);
	assert_string_equal(holder_by("/proc/locks").since, "2026-01-02T03:04:05Z");
	expect_holder(missing, SL_LOCK_LEFT, 4194304, NULL);
	sign(getpid()); /* a process of this number runs, but does not hold the lock */
	expect_holder("/proc/locks", SL_LOCK_LEFT, getpid(), NULL);
	expect_holder(
		missing, SL_LOCK_HELD, getpid(), NULL); /* without a list, the number has to do */
	write_text(&folder, "LOCK", SIGNED("another"));
	expect_holder("/proc/locks", SL_LOCK_ELSEWHERE, 4194304, "another");
	write_text(&folder, "LOCK", "a file of the user\n");
	assert_int_equal(holder_by("/proc/locks").state, SL_LOCK_FREE);
}

/* Any number of processes can read a directory at once; while one does, none can lock it for itself. */
TEST(a_shared_lock_keeps_writers_away)
{
	struct sl_dir writer = open_folder(), reader[2] = {open_folder(), open_folder()};

	assert_ok(sl_dir_lock(&writer));
	assert_fails(
		sl_dir_lock_shared(&reader[0]), SL_OUTPUT_IN_USE, "in use by another run (pid");
	sl_dir_close(&writer);
	for (int i = 0; i < 2; i++)
		assert_ok(sl_dir_lock_shared(&reader[i]));
	assert_int_equal(holder_by("/proc/locks").state, SL_LOCK_FREE);
	writer = open_folder();
	for (int i = 0; i < 2; i++) {
		assert_fails(sl_dir_lock(&writer), SL_OUTPUT_IN_USE, "or joins this one");
		sl_dir_close(&reader[i]);
	}
	assert_ok(sl_dir_lock(&writer));
	sl_dir_close(&writer);
	assert_int_equal(unlink(folder_path(&folder, "LOCK")), 0);
	writer = open_folder();
	assert_ok(sl_dir_lock_shared(&writer));
	assert_false(folder_has(&folder, "LOCK"));
	sl_dir_close(&writer);
}

/* Lists of locks: kind, process, device (0: of LOCK) and distance of the inode from that of LOCK. */
TEST(list_of_locks_is_read)
{
	static const struct {
		const char *kind;
		int pid;
		unsigned device, inode;
		enum sl_lock_state state;
	} rows[] = {
		{"FLOCK", 77, 0xff7f, 0,
			SL_LOCK_HELD}, /* by the process, if the file system hides its device */
		{"FLOCK", 5, 0, 0,
			SL_LOCK_HELD}, /* by the device, if the number is of another namespace */
		{"FLOCK", 77, 0, 1, SL_LOCK_LEFT}, /* of another file */
		{"POSIX", 77, 0, 0, SL_LOCK_LEFT}, /* of another kind */
	};
	struct stat facts;
	char text[512];

	sign(77);
	assert_int_equal(stat(folder_path(&folder, "LOCK"), &facts), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned device = rows[i].device;

		snprintf(text, sizeof(text),
			"no line\n1: POSIX  ADVISORY  READ 77 fe:00:%llu 0 EOF\n"
			"2: %s  ADVISORY  WRITE %d %02x:%02x:%llu 0 EOF\n",
			(unsigned long long)facts.st_ino, rows[i].kind, rows[i].pid,
			device ? device >> 8 : major(facts.st_dev),
			device ? device & 255 : minor(facts.st_dev),
			(unsigned long long)facts.st_ino + rows[i].inode);
		write_text(&folder, "locks", text);
		assert_int_equal(holder_by(folder_path(&folder, "locks")).state, rows[i].state);
	}
}

BEFORE_EACH()
{
}
