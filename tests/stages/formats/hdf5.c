/*
 * hdf5.c - HDF5 files are read and made in other processes: readers have limits, and the death of a
 * process, any signal or a lack of memory changes no file and no answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"

/* What a reader or maker does in its first attempt, and in later ones. */
enum step {
	ANSWER, /* reads or makes the file */
	DAMAGE,
	NO_MEMORY,
	WANT_MEMORY, /* 1 GiB */
	INVENT,      /* a status that does not exist, or a wrong length of a file */
	CRASH,
	EXIT,
	NEVER_END,
	OPEN_FILE, /* answers with errno */
	RAISE,     /* the signal number_to_raise */
	MEET       /* waits until another maker is at work too */
};

/*
 * Shared by all processes: attempts, makers at work, the most at a time, facts of the last maker.
 */
static struct shared {
	atomic_int attempts, at_work, most_at_work;
	size_t allocated;
	pid_t maker;
} * shared;

/*
 * The tests of the end come first: their processes must not share the writer process of the others.
 */
BEFORE_TESTS()
{
	shared = (struct shared *)mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	assert_ok(sl_h5_start());
}

/* --- readers ---------------------------------------------------------------------------------- */

static const char file[] = "bytes of a file";
static enum step first_step, later_step;
static int number_to_raise;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Finds 42 in the right file. */
static enum sl_status read_file(const void *in, size_t bytes, void *found, size_t size)
{
	const enum step step = shared->attempts++ == 0 ? first_step : later_step;
	void *volatile p = NULL;
	int answer = bytes == sizeof(file) && memcmp(in, file, bytes) == 0 && size == sizeof(int)
	                     ? 42
	                     : 0;

	if (step == OPEN_FILE)
		answer = open("/dev/null", O_RDONLY) < 0 ? errno : 0;
	memcpy(found, &answer, sizeof(answer));
	if (step == RAISE)
		raise(number_to_raise);
	if (step == CRASH)
		*(volatile int *)(uintptr_t)bytes = 1;
	if (step == EXIT)
		_exit(0);
	while (step == NEVER_END)
		p = NULL;
	if (step == WANT_MEMORY)
		free(p = malloc((size_t)1 << 30));
	if (step == NO_MEMORY || (step == WANT_MEMORY && !p))
		return sl_fail(SL_HOST_MEMORY, "no memory");
	if (step == DAMAGE)
		return sl_fail(SL_BAD_INPUT, "row 3 is damaged");
	return step == INVENT ? (enum sl_status)1234 : SL_OK;
}

typedef enum sl_status runner(
	sl_h5_reader *read, const void *in, size_t bytes, size_t size, void **found);

/* Reads in a child; its block is one int. */
static enum sl_status run_reader(runner *run, enum step first, enum step later, int *answer)
{
	void *found;

	first_step = first;
	later_step = later;
	shared->attempts = 0;
	SL_TRY(run(read_file, file, sizeof(file), sizeof(int), &found));
	memcpy(answer, found, sizeof(int));
	sl_h5_child_free(found, sizeof(int));
	return SL_OK;
}

/*
 * A failed allocation in HDF5 may look like a lack of memory, damage or a crash, and does not
 * happen again, so a failed reader reads again. A file for which HDF5 asks for 1 GiB is damaged:
 * memory is not what is missing.
 */
