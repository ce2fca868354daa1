/* program.c - see program.h. */
#include "tests/support/program/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "pipeline/text/text.h"
#include "tests/support/program/tree.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_slow = true;
#else
static const bool is_slow = false;
#endif

/* Prints once that the test is reduced, so that the log shows it. */
bool is_quick(void)
{
	static bool printed;
	const char *setting = getenv("SLUICE_QUICK");
	bool quick = is_slow || (setting && *setting);

	if (quick && !printed)
		printf("Only a part of the particles, signals and variants is tested (%s).\n",
			is_slow ? "built with a sanitizer" : "SLUICE_QUICK");
	printed |= quick;
	return quick;
}

void call(
	const struct folder *f, const char *const *env, const char *const *words, struct ending *e)
{
	const struct process p = {.argv = words, .env = env, .folder = f->path};

	process_run(&p, HANG_SECONDS, e);
}
void expect_ending(struct ending *e, int code, const char *text, const char *const *words)
{
	if (e->timed_out || e->code != code || !strstr(e->err, text)) {
		for (; *words; words++)
			print_error("%s ", *words);
		fail_msg(
			"exit code %d (signal %d%s), message\n%s(expected exit code %d and ...%s...)",
			e->code, e->signal, e->timed_out ? ", out of time" : "", e->err, code,
			text);
	}
	process_free(e);
}

void expect(const struct folder *f, int code, const char *text, const char *const *words)
{
	struct ending e;

	call(f, NULL, words, &e);
	expect_ending(&e, code, text, words);
}
size_t times_in(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text += strlen(word))
		n++;
	return n;
}

void write_text(const struct folder *f, const char *name, const char *text)
{
	folder_write(f, name, text, strlen(text));
}

void expect_file(const struct folder *f, const char *name, const char *text)
{
	size_t bytes;
	char *found = folder_read(f, name, &bytes);

	assert_string_equal(found, text);
	assert_int_equal(bytes, strlen(text));
	free(found);
}

void read_manifest(const struct folder *f, const char *out, struct sl_manifest *m)
{
	struct sl_dir dir;

	assert_ok(sl_dir_open(folder_path(f, out), false, &dir));
	assert_ok(sl_manifest_read(&dir, m));
	sl_dir_close(&dir);
}

void keep_batches(const struct folder *f, const char *out, size_t n)
{
	char name[256], *lines, *at;
	size_t bytes;

	snprintf(name, sizeof(name), "%s/manifest.jsonl", out);
	at = lines = folder_read(f, name, &bytes);
	for (size_t i = 0; i < n; i++)
		at = strchr(at, '\n') + 1;
	folder_write(f, name, lines, (size_t)(at - lines));
	free(lines);
}

struct sl_yaml *report_of(const struct folder *f, const char *out)
{
	char name[256];
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	size_t bytes;
	char *json;

	snprintf(name, sizeof(name), "%s/run.json", out);
	json = folder_read(f, name, &bytes);
	assert_ok(sl_yaml_parse(json, bytes, &tree, &problem));
	free(json);
	return tree;
}

const char *run_json(const struct folder *f, const char *out, const char *key)
{
	static char text[1 << 16];
	struct sl_yaml *tree = report_of(f, out);

	snprintf(text, sizeof(text), "%s",
		sl_yaml_text(tree, sl_yaml_get(tree, SL_YAML_ROOT, key), NULL));
	sl_yaml_free(tree);
	return text;
}

uint64_t hash_run(const struct folder *f, const char *out)
{
	return folder_hash(folder_path(f, out), "run.json");
}

void copy_run(const struct folder *f, const char *from, const char *to)
{
	const struct tree nothing = {.n = 0};
	struct folder source, copy;
	struct tree t;

	snprintf(source.path, sizeof(source.path), "%.120s/%.120s", f->path, from);
	snprintf(copy.path, sizeof(copy.path), "%.120s/%.120s", f->path, to);
	assert_int_equal(mkdir(copy.path, 0777), 0);
	tree_read(&source, &t);
	tree_restore(&copy, &nothing, &t);
	tree_free(&t);
}

void remove_run(const struct folder *f, const char *out)
{
	struct folder run;

	snprintf(run.path, sizeof(run.path), "%.120s/%.120s", f->path, out);
	if (folder_has(f, out))
		folder_remove(&run);
}

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sleep_for(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&t, NULL);
}
