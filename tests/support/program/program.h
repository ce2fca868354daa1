/*
 * program.h - runs the program under test with a command line, as a user does.
 *
 *	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "a"));
 *	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already",
 *		WORDS("run", "c.yaml", "--out", "a"));
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PROGRAM_H
#define SL_TESTS_SUPPORT_PROGRAM_PROGRAM_H

#include "pipeline/results/results.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/folder.h"
#include "tests/support/program/process.h"

struct sl_yaml; /* pipeline/text/text.h */

#define WORDS(...) ((const char *const[]){"sluice", __VA_ARGS__, NULL})

/* Returns true if the test shall be short: in a sanitizer build, or if SLUICE_QUICK is set. */
bool is_quick(void);

/* Runs the program with the arguments words in f; env may be NULL. The caller frees *e. */
void call(
	const struct folder *f, const char *const *env, const char *const *words, struct ending *e);

/* Expects this exit code, and text as a part of stderr ("": anything). */
void expect(const struct folder *f, int code, const char *text, const char *const *words);

/* Checks an ending as expect() does, and frees it. */
void expect_ending(struct ending *e, int code, const char *text, const char *const *words);

/* Counts the occurrences of word in text. */
size_t times_in(const char *text, const char *word);

/* Writes text as the file name in f. */
void write_text(const struct folder *f, const char *name, const char *text);

/* Expects that the contents of the file name in f equal text. */
void expect_file(const struct folder *f, const char *name, const char *text);

/* Reads the manifest of the run in out below f. */
void read_manifest(const struct folder *f, const char *out, struct sl_manifest *m);

/* Truncates the manifest after n lines, as if the run had been killed after n batches. */
void keep_batches(const struct folder *f, const char *out, size_t n);

/*
 * report_of() parses out/run.json; the caller frees it. run_json() returns the text of the member
 * key of run.json, valid until the next call.
 */
struct sl_yaml *report_of(const struct folder *f, const char *out);
const char *run_json(const struct folder *f, const char *out, const char *key);

/* Returns a hash of all files of a run except run.json, which contains times. */
uint64_t hash_run(const struct folder *f, const char *out);

/* Copies and removes a folder below f. */
void copy_run(const struct folder *f, const char *from, const char *to);
void remove_run(const struct folder *f, const char *out);

/* The time of a monotonic clock, and a pause, both in seconds. */
double seconds_now(void);
void sleep_for(double seconds);

#endif
