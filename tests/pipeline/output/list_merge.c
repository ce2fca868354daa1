/*
 * list_merge.c - the merge of a joined list: in several passes, with failing calls and damaged files, and
 * after it was killed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/output/existing_run.h"
#include "pipeline/output/merge/ordered_list.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/formats/listed_runs.h"

/* Bytes that are received, and compared with those of a file. */
struct received {
	const char *file;
	size_t bytes, used;
};

static enum sl_status compare(void *context, const void *bytes, size_t size)
{
	struct received *r = (struct received *)context;

	assert_true(r->used + size <= r->bytes);
	assert_memory_equal(r->file + r->used, bytes, size);
	r->used += size;
	return SL_OK;
}

/* The run in `out`, opened again from its own files. */
struct opened {
	struct sl_existing_run existing;
	struct sl_manifest m;
	struct sl_plan *plan;
	struct sl_dir dir;
};

static void open_run(struct opened *o)
{
	*o = (struct opened){.plan = NULL};
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &o->dir));
	assert_ok(sl_existing_run_read(&o->dir, &o->existing));
	assert_ok(sl_existing_run_plan(&o->existing, NULL, 0, &o->plan));
	assert_ok(sl_manifest_read(&o->dir, &o->m));
}

static void close_run(struct opened *o)
{
	sl_plan_free(o->plan);
	sl_existing_run_free(&o->existing);
	sl_manifest_free(&o->m);
	sl_dir_close(&o->dir);
}

/* Merges the batches again, at most so many files at a time, and compares the list with the one in `out`. */
static enum sl_status merge_in_passes(const struct opened *o, const char *suffix, uint32_t most)
{
	const struct sl_format_merge *merge = o->plan->choices.format->merge;
	struct sl_joined_list list;
	struct received r = {.used = 0};
	enum sl_status s;
	void *sum = NULL;
	char name[300], *file, *batch;
	size_t bytes;

	for (size_t i = 0; i < o->m.n; i++) {
		snprintf(name, sizeof(name), "out/%s", o->m.line[i].file);
		batch = folder_read(&folder, name, &bytes);
		assert_ok(merge->add(batch, bytes, &sum));
		free(batch);
	}
	snprintf(name, sizeof(name), "out/t.%s", suffix);
	r.file = file = folder_read(&folder, name, &r.bytes);
	s = sl_ordered_list_send(o->plan, &o->dir, &o->m, sum, most, compare, &r, &list);
	assert_true(s != SL_OK || r.used == r.bytes);
	merge->drop(sum);
	free(file);
	return s;
}

static void passes_give_the_same_bytes(void **state)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz"};
	struct opened o;
	struct folder out;
	char more[128];
	size_t entries;

	(void)state;
	assert_int_equal(0, chdir(folder.path)); /* where the lists of the configuration are */
	for (int f = 0; f < 2; f++) {
		snprintf(more, sizeof(more), "%soutput: {format: %s, order: run, sample: 900}\n",
			listed_key, formats[f]);
		listed_run("cpu", 70, more);
		snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
		entries = folder_count(&out);
		open_run(&o);
		for (uint32_t most = 2; most <= 18; most += most < 5 ? 1 : 4)
			assert_ok(merge_in_passes(&o, formats[f], most));
		close_run(&o);
		assert_int_equal(folder_count(&out), entries);
	}
}

/* A pass that fails, at any call of the file layer, leaves no intermediate file. */
static void failed_passes_leave_no_file(void **state)
{
	static const char *const calls[] = {
		"file_open", "file_write", "file_fsync", "file_map", "file_remove"};
	struct opened o;
	struct folder out;
	char more[128], fault[64];
	size_t entries;
	enum sl_status s;

	(void)state;
	assert_int_equal(0, chdir(folder.path));
	snprintf(more, sizeof(more), "%soutput: {format: mcpl, order: run}\n", listed_key);
	listed_run("cpu", 300, more);
	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	entries = folder_count(&out);
	open_run(&o);
	for (size_t c = 0; c < sizeof(calls) / sizeof(*calls); c++)
		for (unsigned k = 1, failures = 0;; k++) {
			snprintf(fault, sizeof(fault), "%s:%u:%d", calls[c], k, EIO);
			assert_null(sl_fault_set(fault));
			s = merge_in_passes(&o, "mcpl", 2);
			sl_fault_set(NULL);
			if (s == SL_OK) {
				assert_true(failures > 0);
				break;
			}
			failures++;
			assert_int_equal(s, SL_DISK);
			assert_int_equal(folder_count(&out), entries);
		}
	close_run(&o);
}

