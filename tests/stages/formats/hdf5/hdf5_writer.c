/*
 * hdf5_writer.c - tests that HDF5 files are made in other processes, and that a crash there is an error.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/formats/hdf5/hdf5_writer.h"
#include "tests/support/basic/check.h"

enum { IMAGE_BYTES = 1 << 16, THREADS = 4, FILES = 20 };

/*
 * The number of attempts, that of makers at work, the most of them at a time, and the bytes that the
 * last maker's process had allocated; all processes share them.
 */
static volatile int *attempts;
static atomic_int *at_work, *most_at_work;
static volatile size_t *allocated;

/* What a maker does before it makes its file. MEET: waits until another maker is at work too. */
enum first_step { MAKE, CRASH_ONCE, EXIT_ONCE, FAIL_ONCE, CRASH, KILL, MEET };

/* Facts of a file. */
struct facts {
	enum first_step first;
	uint32_t value;
};

static void fail_first(const struct facts *f, struct sl_h5 *h)
{
	int before = (*attempts)++;

	if (f->first == CRASH || (f->first == CRASH_ONCE && before == 0))
		raise(SIGSEGV);
	if (f->first == EXIT_ONCE && before == 0)
		exit(-1); /* as HDF5 1.10 does without memory */
	if (f->first == FAIL_ONCE && before == 0)
		sl_h5_ok(h, -1);
	if (f->first == KILL)
		raise(SIGKILL);
}

/* Waits for at most five seconds until two makers are at work. */
static void meet(void)
{
	int now = atomic_fetch_add(at_work, 1) + 1;

	if (now > atomic_load(most_at_work))
		atomic_store(most_at_work, now);
	for (int i = 0; i < 500 && atomic_load(most_at_work) < 2; i++)
		usleep(10000);
	atomic_fetch_sub(at_work, 1);
}

/* The second part of the facts follows the first one. */
static size_t make(struct sl_h5 *h, const void *from)
{
	const struct facts *f = (const struct facts *)from;
	const char *text = (const char *)(f + 1);
	hid_t file;

	*allocated = mallinfo2().uordblks;
	fail_first(f, h);
	if (f->first == MEET)
		meet();
	file = sl_h5_create_file(h);
	sl_h5_put_text(h, file, "text", text);
	sl_h5_put_u32(h, file, "value", f->value);
	return sl_h5_finish_file(h, file);
}

static enum sl_status write_file(const struct facts *f, uint8_t *image, size_t size, size_t *bytes)
{
	const struct sl_h5_part parts[] = {{f, sizeof(*f)}, {"some text", sizeof("some text")}};
	struct sl_h5 h = {.image = image, .size = size};

	*attempts = 0;
	return sl_h5_writer_make(make, parts, 2, &h, bytes);
}

/* The same file, made in a fork of this process. */
static enum sl_status fork_file(const struct facts *f, uint8_t *image, size_t size, size_t *bytes)
{
	struct {
		struct facts f;
		char text[16];
	} facts = {*f, "some text"};
	struct sl_h5 h = {.image = image, .size = size};

	*attempts = 0;
	return sl_h5_fork_make(make, &facts, &h, bytes);
}

static uint8_t image[IMAGE_BYTES], other[IMAGE_BYTES];

static void files_of_both_processes_are_equal(void **state)
{
	const struct facts f = {MAKE, 7};
	size_t bytes, other_bytes;

	(void)state;
	assert_ok(write_file(&f, image, sizeof(image), &bytes));
	assert_ok(fork_file(&f, other, sizeof(other), &other_bytes));
	assert_int_equal(bytes, other_bytes);
	assert_memory_equal(image, other, bytes);
	assert_memory_equal(image, "\x89HDF\r\n\x1a\n", 8);
}

static void a_failed_file_is_made_again(void **state)
{
	(void)state;
	for (int first = CRASH_ONCE; first <= FAIL_ONCE; first++) {
		const struct facts expected = {MAKE, 7}, f = {(enum first_step)first, 7};
		size_t bytes, other_bytes;

		assert_ok(write_file(&expected, other, sizeof(other), &other_bytes));
		assert_ok(write_file(&f, image, sizeof(image), &bytes));
		assert_int_equal(*attempts, 2);
		assert_int_equal(bytes, other_bytes);
		assert_memory_equal(image, other, bytes);
		assert_ok(fork_file(&f, image, sizeof(image), &bytes));
		assert_int_equal(*attempts, 2);
		assert_memory_equal(image, other, bytes);
	}
}

static void a_crash_is_a_lack_of_memory(void **state)
{
	const struct facts crash = {CRASH, 7}, right = {MAKE, 7};
	size_t bytes;

	(void)state;
	assert_fails(
		write_file(&crash, image, sizeof(image), &bytes), SL_HOST_MEMORY, "crashed twice");
	assert_fails(
		fork_file(&crash, image, sizeof(image), &bytes), SL_HOST_MEMORY, "crashed twice");
	assert_ok(write_file(&right, image, sizeof(image), &bytes));
}

