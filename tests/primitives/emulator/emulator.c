/*
 * emulator.c - tests the emulated device: errors of kernels and illegal accesses end it with a
 * message, and settings are read or refused (emulator.txt). What correct kernels do is tested by
 * the backends and the stages.
 *
 * A failed kernel makes the device unusable, so each line of emulator.txt runs in a child process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/primitives/emulator/emulator_check.h"
#include "tests/support/basic/replaced.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"

enum { CHILD_SECONDS = 60, SURVIVED = 42, PARTS_MOST = 10 };

static uint32_t words[KERNEL_WORDS];

/* --- in the child process --------------------------------------------------------------------- */

static unsigned long allocated, failing;

REPLACED(void *, malloc, size_t bytes)
{
	return ++allocated == failing ? NULL : __real_malloc(bytes);
}

REPLACED(int, posix_memalign, void **p, size_t alignment, size_t bytes)
{
	return ++allocated == failing ? ENOMEM : __real_posix_memalign(p, alignment, bytes);
}

/* Returns whether every call is refused with the same error and without a call of the driver. */
static bool refuses_every_call(uint32_t *at)
{
	struct sl_limits limits;
	sl_stream s;
	sl_event e;
	void *p;

	return sl_memory_get(SL_DEVICE, 1, &p) == SL_DEVICE_FAILED &&
	       sl_memory_get(SL_PINNED, 1, &p) == SL_DEVICE_FAILED &&
	       sl_stream_make(&s) == SL_DEVICE_FAILED && sl_event_make(&e) == SL_DEVICE_FAILED &&
	       sl_device_limits(&limits) == SL_DEVICE_FAILED &&
	       sl_copy(&p, at, sizeof(p), NULL) == SL_DEVICE_FAILED &&
	       sl_fill(at, 0, 1, NULL) == SL_DEVICE_FAILED &&
	       launch_kernel("nothing", at, NULL) == SL_DEVICE_FAILED &&
	       sl_stream_wait(NULL) == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719");
}

/* Prints the error message of a kernel, and whether the device is unusable after it. */
static int kernel_alone(char *name)
{
	uint32_t *at = get_words();
	char *number = strchr(name, '@');
	enum sl_status s;

	if (number) {
		*number = '\0';
		failing = allocated + strtoul(number + 1, NULL, 10);
	}
	s = launch_kernel(name, at, NULL);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	failing = 0;
	printf("%s\n", sl_last_error());
	if (s == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719"))
		printf("%s\n", refuses_every_call(at) ? "over" : "not over");
	return (int)s;
}

/* Operations that are illegal on the host; beyond_page: 64 threads, 63 words. */
static int host_alone(const char *what)
{
	volatile uint32_t *at = get_words();
	void *few;

	if (strcmp(what, "host_writes") == 0)
		at[7] = 1;
	if (strcmp(what, "host_reads_after_work") == 0)
		(void)launch_kernel("add_one", (uint32_t *)(uintptr_t)at, NULL);
	if (strcmp(what, "beyond_page") == 0) {
		assert_ok(sl_memory_get(SL_DEVICE, 63 * sizeof(uint32_t), &few));
		(void)launch_kernel("add_one", (uint32_t *)few, NULL);
	}
	(void)sl_stream_wait(NULL);
	return strncmp(what, "host_reads", 10) == 0 && at[7] > 1 ? SURVIVED + 1 : SURVIVED;
}

static int settings_alone(void)
{
	const struct sl_emulator_settings *c = sl_emulator_get_settings();
	const char *problem = sl_emulator_settings_problem();
	int n;

	printf("%u %llu %d %d %d %zu\n%s\n", c->blocks, (unsigned long long)c->seed, c->from_last,
		c->at_once, c->turing, c->memory_bytes, problem ? problem : "");
	printf("%s\n", sl_device_count(&n) != SL_USAGE               ? "can be used"
		       : problem && strstr(sl_last_error(), problem) ? "refused"
								     : sl_last_error());
	return 0;
}

static int alone(char *what)
{
	if (strcmp(what, "settings") == 0)
		return settings_alone();
	if (strncmp(what, "host_", 5) == 0 || strcmp(what, "beyond_page") == 0)
		return host_alone(what);
	return kernel_alone(what);
}

/* --- the lines of emulator.txt ---------------------------------------------------------------- */

/*
 * The child process is this one, before it has used the device. Returns its wait status, and its
 * output, to be freed.
 */
static int run_alone(char *what, const char *settings, char **output)
{
	size_t bytes;
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int f = open(folder_path(&folder, "output"), O_CREAT | O_TRUNC | O_WRONLY, 0600);

		dup2(f, STDOUT_FILENO);
		dup2(f, STDERR_FILENO);
		signal(SIGSEGV, SIG_DFL); /* of cmocka */
		alarm(CHILD_SECONDS);
		setenv("SL_EMULATOR", settings, 1);
		status = alone(what);
		fflush(NULL);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	*output = folder_read(&folder, "output", &bytes);
	return status;
}

static bool has_ended(int status, const char *output, const char *how)
{
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (strcmp(how, "segv") == 0)
		return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) ||
		       strstr(output, "DEADLYSIGNAL"); /* of a sanitizer */
	return strcmp(how, "asan") == 0 || strcmp(how, "tsan") == 0 ||
	       code == (strcmp(how, "failed") == 0          ? SL_DEVICE_FAILED
			       : strcmp(how, "memory") == 0 ? SL_DEVICE_MEMORY
							    : SL_OK);
}

