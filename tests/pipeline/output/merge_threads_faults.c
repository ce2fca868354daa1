/*
 * merge_threads_faults.c - the merge of a joined file in several threads: damaged batches and failing calls have
 * the outcome that they have in one thread, and the plan counts the memory.
 *
 * sl_memory_get(), sl_memory_give(), sl_thread_start() and fork() are replaced, to count memory and threads, and
 * to let calls fail.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "primitives/base/threads.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/runs/merged_again.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* --- replaced functions ------------------------------------------------------------------------- */

enum { BLOCKS_MOST = 4096 };

/* Allocations of one thread, which is that of the test: no other thread may allocate. */
static struct {
	bool on;
	pthread_t by;
	bool elsewhere; /* another thread has allocated */
	void *at[BLOCKS_MOST];
	size_t bytes[BLOCKS_MOST], now, most;
	uint32_t calls, fails; /* the number of the call that fails; 0: none */
} memory;

static uint32_t threads_fail; /* the number of the thread that is not started; 0: none */

enum sl_status __real_sl_memory_get(enum sl_space space, size_t bytes, void **p);
enum sl_status __wrap_sl_memory_get(enum sl_space space, size_t bytes, void **p);
void __real_sl_memory_give(enum sl_space space, void *p);
void __wrap_sl_memory_give(enum sl_space space, void *p);
int __real_sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread);
int __wrap_sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread);

static void count(void *p, size_t bytes)
{
	uint32_t i = 0;

	while (memory.at[i])
		assert_true(++i < BLOCKS_MOST);
	memory.at[i] = p;
	memory.bytes[i] = bytes;
	memory.now += bytes;
	memory.most = memory.now > memory.most ? memory.now : memory.most;
}

enum sl_status __wrap_sl_memory_get(enum sl_space space, size_t bytes, void **p)
{
	*p = NULL;
	if (!memory.on)
		return __real_sl_memory_get(space, bytes, p);
	if (!pthread_equal(memory.by, pthread_self())) {
		memory.elsewhere = true;
		return __real_sl_memory_get(space, bytes, p);
	}
	if (++memory.calls == memory.fails)
		return sl_fail(SL_HOST_MEMORY, "the test has no memory");
	SL_TRY(__real_sl_memory_get(space, bytes, p));
	count(*p, bytes);
	return SL_OK;
}

void __wrap_sl_memory_give(enum sl_space space, void *p)
{
	for (uint32_t i = 0; p && memory.on && i < BLOCKS_MOST; i++)
		if (memory.at[i] == p) {
			memory.at[i] = NULL;
			memory.now -= memory.bytes[i];
			break;
		}
	__real_sl_memory_give(space, p);
}

int __wrap_sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread)
{
	if (threads_fail > 0 && --threads_fail == 0) {
		threads_fail = 1; /* and so are the next ones */
		return EAGAIN;
	}
	return __real_sl_thread_start(stack_bytes, body, ctx, thread);
}

/* Calls of fork() while there were more threads than before the merge. */
static struct {
	unsigned all, with_threads;
	size_t threads_before;
} forks;

pid_t __real_fork(void);
pid_t __wrap_fork(void);

static size_t threads_now(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t n = 0;

	assert_non_null(tasks);
	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n;
}

pid_t __wrap_fork(void)
{
	forks.all++;
	forks.with_threads += threads_now() > forks.threads_before;
	return __real_fork();
}

/* --- failures ----------------------------------------------------------------------------------- */

/* Expects the same failure from any number of threads, and no file. */
static void expect_same_failure(const char *text)
{
	char first[SL_MESSAGE_BYTES];
	struct folder out;
	size_t entries;

	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	entries = folder_count(&out);
	for (int t = 0; t < THREAD_COUNTS; t++) {
		struct sent s = merged_by(threads_of[t], SL_MERGED_FILES_MOST);

		free(s.bytes);
		assert_true(s.status == SL_CHECK_FAILED || s.status == SL_BAD_INPUT);
		assert_non_null(strstr(s.message, text));
		if (t == 0)
			snprintf(first, sizeof(first), "%s", s.message);
		assert_string_equal(s.message, first);
		assert_int_equal(folder_count(&out), entries);
	}
}

