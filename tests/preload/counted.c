/* counted.c - tests that the preloaded library makes exactly the requested allocations fail. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"
#include "tests/support/basic/skip.h"

enum { KINDS = 5 };

/*
 * The functions of the library. This program counts allocations by separate functions
 * (support/allocations.c), which would otherwise be called instead.
 */
static struct {
	void *(*get)(size_t);
	void *(*get_zero)(size_t, size_t);
	void *(*resize)(void *, size_t);
	void *(*get_aligned)(size_t, size_t);
	int (*get_memalign)(void **, size_t, size_t);
	void (*give)(void *);
} library;

static void find(const char *name, void *function, size_t size)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(function, &address, size);
}

static void find_all(void)
{
	find("malloc", &library.get, sizeof(library.get));
	find("calloc", &library.get_zero, sizeof(library.get_zero));
	find("realloc", &library.resize, sizeof(library.resize));
	find("aligned_alloc", &library.get_aligned, sizeof(library.get_aligned));
	find("posix_memalign", &library.get_memalign, sizeof(library.get_memalign));
	find("free", &library.give, sizeof(library.give));
}

/* One allocation by the function of this kind. */
static void *allocate(int kind)
{
	void *p = NULL;

	switch (kind) {
	case 0:
		return library.get(64);
	case 1:
		return library.get_zero(8, 8);
	case 2:
		return library.resize(NULL, 64);
	case 3:
		return library.get_aligned(64, 64);
	default:
		return library.get_memalign(&p, 64, 64) ? NULL : p;
	}
}

/*
 * Runs with the library preloaded: prints one character per allocation, '.' or, if it failed, 'x'.
 */
static int child(void)
{
	static const char zeros[64] = {0};
	char line[2 * KINDS + 1] = "";

	find_all();
	for (int i = 0; i < 2 * KINDS; i++) {
		void *p = allocate(i % KINDS);

		line[i] = p ? '.' : 'x';
		if (p && i % KINDS == 1 && memcmp(p, zeros, 64) != 0)
			line[i] = '!';
		library.give(p);
	}
	fputs(line, stderr); /* unbuffered output allocates nothing */
	return 0;
}

/* Runs the child with FAIL_AT=at, and FAIL_ON if on is set. The caller frees e. */
static void run_child(long at, bool on, struct ending *e)
{
	const char *const argv[] = {"/proc/self/exe", "child", NULL};
	char preload[4096], fail_at[64];
	const char *const env[] = {preload, fail_at, "FAIL_COUNT=1", on ? "FAIL_ON=1" : NULL, NULL};
	const struct process p = {.argv = argv, .env = env};

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", getenv("SLUICE_FAILING_MALLOC"));
	snprintf(fail_at, sizeof(fail_at), "FAIL_AT=%ld", at);
	process_run(&p, 30, e);
	assert_int_equal(e->code, 0);
}

/* The number of allocations at the start of the process, before the ten. */
static long allocations_before_the_child(void)
{
	struct ending e;
	long n;

	run_child(0, false, &e);
	assert_memory_equal(e.err, "..........allocs ", 17);
	n = atol(e.err + 17) - 2 * KINDS;
	process_free(&e);
	assert_true(n >= 0);
	return n;
}

TEST(each_allocation_fails_alone)
{
	long first = allocations_before_the_child();

	for (int i = 0; i < 2 * KINDS; i++) {
		char expected[] = "..........allocs ";
		struct ending e;

		expected[i] = 'x';
		run_child(first + i + 1, false, &e);
		assert_memory_equal(e.err, expected, sizeof(expected) - 1);
		process_free(&e);
	}
}

TEST(all_later_allocations_fail)
{
	struct ending e;

	run_child(allocations_before_the_child() + 4, true, &e);
	assert_memory_equal(e.err, "...xxxxxxxallocs ", 17);
	process_free(&e);
}

TEST_FILE(argc, argv)
{
	return argc == 2 && strcmp(argv[1], "child") == 0 ? child() : run_test_file(argv[0]);
}

BEFORE_TESTS()
{
	skip_without_failing_malloc();
}
