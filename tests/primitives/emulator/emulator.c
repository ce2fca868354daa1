/*
 * emulator.c - tests the emulated device: errors of kernels and illegal accesses end it with a message, settings are read
 * or refused (emulator.txt), and correct kernels give the same results in any order of threads and blocks.
 *
 * A failed kernel makes the device unusable, so each line of emulator.txt runs in a separate process: this program again.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/primitives/emulator/emulator_check.h"
#include "tests/support/configs/configs.h"

enum { CHILD_SECONDS = 60, SURVIVED = 42, PARTS_MOST = 10 };

/* --- in the child process --------------------------------------------------------------------- */

static unsigned long allocated, failing;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return ++allocated == failing ? NULL : __real_malloc(bytes);
}

int __real_posix_memalign(void **p, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes)
{
	return ++allocated == failing ? ENOMEM : __real_posix_memalign(p, alignment, bytes);
}

/* Returns whether every call is refused with the same error and without a call of the driver. */
static bool refuses_every_call(void *words)
{
	struct sl_limits limits;
	sl_stream s;
	sl_event e;
	void *p;

	return sl_memory_get(SL_DEVICE, 1, &p) == SL_DEVICE_FAILED &&
	       sl_memory_get(SL_PINNED, 1, &p) == SL_DEVICE_FAILED &&
	       sl_stream_make(&s) == SL_DEVICE_FAILED && sl_event_make(&e) == SL_DEVICE_FAILED &&
	       sl_device_limits(&limits) == SL_DEVICE_FAILED &&
	       sl_copy(&p, words, sizeof(p), NULL) == SL_DEVICE_FAILED &&
	       sl_fill(words, 0, 1, NULL) == SL_DEVICE_FAILED &&
	       launch_kernel("nothing", (uint32_t *)words, NULL) == SL_DEVICE_FAILED &&
	       sl_stream_wait(NULL) == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719");
}

