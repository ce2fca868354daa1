/*
 * meddling.c - another program changes the directory of a run in progress: removes, replaces or changes the
 * manifest, run.json or LOCK, or renames the directory. The run ends with exit code 10, and --resume completes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/runs/reference_run.h"

enum { BATCHES = 6 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 1200, batch: 200, threads: 1, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"output: {durable: end}\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

#define MANIFEST "out/manifest.jsonl"

static void remove_manifest(void)
{
	assert_int_equal(unlink(folder_path(&folder, MANIFEST)), 0);
}

static void append_to_manifest(void)
{
	FILE *f = fopen(folder_path(&folder, MANIFEST), "a");

	assert_non_null(f);
	fputs("mine\n", f);
	fclose(f);
}

static void truncate_manifest(void)
{
	assert_int_equal(truncate(folder_path(&folder, MANIFEST), 10), 0);
}

/* Another file with as many bytes. */
static void replace_manifest(void)
{
	size_t bytes;
	char *lines = folder_read(&folder, MANIFEST, &bytes);

	memset(lines, 'x', bytes);
	remove_manifest();
	folder_write(&folder, MANIFEST, lines, bytes);
	free(lines);
}

static void remove_report(void)
{
	assert_int_equal(unlink(folder_path(&folder, "out/run.json")), 0);
}

static void replace_report(void)
{
	remove_report();
	write_text(&folder, "out/run.json", "mine");
}

static void remove_lock(void)
{
	assert_int_equal(unlink(folder_path(&folder, "out/LOCK")), 0);
}

static void replace_lock(void)
{
	remove_lock();
	write_text(&folder, "out/LOCK", "");
}

static void rename_folder(void)
{
	assert_int_equal(rename(folder_path(&folder, "out"), folder_path(&folder, "moved")), 0);
}

static void remove_folder(void)
{
	remove_run(&folder, "out");
}

static void expect_change(const char *fault, void (*change)(void), const char *message)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet");
	struct ending e;

	call_changed(&folder, fault, change, words, &e);
	expect_ending(&e, SL_OUTPUT_IN_USE, message, words);
	if (folder_has(&folder, "moved"))
		assert_int_equal(
			rename(folder_path(&folder, "moved"), folder_path(&folder, "out")), 0);
	reference_run_resume();
}

/* Every change at the first and the last commit. */
TEST(changes_are_noticed)
{
	static const struct {
		void (*change)(void);
		const char *message;
		int first; /* of the commits at which the change is possible */
	} cases[] = {
		{remove_manifest, "manifest.jsonl was changed by another program", 1},
		{append_to_manifest, "manifest.jsonl was changed by another program", 1},
		{truncate_manifest, "manifest.jsonl was changed by another program", 2},
		{replace_manifest, "manifest.jsonl was changed by another program", 2},
		{remove_report, "run.json was changed or removed by another program", 1},
		{replace_report, "run.json was changed or removed by another program", 1},
		{remove_lock, "LOCK was removed or replaced", 1},
		{replace_lock, "LOCK was removed or replaced", 1},
		{rename_folder, "out was renamed or removed", 1},
		{remove_folder, "out was renamed or removed", 1},
	};
	char fault[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int at = cases[i].first; at <= BATCHES; at += BATCHES - cases[i].first) {
			snprintf(fault, sizeof(fault), "file_append:%d:stop", at);
			expect_change(fault, cases[i].change, cases[i].message);
		}
}

/* Without LOCK another run could start at any moment; and final files are written for a long time. */
TEST(changes_are_noticed_soon_and_late)
{
	expect_change("file_append:3:stop", remove_lock, "batch 3, writing: out/LOCK was removed");
	expect_change("file_rename:8:stop", remove_manifest, "manifest.jsonl was changed");
}