static void run_line(char *field[PARTS_MOST], int n)
{
	char name[64], *output;
	const char *at;
	int status;

	snprintf(name, sizeof(name), "%s", field[0]);
	status = run_alone(name, field[1], &output);
	at = output;
	for (int i = 3; i < n && at; i++)
		at = strstr(at, field[i]);
	if (!at || !has_ended(status, output, field[2]) ||
		(strcmp(field[2], "failed") == 0 && !strstr(output, field[0])))
		fail_msg("%s (%s) ends with %x: %s", field[0], field[1], (unsigned)status, output);
	free(output);
}

static bool is_of_this_build(const char *how)
{
#if defined(__SANITIZE_ADDRESS__)
	return strcmp(how, "tsan") != 0;
#elif defined(__SANITIZE_THREAD__)
	return strcmp(how, "asan") != 0;
#else
	return strcmp(how, "tsan") != 0 && strcmp(how, "asan") != 0;
#endif
}

TEST(kernels_accesses_and_settings_end_as_listed)
{
	FILE *f = open_source("tests/primitives/emulator/emulator.txt");
	char line[LINE_BYTES];

	while (next_line(f, line)) {
		char *field[PARTS_MOST], *rest = line;
		int n = 0;

		while (rest && n < PARTS_MOST)
			field[n++] = strsep(&rest, "|");
		assert_true(n >= 3);
		if (is_of_this_build(field[2]))
			run_line(field, n);
	}
	fclose(f);
}

/* A launch that is refused leaves the device usable. */
TEST(refused_launches_change_nothing)
{
	uint32_t *at = get_words();

	assert_fails(launch_kernel("no_blocks", at, NULL), SL_DEVICE_FAILED, "no_blocks");
	assert_ok(launch_kernel("nothing", at, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, at);
}

static void expect_a5(const uint32_t *at, int n)
{
	fetch(words, at);
	for (int i = 0; i < n; i++)
		assert_int_equal(words[i], 0xa5a5a5a5);
}

/*
 * New memory, twice because the memory of the first time is used again, and the word of a lane that
 * took no part.
 */
TEST(what_is_undefined_is_a5)
{
	for (int k = 0; k < 2; k++) {
		uint32_t *at;

		assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, (void **)&at));
		expect_a5(at, KERNEL_WORDS);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		assert_ok(launch_kernel("shared_at_first", at, NULL));
		expect_a5(at, 4);
		assert_ok(launch_kernel("shuffle_outside", at, NULL));
		expect_a5(at, 1);
		assert_int_equal(words[1], 7);
		sl_memory_give(SL_DEVICE, at);
	}
}

TEST(parts_of_a_warp_make_different_calls)
{
	uint32_t *at = get_words();

	assert_ok(launch_kernel("two_calls", at, NULL));
	fetch(words, at);
	for (uint32_t lane = 0; lane < 32; lane++)
		assert_int_equal(words[lane], lane % 2 ? 0xaaaa0000 : lane ^ 2);
	sl_memory_give(SL_DEVICE, at);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