/* A merge that was killed is done again, and leaves no file. */
static void a_killed_merge_is_done_again(void **state)
{
	static const char *const left[] = {"out/t.mcpl.part", "out/t.mcpl.1_0.part",
		"out/t.mcpl.2_11.part", "out/t_000003.order.part", "out/t_000099.order"};
	uint64_t hash;
	char more[128];

	(void)state;
	snprintf(more, sizeof(more), "%soutput: {format: mcpl, order: run}\n", listed_key);
	listed_run("cpu", 70, more);
	hash = hash_run(&folder, "out");
	assert_int_equal(0, remove(folder_path(&folder, "out/t.mcpl")));
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		folder_write(&folder, left[i], "half", 4);
	folder_write(&folder, "out/t.mcpl.1_x.part", "mine", 4);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"));
	expect_file(&folder, "out/t.mcpl.1_x.part", "mine");
	assert_int_equal(0, remove(folder_path(&folder, "out/t.mcpl.1_x.part")));
	assert_int_equal(hash_run(&folder, "out"), hash);
	/* a lost or damaged order file: its batch is computed again */
	folder_flip(&folder, "out/t_000003.order", 1, 2);
	expect(&folder, SL_CHECK_FAILED, "the file of sort keys has ",
		WORDS("verify", "out", "--quiet"));
	assert_int_equal(0, remove(folder_path(&folder, "out/t_000005.order")));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"));
	assert_int_equal(hash_run(&folder, "out"), hash);
	folder_flip(&folder, "out/t.mcpl", 9, 10);
	expect(&folder, SL_CHECK_FAILED, "differs from the list that the batch files give",
		WORDS("verify", "out", "--quiet"));
	/* another order is another run */
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set",
			"output.order=batch"));
}

/* Every call of the file layer fails once: nothing half-written stays, and --resume gives the same run. */
static void failed_calls_leave_a_run_that_can_be_resumed(void **state)
{
	static const char *const calls[] = {
		"file_open", "file_write", "file_fsync", "file_rename", "file_map", "file_close"};
	char more[128], fault[64];
	uint64_t hash;

	(void)state;
	snprintf(more, sizeof(more), "%soutput: {format: mcpl, order: run, sample: 300}\n",
		listed_key);
	listed_run("cpu", 600, more);
	hash = hash_run(&folder, "out");
	for (size_t c = 0; c < sizeof(calls) / sizeof(*calls); c++)
		for (unsigned k = 1, code = 1; code != SL_OK; k += is_quick() ? 7 : 2) {
			const char *const env[] = {fault, NULL};
			struct ending e;

			snprintf(fault, sizeof(fault), "SL_FAULT=%s:%u:%d", calls[c], k, EIO);
			remove_run(&folder, "out");
			call(&folder, env, WORDS("run", "c.yaml", "--out", "out", "--quiet"), &e);
			code = (unsigned)e.code;
			process_free(&e);
			if (code == SL_OK)
				break;
			assert_int_equal(code, SL_DISK);
			assert_false(folder_has(&folder, "out/t.mcpl.part"));
			if (folder_has(&folder, "out"))
				expect(&folder, SL_OK, "",
					WORDS("run", "c.yaml", "--out", "out", "--quiet",
						folder_has(&folder, "out/run.json") ? "--resume"
										    : "--force"));
			if (folder_has(&folder, "out"))
				assert_int_equal(hash_run(&folder, "out"), hash);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_give_the_same_bytes),
		cmocka_unit_test(failed_passes_leave_no_file),
		cmocka_unit_test(a_killed_merge_is_done_again),
		cmocka_unit_test(failed_calls_leave_a_run_that_can_be_resumed),
	};

	return cmocka_run_group_tests(tests, listed_lists, folder_end);
}