/* Prints the error message of a kernel, and whether the device is unusable after it. */
static int kernel_alone(char *name)
{
	uint32_t *words = get_words();
	char *number = strchr(name, '@');
	enum sl_status s;

	if (number) {
		*number = '\0';
		failing = allocated + strtoul(number + 1, NULL, 10);
	}
	s = launch_kernel(name, words, NULL);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	failing = 0;
	printf("%s\n", sl_last_error());
	if (s == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719"))
		printf("%s\n", refuses_every_call(words) ? "over" : "not over");
	fflush(stdout);
	return (int)s;
}

/* Operations that are illegal on the host; beyond_page: 64 threads, 63 words. */
static int host_alone(const char *what)
{
	volatile uint32_t *words = get_words();
	void *few;

	if (strcmp(what, "host_writes") == 0)
		words[7] = 1;
	if (strcmp(what, "host_reads_after_work") == 0)
		(void)launch_kernel("add_one", (uint32_t *)(uintptr_t)words, NULL);
	if (strcmp(what, "beyond_page") == 0) {
		assert_ok(sl_memory_get(SL_DEVICE, 63 * sizeof(uint32_t), &few));
		(void)launch_kernel("add_one", (uint32_t *)few, NULL);
	}
	(void)sl_stream_wait(NULL);
	return strncmp(what, "host_reads", 10) == 0 && words[7] > 1 ? SURVIVED + 1 : SURVIVED;
}

static int settings_alone(void)
{
	const struct sl_emulator_settings *c = sl_emulator_get_settings();
	const char *problem = sl_emulator_settings_problem();
	int n;

	printf("%u %llu %d %d %d %d %zu\n%s\n", c->blocks, (unsigned long long)c->seed,
		c->from_last, c->at_once, c->turing, c->no_peers, c->memory_bytes,
		problem ? problem : "");
	printf("%s\n", sl_device_count(&n) != SL_USAGE               ? "can be used"
		       : problem && strstr(sl_last_error(), problem) ? "refused"
								     : sl_last_error());
	fflush(stdout);
	return 0;
}

/* --- the lines of emulator.txt ---------------------------------------------------------------- */

/* Runs this program again. The exit delay of ThreadSanitizer is switched off, because no thread is left at the end. */
static void run_alone(const char *what, const char *settings, struct ending *e)
{
	const char *argv[] = {"/proc/self/exe", what, NULL};
	char setting[400];
	const char *const env[] = {setting, "TSAN_OPTIONS=atexit_sleep_ms=0", NULL};
	struct process p = {.argv = argv, .env = env};

	snprintf(setting, sizeof(setting), "SL_EMULATOR=%s", settings);
	process_run(&p, CHILD_SECONDS, e);
}

static bool has_ended(const struct ending *e, const char *how)
{
	if (strcmp(how, "segv") == 0)
		return e->signal == SIGSEGV || strstr(e->err, "DEADLYSIGNAL"); /* of a sanitizer */
	return strcmp(how, "asan") == 0 || strcmp(how, "tsan") == 0 ||
	       e->code == (strcmp(how, "failed") == 0          ? SL_DEVICE_FAILED
				  : strcmp(how, "memory") == 0 ? SL_DEVICE_MEMORY
							       : SL_OK);
}

static void run_line(char *field[PARTS_MOST], int n)
{
	struct ending e;
	const char *at;

	run_alone(field[0], field[1], &e);
	at = field[2][1] == 's' ? e.err : e.out; /* asan and tsan */
	for (int i = 3; i < n && at; i++)
		at = strstr(at, field[i]);
	if (e.timed_out || !at || !has_ended(&e, field[2]) ||
		(strcmp(field[2], "failed") == 0 && !strstr(e.out, field[0])))
		fail_msg("%s (%s) ends with %d, signal %d: %s%s", field[0], field[1], e.code,
			e.signal, e.out, e.err);
	process_free(&e);
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
	uint32_t *words = get_words();

	assert_fails(launch_kernel("no_blocks", words, NULL), SL_DEVICE_FAILED, "no_blocks");
	assert_ok(launch_kernel("nothing", words, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, words);
}

/* --- correct kernels -------------------------------------------------------------------------- */

/* Orders of threads and blocks; sanitizer builds must find no error in any of them. */
static const struct sl_emulator_settings schedules[] = {
	{.blocks = 1, .memory_bytes = 1 << 30},
	{.blocks = 4, .memory_bytes = 1 << 30},
	{.blocks = 1, .seed = 1, .memory_bytes = 1 << 30},
	{.blocks = 3, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
	{.blocks = SL_EMULATED_BLOCKS_MAX, .seed = 3, .at_once = true, .memory_bytes = 1 << 30},
};

static uint32_t words[KERNEL_WORDS];

/* Runs kernels on words that were 0: names, separated by blanks, times times. */
static void run_kernels(const char *names, int times)
{
	uint32_t *at = get_words();
	char list[100], *name, *rest;

	while (times-- > 0) {
		snprintf(list, sizeof(list), "%s", names);
		for (name = strtok_r(list, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
			assert_ok(launch_kernel(name, at, NULL));
	}
	fetch(words, at);
	sl_memory_give(SL_DEVICE, at);
}

#define EXPECT(first, n, value)            \
	for (uint32_t i = 0; i < (n); i++) \
	assert_int_equal(words[(first) + i], value)

/* A shuffled word is the number of the lane that it came from. */
static uint32_t part_of_warp(uint32_t lane)
{
	uint32_t sum = lane < 16 ? 0xaaaa + (lane < 15 ? 3 : 1) : 3 * (lane ^ 1);

	for (uint32_t i = 0; i < lane / 4; i++)
		sum += lane / 4 * 4 + i % 4;
	return sum + 1000;
}

static void kernels_are_right(bool from_last)
{
	run_kernels("ended_clean", 1);
	EXPECT(0, 64, i % 3 == 0 ? 0 : 21);
	run_kernels("votes_clean", 1);
	EXPECT(0, 33, 1 | 1 << 2);
	run_kernels("barrier_clean", 1);
	EXPECT(0, 3 * 64, 2);
	run_kernels("syncwarp_clean", 1);
	EXPECT(32, 32, i ^ 1);
	run_kernels("parts_of_warps_clean", 1);
	EXPECT(0, 64, part_of_warp(i % 32));
	run_kernels("shuffles_clean",
		1); /* lanes i - 2, i + 5 and i ^ 16; then lanes outside the mask */
	EXPECT(0, 32, 13 + (i < 2 ? i : i - 2) + 3 * (i < 27 ? i + 5 : i) + 9 * (i ^ 16));
	EXPECT(32, 4, i == 0 ? 0xa5a5a5a5 : 7);
	run_kernels("atomics_clean", 1);
	EXPECT(0, 4, i == 0 ? 9 * 64 : i == 1 ? 0xffffffff : i == 2 ? 0 : 63);
	run_kernels("numbers_clean gates_clean",
		1); /* five rounds: the first and the last of four words */
	EXPECT(0, 3 * 64, i % 64 == 0 ? 0 : 2 * (0 + 4 + 8 + 12 + 16) + 5 * 3);
	run_kernels("tickets_clean", 1);
	EXPECT(100, 20 * 32, i / 32 * (i / 32 + 1) / 2);
	if (!from_last) { /* the order depends on the block index */
		run_kernels("message_clean", 1);
		EXPECT(0, 9, i + 1);
	}
	run_kernels(
		"reversed_clean back_clean", 3); /* each reads all that the previous one wrote */
	EXPECT(0, 256, 3);
	run_kernels("shared_at_first", 1); /* new shared memory holds a5 */
	EXPECT(0, 4, 0xa5a5a5a5);
}

TEST(kernels_are_right_in_any_order)
{
	for (size_t k = 0; k < sizeof(schedules) / sizeof(schedules[0]); k++) {
		sl_emulator_set_settings(&schedules[k]);
		kernels_are_right(schedules[k].from_last);
	}
	sl_emulator_set_settings(&schedules[0]);
}

TEST(new_device_memory_holds_a5)
{
	void *at;

	for (int k = 0; k < 2; k++) {
		assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, &at));
		fetch(words, (const uint32_t *)at);
		EXPECT(0, KERNEL_WORDS, 0xa5a5a5a5);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		sl_memory_give(SL_DEVICE, at);
	}
}

TEST_FILE(argc, argv)
{
	sl_device_emulate(true);
	if (argc == 1)
		return run_test_file(argv[0]);
	if (strcmp(argv[1], "settings") == 0)
		return settings_alone();
	if (strncmp(argv[1], "host_", 5) == 0 || strcmp(argv[1], "beyond_page") == 0)
		return host_alone(argv[1]);
	return kernel_alone(argv[1]);
}
