/*
 * lock.c - tests that one process at a time can lock a directory, and that the lock of a dead
 * process is released.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/files/dirs.h"
#include "primitives/files/lock.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

enum { ROUNDS = 100 };

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
	struct holder h;
	int said[2], end[2];

	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	h.pid = fork();
	assert_true(h.pid >= 0);
	if (h.pid == 0) {
		close(end[1]);
		hold(said[1], end[0]);
	}
	close(said[1]);
	close(end[0]);
	h.said = said[0];
	h.end = end[1];
	return h;
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
		char pid[64];
		struct sl_dir d;

		assert_int_equal(answer(&h), SL_OK);
		snprintf(pid, sizeof(pid), "in use by another run (pid %ld host ", (long)h.pid);
		assert_ok(sl_dir_open(folder.path, false, &d));
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

#define LONG_HOST                                                                                 \
	"a-host-with-a-name-of-a-hundred-characters-0123456789-0123456789-0123456789-0123456789-" \
	"0123456789-01"

/* The file names the process; after a normal close it names none. */
TEST(lock_file_names_the_process)
{
	struct sl_dir d, other;
	char expected[64];
	size_t size;
	char *bytes;

	/* The signature of a killed process, longer than the new one. */
	bytes = "pid 4194304 host " LONG_HOST " start 2026-01-02T03:04:05Z\n";
	folder_write(&folder, "LOCK", bytes, strlen(bytes));
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
	assert_ok(sl_dir_lock(&d));
	bytes = folder_read(&folder, "LOCK", &size);
	snprintf(expected, sizeof(expected), "pid %ld host ", (long)getpid());
	assert_memory_equal(bytes, expected, strlen(expected));
	assert_non_null(strstr(bytes, " start 20"));
	assert_string_equal(bytes + size - 2, "Z\n");
	free(bytes);

	assert_ok(sl_dir_open(folder.path, false, &other));
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, expected);
	sl_dir_close(&other);
	bytes = folder_read(&folder, "LOCK", &size);
	assert_true(size > 0); /* who was refused has not touched it */
	free(bytes);

	sl_dir_close(&d);
	bytes = folder_read(&folder, "LOCK", &size);
	assert_int_equal(size, 0);
	free(bytes);
}

/* Without or with a damaged signature the call is still refused, with one printable line. */
TEST(damaged_signatures_are_printed_safely)
{
	struct sl_dir d, other;

	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_open(folder.path, false, &other));
	assert_ok(sl_dir_lock(&d));
	folder_write(&folder, "LOCK", "", 0);
	assert_fails(
		sl_dir_lock(&other), SL_OUTPUT_IN_USE, "it has not written its name to LOCK yet");
	folder_write(&folder, "LOCK", "\x1b[2J\x07 pid\nmore", 14);
	assert_fails(sl_dir_lock(&other), SL_OUTPUT_IN_USE, "(\\x1b[2J\\x07 pid; two runs");
	sl_dir_close(&d);
	sl_dir_close(&other);
}

/* A child process does not keep the lock after the program has ended. */
TEST(child_processes_do_not_inherit_the_lock)
{
	struct sl_dir d;
	pid_t sleeper;
	int done[2];
	char byte;

	assert_ok(sl_dir_open(folder.path, false, &d));
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
	assert_ok(sl_dir_open(folder.path, false, &d));
	assert_ok(sl_dir_lock(&d));
	assert_true(d.interrupted);
	sl_dir_close(&d);
}

TEST(other_entries_at_the_lock_are_refused)
{
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	folder_write(&folder, "victim", "untouched", 9);
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
	sl_dir_close(&d);
}

/* A LOCK file that holds anything but a signature is a user's: the call is refused, the file kept. */
TEST(user_file_named_lock_is_kept)
{
	static const char *const texts[] = {"mine\n", "\n",
		"\npid 1 host a start 2026-01-02T03:04:05Z\n", "pid 12", "pid 1 host a start",
		"pid 1 host a start 2026-01-02T03:04:05Z and more\n",
		"pid one host a start 2026-01-02T03:04:05Z\n"};
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *bytes;
		size_t size;

		folder_write(&folder, "LOCK", texts[i], strlen(texts[i]));
		assert_fails(sl_dir_lock(&d), SL_OUTPUT_IN_USE, "LOCK was not made by sluice");
		assert_int_equal(d.lock, -1);
		bytes = folder_read(&folder, "LOCK", &size);
		assert_int_equal(size, strlen(texts[i]));
		assert_memory_equal(bytes, texts[i], size);
		free(bytes);
	}
	folder_write(&folder, "LOCK", "", 0);
	assert_ok(sl_dir_lock(&d));
	assert_false(d.interrupted);
	sl_dir_close(&d);
}

TEST(failed_calls_are_reported)
{
	static const char *const texts[] = {
		"file_open:1:13", "dir_lock:1:37", "dir_lock:1:95", "dir_sign:1:28"};
	struct sl_dir d;

	assert_ok(sl_dir_open(folder.path, false, &d));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		sl_fault_set(texts[i]);
		assert_fails(sl_dir_lock(&d), SL_DISK, "LOCK: ");
		assert_int_equal(d.lock, -1);
	}
	assert_ok(sl_dir_lock(&d)); /* a failed one has let go of it */
	sl_dir_close(&d);
}

BEFORE_EACH()
{
}
