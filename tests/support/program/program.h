/*
 * program.h - runs the program under test with a command line, as a user does.
 *
 *	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "a"));
 *	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already", WORDS("run", "c.yaml", "--out",
 *"a"));
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PROGRAM_H
#define SL_TESTS_SUPPORT_PROGRAM_PROGRAM_H

#include "pipeline/results/manifest.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/folder.h"
#include "tests/support/program/process.h"

struct sl_yaml; /* pipeline/text/yaml.h */

#define WORDS(...) ((const char *const[]){"sluice", __VA_ARGS__, NULL})

/* Is this build, or has the environment asked for, a test of few particles? */
bool be_quick(void);

/* Runs words in f; env may be NULL. *e is to be freed. */
void call(
	const struct folder *f, const char *const *env, const char *const *words, struct ending *e);

/* The call ends with that code, and has text in what it writes to stderr (""; anything). */
void expect(const struct folder *f, int code, const char *text, const char *const *words);

/* The call succeeds; returns what it wrote to stdout, to be freed. */
char *output_of(const struct folder *f, const char *const *words);

/* Checks an ending as expect does, and frees it. */
void expect_ending(struct ending *e, int code, const char *text, const char *const *words);

/* How many times text has that word in it. */
size_t times_in(const char *text, const char *word);

/* Writes text as the file name in f. */
void write_text(const struct folder *f, const char *name, const char *text);

/* That is what stands in the file name in f, still. */
void expect_file(const struct folder *f, const char *name, const char *text);

/* A configuration of one batch that takes minutes, as each particle flies 1e4 times and more. */
void write_slow(const struct folder *f, const char *name);

/* The manifest of the run in out below f. */
void read_manifest(const struct folder *f, const char *out, struct sl_manifest *m);

/* Cuts it behind n lines: as many batches had been committed when the run was killed. */
void keep_batches(const struct folder *f, const char *out, size_t n);

/* What is in out/run.json; to be freed. The text of a member of its root, until the next call. */
struct sl_yaml *report_of(const struct folder *f, const char *out);
const char *run_json(const struct folder *f, const char *out, const char *key);

/* The bytes of all of a run but run.json, which tells times. */
uint64_t hash_run(const struct folder *f, const char *out);

/* Copies, removes a folder below f. */
void copy_run(const struct folder *f, const char *from, const char *to);
void remove_run(const struct folder *f, const char *out);

/* Seconds of a clock that never goes back; sleeps. */
double seconds_now(void);
void sleep_for(double seconds);

#endif