TEST(answers_and_failures_of_readers_are_reported)
{
	static const struct {
		enum step first, later;
		int answer, attempts;
		const char *message; /* of SL_BAD_INPUT; NULL: an answer */
	} rows[] = {{ANSWER, ANSWER, 42, 1, NULL}, {NO_MEMORY, ANSWER, 42, 2, NULL},
		{DAMAGE, ANSWER, 42, 2, NULL}, {CRASH, ANSWER, 42, 2, NULL},
		{OPEN_FILE, OPEN_FILE, EPERM, 1, NULL}, {DAMAGE, DAMAGE, 0, 2, "row 3 is damaged"},
		{INVENT, INVENT, 0, 2, "crashed"},
		{CRASH, CRASH, 0, 2, "HDF5 crashed while it read the file"},
		{EXIT, EXIT, 0, 2, "HDF5 crashed while it read the file"},
		{WANT_MEMORY, WANT_MEMORY, 0, 2, "HDF5 needs more than"}};

	/* a process that ignores SIGCHLD passes this on to the programs that it starts */
	for (int ignored = 0; ignored < 2; ignored++) {
		signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			int answer = 0;
			enum sl_status s;

			/*
			 * limits that a child process does not have with a sanitizer (hdf5.h)
			 */
			if (SANITIZED &&
				(rows[i].first == OPEN_FILE || rows[i].first == WANT_MEMORY))
				continue;
			s = run_reader(sl_h5_in_child, rows[i].first, rows[i].later, &answer);
			print_message("row %zu\n", i);
			if (rows[i].message)
				assert_fails(s, SL_BAD_INPUT, rows[i].message);
			else
				assert_ok(s);
			assert_int_equal(answer, rows[i].answer);
			assert_int_equal(shared->attempts, rows[i].attempts);
		}
	}
	signal(SIGCHLD, SIG_DFL);
}

static int reads_for_a_second(void *unused)
{
	struct rlimit cpu;
	int answer;

	(void)unused;
	getrlimit(RLIMIT_CPU, &cpu);
	cpu.rlim_cur = 1;
	setrlimit(RLIMIT_CPU, &cpu);
	return run_reader(sl_h5_in_child, NEVER_END, NEVER_END, &answer) == SL_BAD_INPUT &&
	       strstr(sl_last_error(), "HDF5 read it for more than") != NULL;
}

/* The limit of 60 s is too long for a test, but a lower limit of the process is inherited. */
TEST(time_is_limited)
{
	assert_int_equal(in_child(reads_for_a_second, NULL), 1);
}

/* The next signal number after one; some belong to the C library. */
static int next_signal(int number)
{
	return number == SIGSYS ? SIGRTMIN : number + 1;
}

/* Without limits, because seccomp forbids a child to signal itself. */
TEST(no_signal_changes_the_answer)
{
	for (number_to_raise = 1; number_to_raise <= SIGRTMAX;
		number_to_raise = next_signal(number_to_raise)) {
		int answer = 0;

		assert_ok(run_reader(sl_h5_in_free_child, RAISE, ANSWER, &answer));
		assert_int_equal(answer, 42);
	}
}

/* --- makers ----------------------------------------------------------------------------------- */

enum { IMAGE_BYTES = 1 << 16, THREADS = 4, FILES = 20 };

/* Facts of a file; later attempts than the first ones make it. */
struct facts {
	enum step step;
	int failures; /* attempts in which step is taken */
	uint32_t value;
	int signal;
};

static const struct facts right = {ANSWER, 0, 7, 0};

/* Waits for at most five seconds until two makers are at work. */
static void meet(void)
{
	int now = atomic_fetch_add(&shared->at_work, 1) + 1;

	if (now > atomic_load(&shared->most_at_work))
		atomic_store(&shared->most_at_work, now);
	for (int i = 0; i < 500 && atomic_load(&shared->most_at_work) < 2; i++)
		usleep(10000);
	atomic_fetch_sub(&shared->at_work, 1);
}

/* The second part of the facts follows the first one. */
static size_t make(struct sl_h5 *h, const void *from)
{
	const struct facts *f = (const struct facts *)from;
	const char *text = (const char *)(f + 1);
	const bool fails = shared->attempts++ < f->failures;
	hid_t made;

	shared->allocated = mallinfo2().uordblks;
	shared->maker = getpid();
	if (fails && f->step == RAISE)
		raise(f->signal);
	if (fails && f->step == EXIT)
		exit(-1); /* as HDF5 1.10 does without memory */
	if (fails && f->step == DAMAGE)
		sl_h5_ok(h, -1);
	if (fails && f->step == INVENT)
		return (size_t)f->value << 40;
	if (f->step == MEET)
		meet();
	made = sl_h5_create_file(h);
	sl_h5_put_text(h, made, "text", text);
	sl_h5_put_u32(h, made, "value", f->value);
	return sl_h5_finish_file(h, made);
}