static void a_small_image_is_an_internal_error(void **state)
{
	const struct facts f = {MAKE, 7};
	size_t bytes;

	(void)state;
	assert_fails(write_file(&f, image, 500, &bytes), SL_INTERNAL, "more than the 500 bytes");
	assert_fails(fork_file(&f, image, 500, &bytes), SL_INTERNAL, "more than the 500 bytes");
	assert_ok(write_file(&f, image, sizeof(image), &bytes));
}

/* The writer process keeps no memory of the files that it has made. A sanitizer does not count it. */
static void many_files_need_no_more_memory(void **state)
{
	const struct facts f = {MAKE, 7};
	size_t bytes, before = 0;

	(void)state;
	for (int i = 0; i < 10 * FILES; i++) {
		assert_ok(write_file(&f, image, sizeof(image), &bytes));
		before = i == FILES ? *allocated : before;
	}
	print_message("%zu bytes allocated after %d files, %zu after %d\n", before, FILES,
		*allocated, 10 * FILES);
	assert_true(*allocated <= before + before / 4);
}

/* --- threads ---------------------------------------------------------------------------------- */

struct job {
	pthread_t thread;
	enum first_step first;
	uint32_t value;
	uint8_t image[IMAGE_BYTES];
	bool same;
};

/* Makes the same file again and again; value differs between threads. */
static void *make_files(void *ctx)
{
	struct job *job = (struct job *)ctx;
	const struct facts f = {job->first, job->value};
	const struct sl_h5_part parts[] = {{&f, sizeof(f)}, {"some text", sizeof("some text")}};
	static _Thread_local uint8_t again[IMAGE_BYTES];

	job->same = true;
	for (int i = 0; i < FILES; i++) {
		struct sl_h5 h = {.image = i ? again : job->image, .size = IMAGE_BYTES};
		size_t bytes;

		job->same &= sl_h5_writer_make(make, parts, 2, &h, &bytes) == SL_OK &&
		             (i == 0 || memcmp(again, job->image, bytes) == 0);
	}
	return NULL;
}

/* Whether all threads made right files. */
static bool make_in_threads(enum first_step first)
{
	static struct job job[THREADS];
	bool same = true;

	for (uint32_t i = 0; i < THREADS; i++) {
		job[i].value = i;
		job[i].first = first;
		assert_int_equal(pthread_create(&job[i].thread, NULL, make_files, &job[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(job[i].thread, NULL);
		same &= job[i].same;
	}
	return same && memcmp(job[0].image, job[1].image, IMAGE_BYTES) != 0;
}

static void threads_take_turns(void **state)
{
	(void)state;
	assert_true(make_in_threads(MAKE));
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Runs a test in a process with a separate writer process. Returns its exit code. */
static int in_new_process(int (*body)(void))
{
	pid_t child = fork();
	int how = 0;

	assert_true(child >= 0);
	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &how, 0), child);
	return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static int is_killed(void)
{
	const struct facts f = {KILL, 7}, right = {MAKE, 7};
	size_t bytes;

	return write_file(&f, image, sizeof(image), &bytes) == SL_HOST_MEMORY &&
	       strstr(sl_last_error(), "ended by the system") &&
	       write_file(&right, image, sizeof(image), &bytes) == SL_HOST_MEMORY;
}

static int makes_a_file(void)
{
	const struct facts f = {MAKE, 7};
	size_t bytes;

	return sl_h5_writers_start(3) == SL_OK &&
	       write_file(&f, image, sizeof(image), &bytes) == SL_OK;
}

/* Four threads share three writer processes, which work at the same time. */
static int shares_writers(void)
{
	atomic_store(most_at_work, 0);
	return sl_h5_writers_start(3) == SL_OK && make_in_threads(MEET) &&
	       atomic_load(most_at_work) >= 2 && atomic_load(most_at_work) <= 3;
}

static void writers_work_at_the_same_time(void **state)
{
	(void)state;
	assert_int_equal(in_new_process(shares_writers), 1);
}

/* All processes have a copy of a pipe, which ends when the last of them has ended. */
static void the_writer_ends_with_the_program(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(in_new_process(makes_a_file), 1);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

static void a_killed_writer_is_a_lack_of_memory(void **state)
{
	(void)state;
	assert_int_equal(in_new_process(is_killed), 1);
}

/* The tests of the end come first: their processes must not share the writer process of the others. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writer_ends_with_the_program),
		cmocka_unit_test(a_killed_writer_is_a_lack_of_memory),
		cmocka_unit_test(writers_work_at_the_same_time),
		cmocka_unit_test(files_of_both_processes_are_equal),
		cmocka_unit_test(a_failed_file_is_made_again),
		cmocka_unit_test(a_crash_is_a_lack_of_memory),
		cmocka_unit_test(a_small_image_is_an_internal_error),
		cmocka_unit_test(many_files_need_no_more_memory),
		cmocka_unit_test(threads_take_turns),
	};

	void *shared = mmap(NULL, sizeof(size_t) + 3 * sizeof(int), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	allocated = (volatile size_t *)shared;
	attempts = (volatile int *)(allocated + 1);
	at_work = (atomic_int *)(uintptr_t)(attempts + 1);
	most_at_work = at_work + 1;
	if (shared == MAP_FAILED || sl_h5_start() != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
