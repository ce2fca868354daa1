/*
 * list_merge.c - the merge of a joined file: with damaged files, and after it was killed; records that get lost on the way
 * to a file. tests/faults/faults.c lets each of its calls fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/results/survivor_file.h"
#include "pipeline/run/workspace.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/formats/listed_runs.h"
#include "tests/support/runs/merged_again.h"

static enum sl_status ignore_bytes(void *context, const void *bytes, size_t size)
{
	(void)context, (void)bytes, (void)size;
	return SL_OK;
}

/* Sends so many records of a list of 40000. Each of its buffers holds 32768. */
static enum sl_status send_some(const struct opened *o, uint32_t n)
{
	static const uint8_t record[32] = {0};
	struct sl_record_output out;
	struct sl_job_pool pool;
	enum sl_status s;

	sl_job_pool_open(&pool, 0);
	assert_ok(sl_record_output_begin(
		&out, o->plan, &pool, sizeof(record), 40000, ignore_bytes, NULL));
	for (uint32_t i = 0; i < n; i++)
		assert_ok(sl_record_output_add(&out, record));
	s = sl_record_output_flush(&out);
	sl_record_output_end(&out);
	sl_job_pool_close(&pool);
	return s;
}

TEST(missing_records_are_noticed)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz"};
	struct opened o;
	char more[128];

	assert_int_equal(0, chdir(folder.path));
	for (int f = 0; f < 2; f++) {
		snprintf(more, sizeof(more), "%soutput: {format: %s, order: run}\n", listed_key,
			formats[f]);
		listed_run("cpu", 600, more);
		open_run(&o, 0);
		assert_ok(send_some(&o, 40000));
		assert_fails(send_some(&o, 39999), SL_INTERNAL, "39999 of 40000 values");
		close_run(&o);
	}
}

/* Packs all survivors of batch 0 but some, and writes the file of a batch that has all. */
static enum sl_status write_batch(const struct opened *o, struct sl_workspace *w, uint32_t lost)
{
	const struct sl_manifest_line *l = &o->m.line[0];
	const struct sl_file_facts run = sl_plan_batch_facts(o->plan);
	struct sl_host_slot *slot = &w->slot[0];
	struct sl_batch_write writing = {.commit_ns = 0};
	struct sl_survivors s;
	enum sl_status status;

	assert_ok(sl_survivors_read(&o->dir, l->file, &s));
	slot->batch = (struct sl_batch){.number = l->batch,
		.first_id = l->first_id,
		.n = (uint32_t)l->generated,
		.n_survivors = s.table.n,
		.table = s.table};
	s.table.n -= lost;
	assert_ok(o->plan->choices.format->pack(&slot->exec, &run, &s.table, &slot->packed));
	slot->batch.table.n = 0; /* sort keys are made from columns that the file may lack */
	status = sl_batch_file_write(o->plan, &o->dir, slot, w->file_image, &writing);
	sl_batch_file_remove_parts(&writing);
	sl_survivors_free(&s);
	return status;
}

TEST(lost_rows_are_noticed)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv", "csv.gz", "openpmd"};
	struct sl_workspace *w;
	struct opened o;
	struct folder out;
	char more[128];
	size_t entries;

	assert_int_equal(0, chdir(folder.path));
	for (int f = 0; f < 6; f++) {
		snprintf(more, sizeof(more), "%soutput: {format: %s}\n", listed_key, formats[f]);
		listed_run("cpu", 600, more);
		snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
		entries = folder_count(&out);
		open_run(&o, 0);
		assert_ok(sl_workspace_open(o.plan, &w));
		assert_ok(sl_workspace_allocate(w));
		assert_ok(write_batch(&o, w, 0));
		assert_fails(write_batch(&o, w, 1), SL_INTERNAL, "values were written");
		assert_int_equal(folder_count(&out), entries);
		sl_workspace_close(w);
		close_run(&o);
	}
}

/* A merge that was killed is done again, and leaves no file. */
static void kill_merge(const char *format, const char *suffix)
{
	static const char *const left[] = {
		".part", ".0_0.part", ".1_0.part", ".2_11.part", "_000003.order.part"};
	static const char *const mine[] = {
		".1_x.part", "._0.part", ".1_.part", ".1_0", ".1_0.parts", "x1_0.part"};
	const char *const *resume = WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume");
	struct folder out;
	struct ending e;
	size_t entries;
	uint64_t hash;
	char more[128], name[64];

	snprintf(more, sizeof(more), "%soutput: {format: %s, order: run}\n", listed_key, format);
	listed_run("cpu", 70, more);
	hash = hash_run(&folder, "out");
	snprintf(name, sizeof(name), "out/t.%s", suffix);
	assert_int_equal(0, remove(folder_path(&folder, name)));
	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	entries = folder_count(&out);
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		snprintf(name, sizeof(name), "out/t%s%s%s", *left[i] == '.' ? "." : "",
			*left[i] == '.' ? suffix : "", left[i]);
		folder_write(&folder, name, "half", 4);
	}
	for (size_t i = 0; i < sizeof(mine) / sizeof(*mine); i++) {
		snprintf(name, sizeof(name), "out/t.%s%s", suffix, mine[i]);
		folder_write(&folder, name, "mine", 4);
	}
	/* at the second fsync, after that of run.json, a file of the merge is written */
	call_changed(&folder, "file_fsync:2:stop", NULL, resume, &e);
	process_free(&e);
	/* at the first one there is run.json.part, and what the killed merge has left is removed */
	call_changed(&folder, "file_fsync:1:stop", NULL, resume, &e);
	process_free(&e);
	assert_int_equal(folder_count(&out), entries + sizeof(mine) / sizeof(*mine) + 1);
	expect(&folder, SL_OK, "", resume);
	for (size_t i = 0; i < sizeof(mine) / sizeof(*mine); i++) {
		snprintf(name, sizeof(name), "out/t.%s%s", suffix, mine[i]);
		expect_file(&folder, name, "mine");
		assert_int_equal(0, remove(folder_path(&folder, name)));
	}
	assert_int_equal(hash_run(&folder, "out"), hash);
}

TEST(a_killed_merge_is_done_again)
{
	uint64_t hash;

	kill_merge("npz", "npz");
	kill_merge("openpmd", "h5");
	kill_merge("mcpl", "mcpl");
	hash = hash_run(&folder, "out");
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

BEFORE_TESTS()
{
	listed_lists();
}
