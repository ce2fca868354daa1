/*
 * convert_faults.c - convert when memory runs out, when the disk fails or is full, and when it is
 * killed.
 *
 * A conversion that meets a fault ends with a message and its exit code and leaves no files, or it
 * ends with the right bytes. After a kill no incomplete file has a final name.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

enum { KILLS = 6, KILLS_QUICK = 3, FIRST_CALLS = 4, PERMANENT_STEP = 7 };

/*
 * A conversion and the hash of its output. HDF5 is left out, because it can terminate the process
 * when memory runs out.
 */
struct conversion {
	const char *from, *to;
	uint64_t hash;
};
static struct conversion conversions[] = {{"two.mcpl.gz", "made.mcpl.gz", 0},
	{"two.mcpl.gz", "made.npz", 0}, {"table.npz", "made.mcpl", 0}};
enum { CONVERSIONS = sizeof(conversions) / sizeof(conversions[0]) };

static size_t entries; /* number of files in the folder without an output file */

static uint64_t hash_of_file(const char *name)
{
	size_t bytes;
	char *file = folder_read(&folder, name, &bytes);
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)file[i]) * 1099511628211u;
	free(file);
	return hash;
}

static void remove_output(const char *name)
{
	assert_int_equal(0, unlink(folder_path(&folder, name)));
}

BEFORE_TESTS()
{
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	assert_int_equal(0, symlink("miscphys.mcpl.gz", folder_path(&folder, "two.mcpl.gz")));
	expect(&folder, SL_OK, "", WORDS("convert", "two.mcpl.gz", "--to", "table.npz", "--quiet"));
	entries = folder_count(&folder);
	for (int i = 0; i < CONVERSIONS; i++) {
		struct conversion *c = &conversions[i];

		expect(&folder, SL_OK, "", WORDS("convert", c->from, "--to", c->to, "--quiet"));
		c->hash = hash_of_file(c->to);
		remove_output(c->to);
	}
}

/* --- failing calls ---------------------------------------------------------------------------- */

/*
 * Runs the conversion; returns true if it succeeded. A failed one must print a message and leave no
 * file.
 */
static bool conversion_ends_correctly(
	const struct conversion *c, const char *const *env, int code, const char *what)
{
	struct ending e;
	bool succeeded;

	call(&folder, env, WORDS("convert", c->from, "--to", c->to, "--quiet"), &e);
	succeeded = e.code == SL_OK;
	if (!succeeded && (e.code != code || !strstr(e.err, "sluice: ")))
		fail_msg("%s to %s, %s: ended with %d (signal %d): %s", c->from, c->to, what,
			e.code, e.signal, e.err);
	if (succeeded && hash_of_file(c->to) != c->hash)
		fail_msg("%s to %s, %s: the output differs", c->from, c->to, what);
	if (succeeded)
		remove_output(c->to);
	if (folder_count(&folder) != entries)
		fail_msg("%s to %s, %s: left files", c->from, c->to, what);
	process_free(&e);
	return succeeded;
}

/*
 * Fails call k of this name with an errno: first k = 1, 2, ... FIRST_CALLS, then every step-th k. Ends when
 * a conversion makes fewer than k such calls. Returns the number of failed conversions.
 */
static int fail_calls_of_kind(
	const struct conversion *c, const char *name, int error, int code, int step)
{
	int failed = 0;

	for (int k = 1;; k += k < FIRST_CALLS ? 1 : step) {
		char fault[64];
		const char *const env[] = {fault, NULL};

		snprintf(fault, sizeof(fault), "SL_FAULT=%s:%d:%d", name, k, error);
		if (conversion_ends_correctly(c, env, code, fault))
			return failed;
		failed++;
	}
}

/*
 * One conversion is enough if the library can be preloaded: all_allocations_fail() covers the
 * others.
 */
TEST(allocations_of_the_program_fail)
{
	int n = getenv("SLUICE_FAILING_MALLOC") ? 1 : (int)CONVERSIONS;

	for (int i = 0; i < n; i++)
		assert_true(fail_calls_of_kind(
				    &conversions[i], "host_malloc", 12, SL_HOST_MEMORY, 1) >= 4);
}

TEST(disk_calls_fail)
{
	static const char *const calls[] = {"file_open", "file_map", "file_write", "file_fsync",
		"file_close", "file_rename", "file_dirsync"};
	int failed = 0;

	for (int i = 0; i < (is_quick() ? 1 : (int)CONVERSIONS); i++)
		for (size_t k = 0; k < sizeof(calls) / sizeof(*calls); k++)
			failed += fail_calls_of_kind(
				&conversions[i], calls[k], 28, SL_DISK, PERMANENT_STEP);
	assert_true(failed > 5);
}

#if !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__) /* sanitizers replace the allocator */
/* The number of allocations of a process that succeeds. */
static unsigned long count(const char *preload, const char *const *words)
{
	const char *const env[] = {preload, "FAIL_COUNT=1", NULL};
	struct ending e;
	unsigned long n;

	call(&folder, env, words, &e);
	if (e.code != SL_OK || !strstr(e.err, "allocs "))
		fail_msg("exit code %d: %s", e.code, e.err);
	n = strtoul(strstr(e.err, "allocs ") + 7, NULL, 10);
	process_free(&e);
	return n;
}

/*
 * All allocations after start-up fail, including those of libraries: each alone, and some together
 * with all later ones.
 */
TEST(all_allocations_fail)
{
	const char *library = getenv("SLUICE_FAILING_MALLOC");
	char preload[4096], at[32];
	const char *env[] = {preload, at, NULL, NULL};
	unsigned long first, last;

	if (!library)
		skip_test(
			"the test needs the library failing_malloc; set SLUICE_FAILING_MALLOC to its "
			"path, or run the test with ctest");
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	first = count(preload, WORDS("list")) + 1;
	for (int i = 0; i < CONVERSIONS; i++) {
		const struct conversion *c = &conversions[i];

		last = count(preload, WORDS("convert", c->from, "--to", c->to, "--quiet"));
		remove_output(c->to);
		assert_true(last >= first + 4);
		for (int permanent = 0; permanent < 2; permanent++)
			for (unsigned long k = first; k <= last;
				k += permanent ? PERMANENT_STEP : 1) {
				env[2] = permanent ? "FAIL_ON=1" : NULL;
				snprintf(at, sizeof(at), "FAIL_AT=%lu", k);
				conversion_ends_correctly(c, env, SL_HOST_MEMORY, at);
			}
		print_message("%s to %s: %lu allocations\n", c->from, c->to, last - first + 1);
	}
}

#endif

/* --- kills ------------------------------------------------------------------------------------ */

TEST(kills_leave_complete_files)
{
	for (int i = 0; i < (is_quick() ? KILLS_QUICK : KILLS); i++) {
		const struct conversion *c = &conversions[i % CONVERSIONS];
		const char *const *words = WORDS("convert", c->from, "--to", c->to, "--quiet");
		const struct process p = {.argv = words, .folder = folder.path};
		struct running running;
		struct ending e;

		process_start(&p, &running);
		sleep_for(0.0015 * i);
		kill(running.pid, SIGKILL);
		process_wait(&running, HANG_SECONDS, &e);
		process_free(&e);
		if (folder_has(&folder, c->to))
			assert_true(hash_of_file(c->to) == c->hash);
		else
			expect(&folder, SL_OK, "", words);
		assert_true(hash_of_file(c->to) == c->hash);
		remove_output(c->to);
		assert_int_equal(folder_count(&folder), entries);
	}
}