/* Damages the middle of one file, and of a second one; "" for none. Doing it again repairs them. */
static void flip(const char *a, const char *b)
{
	char name[64];

	snprintf(name, sizeof(name), "out/%s", a);
	folder_flip(&folder, name, 1, 2);
	snprintf(name, sizeof(name), "out/%s", b);
	if (*b)
		folder_flip(&folder, name, 1, 2);
}

TEST(damaged_batches_are_reported_as_by_one_thread)
{
	static const char *const damaged[][3] = {
		{"mcpl", "t_000003.mcpl", ""},
		{"mcpl", "t_000029.mcpl", "t_000001.mcpl"},
		{"mcpl", "t_000028.order", "t_000017.mcpl"},
		{"mcpl.gz", "t_000003.mcpl.gz", ""},
		{"mcpl.gz", "t_000029.mcpl.gz", "t_000002.order"},
		{"mcpl.gz", "t_000000.mcpl.gz", "t_000028.mcpl.gz"},
		{"npz", "t_000012.order", ""},
	};

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		if (i == 0 || strcmp(damaged[i][0], damaged[i - 1][0]) != 0)
			make_sorted_run(MANY, 40, distinct, damaged[i][0], "");
		flip(damaged[i][1], damaged[i][2]);
		expect_same_failure("t_0000");
		flip(damaged[i][1], damaged[i][2]);
		expect_same_bytes(damaged[i][0], SL_MERGED_FILES_MOST);
	}
	/* all files are read and checked, also if the list is complete before */
	make_sorted_run(MANY, 40, distinct, "mcpl", ", limit: 1");
	flip("t_000027.mcpl", "");
	expect_same_failure("t_000027.mcpl");
}

TEST(failed_sinks_end_the_merge)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz"};

	for (int f = 0; f < 3; f++) {
		make_sorted_run(MANY, 5, distinct, formats[f], "");
		for (int t = 0; t < 3; t++)
			for (unsigned k = 1, calls = 1; calls >= k; k++) {
				struct sent s = {.fails = k};
				char text[64];
				struct opened o;

				open_run(&o, threads_of[t]);
				merge_again(&o, SL_MERGED_FILES_MOST, NULL, NULL, &s);
				close_run(&o);
				free(s.bytes);
				calls = s.calls;
				snprintf(text, sizeof(text), "call %u of the test fails", k);
				assert_int_equal(s.status, k > calls ? SL_OK : SL_DISK);
				if (k <= calls)
					assert_string_equal(s.message, text);
			}
	}
}

/* Every call of the file layer fails once, in a merge of several passes. */
static void fail_calls(const char *format, uint32_t threads)
{
	static const char *const calls[] = {
		"file_open", "file_write", "file_fsync", "file_map", "file_remove"};
	struct folder out;
	char fault[64];
	size_t entries;

	make_sorted_run(FEW, 16, distinct, format, "");
	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	entries = folder_count(&out);
	for (size_t c = 0; c < sizeof(calls) / sizeof(*calls); c++)
		for (unsigned k = 1, failures = 0;; k += is_quick() ? 3 : 1) {
			struct sent s = {.bytes = NULL};
			struct opened o;

			open_run(&o, threads);
			snprintf(fault, sizeof(fault), "%s:%u:%d", calls[c], k, EIO);
			assert_null(sl_fault_set(fault));
			merge_again(&o, 5, NULL, NULL, &s);
			sl_fault_set(NULL);
			close_run(&o);
			free(s.bytes);
			assert_int_equal(folder_count(&out), entries);
			if (s.status == SL_OK) {
				assert_true(failures > 0);
				break;
			}
			failures++;
			assert_int_equal(s.status, SL_DISK);
		}
}

TEST(failed_calls_leave_no_file)
{
	fail_calls("mcpl", 3);
	fail_calls("npz", 3);
}

static void count_from_now(void)
{
	memory.on = true;
}

static void count_no_more(void)
{
	memory.on = false;
}

/* Merges with a count of memory. */
static struct sent merge_counted(uint32_t threads, uint32_t fails, size_t *joined)
{
	struct sent s = {.bytes = NULL};
	struct opened o;

	open_run(&o, threads);
	*joined = o.plan->memory.joined;
	memset(&memory, 0, sizeof(memory));
	memory.by = pthread_self();
	memory.fails = fails;
	merge_again(&o, SL_MERGED_FILES_MOST, count_from_now, count_no_more, &s);
	assert_int_equal(memory.now, 0);
	assert_false(memory.elsewhere);
	close_run(&o);
	return s;
}

