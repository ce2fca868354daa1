/*
 * hdf5_writer.c - tests that HDF5 files are made in other processes, whose death changes no file.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/formats/hdf5/hdf5_writer.h"
#include "tests/support/basic/check.h"

enum { IMAGE_BYTES = 1 << 16, THREADS = 4, FILES = 20 };

/*
 * The number of attempts, that of makers at work, the most of them at a time, the bytes that the
 * last maker's process had allocated, and its id; all processes share them.
 */
static volatile int *attempts;
static atomic_int *at_work, *most_at_work;
static volatile size_t *allocated;
static volatile pid_t *maker;

/*
 * What a maker does before it makes its file. MEET: waits until another maker is at work too.
 * LENGTH: states a wrong length instead.
 */
enum first_step { MAKE, SIGNAL_ONCE, EXIT_ONCE, FAIL_ONCE, SIGNAL, MEET, LENGTH };

/* Facts of a file. */
struct facts {
	enum first_step first;
	uint32_t value;
	int signal;
};

static void fail_first(const struct facts *f, struct sl_h5 *h)
{
	int before = (*attempts)++;

	if (f->first == SIGNAL || (f->first == SIGNAL_ONCE && before == 0))
		raise(f->signal);
	if (f->first == EXIT_ONCE && before == 0)
		exit(-1); /* as HDF5 1.10 does without memory */
	if (f->first == FAIL_ONCE && before == 0)
		sl_h5_ok(h, -1);
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
	*maker = getpid();
	fail_first(f, h);
	if (f->first == LENGTH)
		return (size_t)f->value << 40;
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

TEST(files_of_both_processes_are_equal)
{
	const struct facts f = {MAKE, 7, 0};
	size_t bytes, other_bytes;

	assert_ok(write_file(&f, image, sizeof(image), &bytes));
	assert_ok(fork_file(&f, other, sizeof(other), &other_bytes));
	assert_int_equal(bytes, other_bytes);
	assert_memory_equal(image, other, bytes);
	assert_memory_equal(image, "\x89HDF\r\n\x1a\n", 8);
}

TEST(a_failed_file_is_made_again)
{
	for (int first = SIGNAL_ONCE; first <= FAIL_ONCE; first++) {
		const struct facts expected = {MAKE, 7, 0};
		const struct facts f = {(enum first_step)first, 7, SIGSEGV};
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

/* Two writers are lost each time, so the next one is started when it is needed. */
TEST(a_crash_is_a_lack_of_memory)
{
	static const int signals[] = {SIGSEGV, SIGKILL, SIGXCPU};
	const struct facts right = {MAKE, 7, 0};
	size_t bytes;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		const struct facts crash = {SIGNAL, 7, signals[i]};

		assert_fails(write_file(&crash, image, sizeof(image), &bytes), SL_HOST_MEMORY,
			"crashed or was killed");
		assert_int_equal(*attempts, 2);
		assert_ok(write_file(&right, image, sizeof(image), &bytes));
	}
	assert_fails(fork_file(&(struct facts){SIGNAL, 7, SIGSEGV}, image, sizeof(image), &bytes),
		SL_HOST_MEMORY, "crashed or was killed");
}

/*
 * Each signal, during a request and between two. The signals of crashes and SIGKILL end the writer,
 * SIGSTOP stops it for a second; it ignores the others.
 */
TEST(no_signal_to_a_writer_changes_a_file)
{
	const struct facts right = {MAKE, 7, 0};
	size_t bytes, other_bytes;

	assert_ok(write_file(&right, other, sizeof(other), &other_bytes));
	for (int number = 1; number <= SIGRTMAX; number++) {
		const struct facts f = {SIGNAL_ONCE, 7, number};

		if (number > SIGSYS && number < SIGRTMIN)
			continue; /* of the C library */
		for (int idle = 0; idle < 2; idle++) {
			memset(image, 0, sizeof(image));
			if (idle)
				kill(*maker, number);
			assert_ok(write_file(idle ? &right : &f, image, sizeof(image), &bytes));
			assert_int_equal(bytes, other_bytes);
			assert_memory_equal(image, other, bytes);
		}
	}
}

/* No length of an answer makes the caller write beyond its image. */
TEST(a_wrong_length_is_an_error)
{
	const struct facts f = {LENGTH, 1, 0}, right = {MAKE, 7, 0};
	size_t bytes;

	assert_fails(write_file(&f, image, sizeof(image), &bytes), SL_HOST_MEMORY, "crashed");
	assert_fails(fork_file(&f, image, sizeof(image), &bytes), SL_HOST_MEMORY, "crashed");
	assert_ok(write_file(&right, image, sizeof(image), &bytes));
}

TEST(a_small_image_is_an_internal_error)
{
	const struct facts f = {MAKE, 7, 0};
	size_t bytes;

	assert_fails(write_file(&f, image, 500, &bytes), SL_INTERNAL, "more than the 500 bytes");
	assert_fails(fork_file(&f, image, 500, &bytes), SL_INTERNAL, "more than the 500 bytes");
	assert_ok(write_file(&f, image, sizeof(image), &bytes));
}

/* The writer process keeps no memory of the files that it has made. A sanitizer does not count it. */
TEST(many_files_need_no_more_memory)
{
	const struct facts f = {MAKE, 7, 0};
	size_t bytes, before = 0;

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
	const struct facts f = {job->first, job->value, 0};
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

TEST(threads_take_turns)
{
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

static int makes_a_file(void)
{
	const struct facts f = {MAKE, 7, 0};
	size_t bytes;

	return sl_h5_writers_start(3) == SL_OK &&
	       write_file(&f, image, sizeof(image), &bytes) == SL_OK && kill(*maker, SIGSTOP) == 0;
}

/* Four threads share three writer processes, which work at the same time. */
static int shares_writers(void)
{
	atomic_store(most_at_work, 0);
	return sl_h5_writers_start(3) == SL_OK && make_in_threads(MEET) &&
	       atomic_load(most_at_work) >= 2 && atomic_load(most_at_work) <= 3;
}

TEST(writers_work_at_the_same_time)
{
	assert_int_equal(in_new_process(shares_writers), 1);
}

/* Writers whose parent has ended become children of this process; one of them was stopped. */
TEST(the_writers_end_with_the_program)
{
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(in_new_process(makes_a_file), 1);
	alarm(10);
	while (waitpid(-1, NULL, 0) > 0)
		;
	alarm(0);
}

/* The tests of the end come first: their processes must not share the writer process of the others. */
BEFORE_TESTS()
{
	void *shared = mmap(NULL, sizeof(size_t) + 4 * sizeof(int), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	allocated = (volatile size_t *)shared;
	attempts = (volatile int *)(allocated + 1);
	at_work = (atomic_int *)(uintptr_t)(attempts + 1);
	most_at_work = at_work + 1;
	maker = (volatile pid_t *)(uintptr_t)(most_at_work + 1);
	assert_ok(sl_h5_start());
}