/* Makes a file in a writer process, or in a fork of this process. */
static enum sl_status make_file(
	bool forked, const struct facts *f, uint8_t *image, size_t size, size_t *bytes)
{
	struct {
		struct facts f;
		char text[16];
	} facts = {*f, "some text"};
	const struct sl_h5_part parts[] = {{f, sizeof(*f)}, {"some text", sizeof("some text")}};
	struct sl_h5 h = {.image = image, .size = size};

	shared->attempts = 0;
	return forked ? sl_h5_fork_make(make, &facts, &h, bytes)
	              : sl_h5_writer_make(make, parts, 2, &h, bytes);
}

static uint8_t image[IMAGE_BYTES], other[IMAGE_BYTES];

/* Two failed attempts lose two writers each time, so the next one is started when it is needed. */
TEST(failures_of_makers)
{
	static const struct {
		struct facts f;
		size_t size;
		int attempts; /* 0: any */
		enum sl_status status;
		const char *message; /* NULL: the right file */
	} rows[] = {{{ANSWER, 0, 7, 0}, IMAGE_BYTES, 1, SL_OK, NULL},
		{{RAISE, 1, 7, SIGSEGV}, IMAGE_BYTES, 2, SL_OK, NULL},
		{{EXIT, 1, 7, 0}, IMAGE_BYTES, 2, SL_OK, NULL},
		{{DAMAGE, 1, 7, 0}, IMAGE_BYTES, 2, SL_OK, NULL},
		{{RAISE, 2, 7, SIGSEGV}, IMAGE_BYTES, 2, SL_HOST_MEMORY, "crashed or was killed"},
		{{RAISE, 2, 7, SIGKILL}, IMAGE_BYTES, 2, SL_HOST_MEMORY, "crashed or was killed"},
		{{RAISE, 2, 7, SIGXCPU}, IMAGE_BYTES, 2, SL_HOST_MEMORY, "crashed or was killed"},
		/* no length of an answer makes the caller write beyond its image */
		{{INVENT, 2, 1, 0}, IMAGE_BYTES, 0, SL_HOST_MEMORY, "crashed"},
		{{ANSWER, 0, 7, 0}, 500, 0, SL_INTERNAL, "more than the 500 bytes"}};
	size_t bytes, right_bytes;

	assert_ok(make_file(false, &right, other, sizeof(other), &right_bytes));
	assert_memory_equal(other, "\x89HDF\r\n\x1a\n", 8);
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const bool forked = i % 2;
		enum sl_status s;

		if (forked && (rows[i / 2].f.signal == SIGKILL || rows[i / 2].f.signal == SIGXCPU))
			continue; /* another message */
		print_message("row %zu, %s\n", i / 2, forked ? "forked" : "writer");
		memset(image, 0, sizeof(image));
		s = make_file(forked, &rows[i / 2].f, image, rows[i / 2].size, &bytes);
		if (rows[i / 2].attempts > 0)
			assert_int_equal(shared->attempts, rows[i / 2].attempts);
		if (rows[i / 2].message) {
			assert_fails(s, rows[i / 2].status, rows[i / 2].message);
			continue;
		}
		assert_ok(s);
		assert_int_equal(bytes, right_bytes);
		assert_memory_equal(image, other, bytes);
	}
	for (size_t size = 0; size < right_bytes; size += 100)
		assert_fails(make_file(false, &right, image, size, &bytes), SL_INTERNAL,
			"more than the");
	assert_ok(make_file(false, &right, image, sizeof(image), &bytes));
}