TEST(failed_allocations_end_the_merge)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz"};
	size_t joined;

	for (int f = 0; f < 3; f++) {
		make_sorted_run(FEW, 5, distinct, formats[f], ", sample: 1000");
		for (uint32_t k = 1, failures = 0;; k++) {
			struct sent s = merge_counted(3, k, &joined);

			free(s.bytes);
			if (s.status == SL_OK) {
				assert_true(failures > 2);
				break;
			}
			failures++;
			assert_int_equal(s.status, SL_HOST_MEMORY);
			assert_non_null(strstr(s.message, "the test has no memory"));
		}
	}
}

/* Without threads, or with fewer than the plan has, the bytes are the same. */
TEST(missing_threads_change_nothing)
{
	size_t bytes;
	char *file;

	make_sorted_run(MANY, 5, distinct, "mcpl.gz", "");
	file = joined_file("mcpl.gz", &bytes);
	for (uint32_t k = 1; k <= 4; k++) {
		struct sent s;

		threads_fail = k;
		s = merged_by(5, SL_MERGED_FILES_MOST);
		threads_fail = 0;
		expect_sent(&s, file, bytes);
	}
	free(file);
}

/* --- memory ------------------------------------------------------------------------------------- */

/* The sources of a merge of many batches, each with a window and a state if it is gzip, and its buffers. */
TEST(the_plan_counts_the_sources)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz"};
	enum { MORE = 1 << 21 }; /* of a table: rows are counted with their constant columns */

	for (int f = 0; f < 3; f++)
		for (unsigned batches = 4; batches <= 100; batches *= 5) {
			size_t joined;
			struct sent s;

			make_sorted_run(FEW, batches, distinct, formats[f], "");
			s = merge_counted(1, 0, &joined);
			free(s.bytes);
			assert_int_equal(s.status, SL_OK);
			assert_in_range(joined, memory.most, memory.most + MORE);
		}
}

/* The threshold of a sample is found before the merge, which then needs less memory. */
TEST(the_plan_counts_the_search_for_a_sample)
{
	static const char *const formats[] = {"mcpl", "npz"};
	size_t joined;

	for (int f = 0; f < 2; f++) {
		struct sent s;

		make_sorted_run(FEW, 4, distinct, formats[f], ", sample: 1000");
		s = merge_counted(1, 0, &joined);
		free(s.bytes);
		assert_int_equal(s.status, SL_OK);
		assert_int_equal(joined, memory.most);
	}
}

/*
 * More threads need as much more memory as the plan says: jobs and buffers have small descriptions, and the
 * plan counts rows with their constant columns.
 */
TEST(the_plan_counts_the_memory)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz"};
	enum { SMALL = 1 << 17 };

	for (int f = 0; f < 3; f++) {
		size_t first_joined = 0, first_most = 0;

		make_sorted_run(FEW, 40, distinct, formats[f], "");
		for (uint32_t threads = 1; threads <= 20; threads += 1 + threads) {
			size_t joined;
			struct sent s = merge_counted(threads, 0, &joined);

			free(s.bytes);
			assert_int_equal(s.status, SL_OK);
			if (threads == 1) {
				first_joined = joined;
				first_most = memory.most;
				continue;
			}
			assert_true(joined > first_joined);
			joined -= first_joined;
			assert_in_range(memory.most - first_most,
				strcmp(formats[f], "npz") == 0 ? joined / 2 : joined,
				joined + SMALL);
		}
	}
}

/* A process that starts while threads run can inherit a lock that none of its threads releases. */
TEST(processes_start_without_threads)
{
	const char *const keys[] = {distinct, "[]"};

	for (int i = 0; i < 2; i++) {
		struct sent s;

		make_sorted_run(MANY, 5, keys[i], "openpmd", "");
		forks.all = forks.with_threads = 0;
		forks.threads_before = threads_now();
		s = merged_by(3, SL_MERGED_FILES_MOST);
		free(s.bytes);
		assert_int_equal(s.status, SL_OK);
		assert_true(forks.all >= 5);
		assert_int_equal(forks.with_threads, 0);
	}
}
