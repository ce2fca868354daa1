/* tiny_run.c - see tiny_run.h. */
#include "tests/support/runs/tiny_run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/formats/formats.h"
#include "tests/support/basic/check.h"

static const char config[] =
	"run: {name: tiny, seed: 7, particles: 200, batch: 200}\n"
	"model:\n"
	"  source_detector:\n"
	"    source:   {type: disk, radius: 0.4 cm}\n"
	"    stop:     {type: disk, distance: 2 cm, radius: 0.5 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 6 cm, pixels: [8, "
	"8]}\n"
	"    energy:   {type: lines, lines: [26.3 keV, 59.5 keV], intensities: [2.4, 35.9]}\n"
	"keep: hit\n"
	"key: [pixel:6, energy:8]\n"
	"output: {columns: [id, x, y, z, energy, pixel]}\n";

static const char *const without_run_json[] = {"run.json", NULL};
static const char *const without_run_json_and_lock[] = {"run.json", "LOCK", NULL};

/* --- running ------------------------------------------------------------------------------- */

/* Appends a NULL-terminated list to n words; returns the new number of words. */
static size_t append(const char *words[TINY_WORDS], size_t n, const char *const *list)
{
	for (; list && *list; list++) {
		assert_true(n + 1 < TINY_WORDS);
		words[n++] = *list;
	}
	return n;
}

void tiny_arguments(const struct tiny_run *t, const char *const *front, const char *out,
	const char *last, const char *words[TINY_WORDS])
{
	static char particles[64], format[64];
	static const char *const on_cpu[] = {"--device", "cpu", NULL};
	const char *const own[] = {"sluice", "run", "tiny.yaml", "--quiet", "--threads", t->threads,
		"--set", particles, "--set", format, "--out", out, NULL};
	size_t n = 0;

	snprintf(particles, sizeof(particles), "run.particles=%u", t->batches * TINY_BATCH);
	snprintf(format, sizeof(format), "output.format=%s", t->format);
	n = append(words, n, front);
	n = append(words, n, own);
	n = append(words, n, t->more ? t->more : on_cpu);
	n = append(words, n, (const char *const[]){last, NULL});
	words[n] = NULL;
}

void tiny_command(const struct tiny_run *t, const char *const *env, const char *const *front,
	const char *out, const char *last, struct tiny_command *c)
{
	tiny_arguments(t, front, out, last, c->words);
	c->process = (struct process){.argv = c->words, .env = env, .folder = t->folder.path};
}

void tiny_execute(struct tiny_run *t, const char *const *env, const char *const *front,
	const char *out, const char *last, struct ending *e)
{
	struct tiny_command c;

	tiny_command(t, env, front, out, last, &c);
	process_run(&c.process, HANG_SECONDS, e);
	if (e->timed_out)
		fail_msg("%s: did not end in %d s", t->what, HANG_SECONDS);
}

void tiny_check_ending(struct tiny_run *t, const struct ending *e, int code, const char *text,
	const char *other_text)
{
	if (e->code != code || (text && !strstr(e->err, text)) ||
		(other_text && !strstr(e->err, other_text)))
		fail_msg(
			"%s: exit code %d (signal %d), expected %d and \"%s\", \"%s\"; message: %s",
			t->what, e->code, e->signal, code, text ? text : "",
			other_text ? other_text : "", e->err);
}