/*
 * Each signal, during a request and between two. The signals of crashes and SIGKILL end the writer,
 * SIGSTOP stops it for a second; it ignores the others.
 */
TEST(no_signal_to_a_writer_changes_a_file)
{
	size_t bytes, right_bytes;

	assert_ok(make_file(false, &right, other, sizeof(other), &right_bytes));
	for (int number = 1; number <= SIGRTMAX; number = next_signal(number)) {
		const struct facts f = {RAISE, 1, 7, number};

		for (int idle = 0; idle < 2; idle++) {
			memset(image, 0, sizeof(image));
			if (idle)
				kill(shared->maker, number);
			assert_ok(
				make_file(false, idle ? &right : &f, image, sizeof(image), &bytes));
			assert_int_equal(bytes, right_bytes);
			assert_memory_equal(image, other, bytes);
		}
	}
}

/*
 * The writer process keeps no memory of the files that it has made. A sanitizer does not count it.
 */
TEST(many_files_need_no_more_memory)
{
	size_t bytes, before = 0;

	for (int i = 0; i < 10 * FILES; i++) {
		assert_ok(make_file(false, &right, image, sizeof(image), &bytes));
		before = i == FILES ? shared->allocated : before;
	}
	print_message("%zu bytes allocated after %d files, %zu after %d\n", before, FILES,
		shared->allocated, 10 * FILES);
	assert_true(shared->allocated <= before + before / 4);
}

/* --- threads ---------------------------------------------------------------------------------- */

struct job {
	pthread_t thread;
	struct facts f;
	uint8_t image[2][IMAGE_BYTES]; /* the first file, and the last one */
	bool same;
};

/* Makes the same file again and again; value differs between threads. */
static void *make_files(void *ctx)
{
	struct job *job = (struct job *)ctx;
	size_t bytes;

	job->same = true;
	for (int i = 0; i < FILES; i++)
		job->same &= make_file(false, &job->f, job->image[i > 0], IMAGE_BYTES, &bytes) ==
		                     SL_OK &&
		             (i == 0 || memcmp(job->image[0], job->image[1], bytes) == 0);
	return NULL;
}

/* Whether all threads made right files. */
static bool make_in_threads(void)
{
	static struct job job[THREADS];
	bool same = true;

	for (uint32_t i = 0; i < THREADS; i++) {
		job[i].f = (struct facts){MEET, 0, i, 0};
		assert_int_equal(pthread_create(&job[i].thread, NULL, make_files, &job[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(job[i].thread, NULL), 0);
		same &= job[i].same;
	}
	return same && memcmp(job[0].image, job[1].image, IMAGE_BYTES) != 0;
}

/* Four threads share three writer processes, which work at the same time. */
static int shares_writers(void *unused)
{
	(void)unused;
	atomic_store(&shared->most_at_work, 0);
	return sl_h5_writers_start(3) == SL_OK && make_in_threads() &&
	       atomic_load(&shared->most_at_work) >= 2 && atomic_load(&shared->most_at_work) <= 3;
}

static int makes_a_file(void *unused)
{
	size_t bytes;

	(void)unused;
	return sl_h5_writers_start(3) == SL_OK &&
	       make_file(false, &right, image, sizeof(image), &bytes) == SL_OK &&
	       kill(shared->maker, SIGSTOP) == 0;
}

TEST(writers_work_at_the_same_time)
{
	assert_int_equal(in_child(shares_writers, NULL), 1);
}

/* Writers whose parent has ended become children of this process; one of them was stopped. */
static int outlives_its_writers(void *unused)
{
	(void)unused;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || in_child(makes_a_file, NULL) != 1)
		return 0;
	alarm(10);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 1;
}

TEST(the_writers_end_with_the_program)
{
	assert_int_equal(in_child(outlives_its_writers, NULL), 1);
}
