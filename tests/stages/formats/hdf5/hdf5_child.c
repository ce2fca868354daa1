/*
 * hdf5_child.c - tests that a reader in a child process has its limits, and that its end is reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "tests/support/basic/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const char file[] = "bytes of a file";

/* Runs read; its block is one int. */
static enum sl_status run(sl_h5_reader *read, int *answer)
{
	void *found;
	enum sl_status s = sl_h5_in_child(read, file, sizeof(file), sizeof(int), &found);

	if (s != SL_OK)
		return s;
	memcpy(answer, found, sizeof(int));
	sl_h5_child_free(found, sizeof(int));
	return SL_OK;
}

static void answer_with(void *found, int value)
{
	memcpy(found, &value, sizeof(value));
}

/* --- readers that end ------------------------------------------------------------------------- */

static enum sl_status finds_the_file(const void *in, size_t bytes, void *found, size_t size)
{
	answer_with(found,
		bytes == sizeof(file) && memcmp(in, file, bytes) == 0 && size == sizeof(int) ? 42
											     : 0);
	return SL_OK;
}

static enum sl_status finds_damage(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)found, (void)size;
	return sl_fail(SL_BAD_INPUT, "row 3 is damaged");
}

static enum sl_status invents_a_status(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)found, (void)size;
	return (enum sl_status)1234;
}

TEST(the_answer_of_a_reader_is_returned)
{
	int answer = 0;

	assert_ok(run(finds_the_file, &answer));
	assert_int_equal(answer, 42);
	assert_fails(run(finds_damage, &answer), SL_BAD_INPUT, "row 3 is damaged");
	assert_fails(run(invents_a_status, &answer), SL_BAD_INPUT, "crashed");
}

/* --- readers that crash ----------------------------------------------------------------------- */

static enum sl_status crashes(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)found, (void)size;
	*(volatile int *)(uintptr_t)bytes = 1;
	return SL_OK;
}

static enum sl_status exits(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)found, (void)size;
	_exit(0);
}

TEST(a_crash_is_damage)
{
	int answer;

	assert_fails(run(crashes, &answer), SL_BAD_INPUT, "HDF5 crashed while it read the file");
	assert_fails(run(exits, &answer), SL_BAD_INPUT, "HDF5 crashed while it read the file");
}

/* A process that ignores SIGCHLD passes this on to the programs that it starts. */
TEST(an_ignored_sigchld_changes_nothing)
{
	int answer = 0;

	signal(SIGCHLD, SIG_IGN);
	assert_ok(run(finds_the_file, &answer));
	assert_int_equal(answer, 42);
	assert_fails(run(crashes, &answer), SL_BAD_INPUT, "HDF5 crashed");
	signal(SIGCHLD, SIG_DFL);
}

/* --- limits ----------------------------------------------------------------------------------- */

static enum sl_status never_ends(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)found, (void)size;
	for (volatile bool end = false; !end;)
		;
	return SL_OK;
}

/* The limit of 60 s is too long for a test, but a lower limit of the process is inherited. */
TEST(time_is_limited)
{
	pid_t child = fork();
	int how = 0, answer;
	struct rlimit cpu;

	assert_true(child >= 0 && getrlimit(RLIMIT_CPU, &cpu) == 0);
	if (child == 0) {
		cpu.rlim_cur = 1;
		setrlimit(RLIMIT_CPU, &cpu);
		_exit(run(never_ends, &answer) == SL_BAD_INPUT &&
					strstr(sl_last_error(), "HDF5 read it for more than")
				? 0
				: 1);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), 0);
}

static enum sl_status wants_memory(const void *in, size_t bytes, void *found, size_t size)
{
	void *volatile p = malloc((size_t)1 << 30);

	(void)in, (void)bytes, (void)found, (void)size;
	free(p);
	return p ? SL_OK : sl_fail(SL_HOST_MEMORY, "no memory");
}

/* A file for which HDF5 asks for 1 GiB is damaged: memory is not what is missing. */
TEST(memory_is_limited)
{
	int answer;

	assert_fails(run(wants_memory, &answer), SL_BAD_INPUT, "HDF5 needs more than");
}

/* The number of calls of the readers below, shared with the child processes. */
static int *calls;

static enum sl_status lacks_memory_once(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)size;
	answer_with(found, 7);
	return ++*calls == 1 ? sl_fail(SL_HOST_MEMORY, "no memory") : SL_OK;
}

static enum sl_status finds_damage_once(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)size;
	answer_with(found, 7);
	return ++*calls == 1 ? sl_fail(SL_BAD_INPUT, "damage") : SL_OK;
}

static enum sl_status crashes_once(const void *in, size_t bytes, void *found, size_t size)
{
	answer_with(found, 7);
	return ++*calls == 1 ? crashes(in, bytes, found, size) : SL_OK;
}

/* A failed allocation in HDF5 may look like any of these, and does not happen again. */
TEST(a_failed_reader_reads_again)
{
	static sl_h5_reader *const readers[] = {lacks_memory_once, finds_damage_once, crashes_once};

	calls = (int *)mmap(
		NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(calls != MAP_FAILED);
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		int answer = 0;

		*calls = 0;
		assert_ok(run(readers[i], &answer));
		assert_int_equal(answer, 7);
		assert_int_equal(*calls, 2);
	}
	munmap(calls, sizeof(int));
}

static int number_to_raise;

static enum sl_status raises_once(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)size;
	answer_with(found, 7);
	if (++*calls == 1)
		raise(number_to_raise);
	return SL_OK;
}

/* Without limits, because seccomp forbids a child to signal itself. */
TEST(no_signal_changes_the_answer)
{
	calls = (int *)mmap(
		NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(calls != MAP_FAILED);
	for (number_to_raise = 1; number_to_raise <= SIGRTMAX; number_to_raise++) {
		void *found;
		int answer;

		if (number_to_raise > SIGSYS && number_to_raise < SIGRTMIN)
			continue; /* of the C library */
		*calls = 0;
		assert_ok(
			sl_h5_in_free_child(raises_once, file, sizeof(file), sizeof(int), &found));
		memcpy(&answer, found, sizeof(int));
		sl_h5_child_free(found, sizeof(int));
		assert_int_equal(answer, 7);
	}
	munmap(calls, sizeof(int));
}

static enum sl_status opens_a_file(const void *in, size_t bytes, void *found, size_t size)
{
	(void)in, (void)bytes, (void)size;
	answer_with(found, open("/dev/null", O_RDONLY) < 0 ? errno : 0);
	return SL_OK;
}

TEST(files_cannot_be_opened)
{
	int answer = 0;

	assert_ok(run(opens_a_file, &answer));
	assert_int_equal(answer, EPERM);
}

BEFORE_TESTS()
{
	assert_ok(sl_h5_start());
}