void tiny_make(struct tiny_run *t)
{
	struct ending e;

	folder_make(&t->folder);
	folder_write(&t->folder, "tiny.yaml", config, sizeof(config) - 1);
	snprintf(t->what, sizeof(t->what), "the reference run");
	tiny_execute(t, NULL, NULL, "whole", NULL, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	t->hash = folder_hash(folder_path(&t->folder, "whole"), without_run_json);
}

void tiny_free(struct tiny_run *t)
{
	folder_remove(&t->folder);
}

static struct folder below(const struct tiny_run *t, const char *out)
{
	struct folder f;

	snprintf(f.path, sizeof(f.path), "%.200s/%.50s", t->folder.path, out);
	return f;
}

void tiny_remove(const struct tiny_run *t, const char *out)
{
	struct folder f = below(t, out);

	if (folder_has(&t->folder, out))
		folder_remove(&f);
}

/* --- checks -------------------------------------------------------------------------------- */

static void check_run_json(const struct tiny_run *t, const struct folder *f)
{
	size_t n;
	char *text = folder_read(f, "run.json", &n);

	if (n < 4 || text[0] != '{' || strcmp(text + n - 3, "\n}\n") != 0)
		fail_msg("%s: run.json is incomplete", t->what);
	free(text);
}

/* Expects that the file name in f equals that of the reference run. */
static void check_same(const struct tiny_run *t, const struct folder *f, const char *name)
{
	struct folder whole = below(t, "whole");
	size_t n, n_whole;
	char *found, *expected;

	if (!folder_has(&whole, name))
		fail_msg("%s: %s exists, but the reference run has no such file", t->what, name);
	found = folder_read(f, name, &n);
	expected = folder_read(&whole, name, &n_whole);
	if (n != n_whole || memcmp(found, expected, n) != 0)
		fail_msg("%s: %s (%zu bytes) differs from that of the reference run (%zu bytes)",
			t->what, name, n, n_whole);
	free(found);
	free(expected);
}

/* Expects that the line names the file of its batch and, unless a run was replaced, that the file exists. */
static void check_line(const struct tiny_run *t, const struct folder *f, const char *line,
	unsigned number, enum tiny_end how)
{
	char name[64], quoted[80];

	snprintf(name, sizeof(name), "tiny_%06u%s", number, sl_format_find(t->format)->suffix);
	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	if (!strstr(line, quoted))
		fail_msg("%s: line %u of the manifest does not name %s", t->what, number, name);
	if (how != TINY_REPLACING && !folder_has(f, name))
		fail_msg("%s: the manifest names %s, which does not exist", t->what, name);
}

/* Returns the number of complete lines. Only a killed run may leave an incomplete one. */
static unsigned check_manifest(const struct tiny_run *t, const struct folder *f, enum tiny_end how)
{
	struct folder whole = below(t, "whole");
	size_t n, n_whole;
	char *found, *expected, *line, *end;
	unsigned lines = 0;

	if (!folder_has(f, "manifest.jsonl"))
		return 0;
	found = folder_read(f, "manifest.jsonl", &n);
	expected = folder_read(&whole, "manifest.jsonl", &n_whole);
	if (n > n_whole || memcmp(found, expected, n) != 0)
		fail_msg(
			"%s: manifest.jsonl is not the beginning of that of the reference run:\n%s",
			t->what, found);
	for (line = found; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		check_line(t, f, line, lines++, how);
	}
	if (*line && how == TINY_ENDED)
		fail_msg("%s: the last line of the manifest is incomplete: %s", t->what, line);
	free(found);
	free(expected);
	return lines;
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

unsigned tiny_check(struct tiny_run *t, const char *out, enum tiny_end how)
{
	struct folder f = below(t, out);
	DIR *dir = opendir(f.path);
	const struct dirent *entry;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "LOCK") == 0)
			continue;
		if (ends_in(name, ".part")) {
			if (how == TINY_ENDED)
				fail_msg(
					"%s: the temporary file %s was not removed", t->what, name);
		} else if (strcmp(name, "run.json") == 0) {
			check_run_json(t, &f);
		} else if (strcmp(name, "manifest.jsonl") != 0) {
			check_same(t, &f, name);
		}
	}
	closedir(dir);
	return check_manifest(t, &f, how);
}

void tiny_resume(struct tiny_run *t, const char *out)
{
	struct folder f = below(t, out);
	struct ending e;

	tiny_execute(t, NULL, NULL, out, "--resume", &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	if (tiny_check(t, out, TINY_ENDED) != (t->ends_at ? t->ends_at : t->batches))
		fail_msg("%s: --resume did not commit all batches", t->what);
	if (folder_hash(f.path, without_run_json) != t->hash)
		fail_msg("%s: --resume did not give the bytes of the reference run", t->what);
	tiny_remove(t, out);
}

static uint64_t state_of(const struct tiny_run *t, const char *out)
{
	struct folder f = below(t, out);

	return folder_has(&t->folder, out)
	               ? folder_hash(f.path, without_run_json_and_lock) + folder_has(&f, "run.json")
	               : 0;
}

bool tiny_is_known(struct tiny_run *t, const char *out, const struct tiny_states *states)
{
	uint64_t state = state_of(t, out);
	size_t i = 0;

	while (i < states->n && states->state[i] != state)
		i++;
	return i < states->n;
}

void tiny_resume_once(struct tiny_run *t, const char *out, struct tiny_states *states)
{
	if (tiny_is_known(t, out, states)) {
		tiny_remove(t, out);
		return;
	}
	assert_true(states->n < TINY_STATES);
	states->state[states->n++] = state_of(t, out);
	tiny_resume(t, out);
}
