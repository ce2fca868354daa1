/*
 * list_memory.c - if the batches of a list do not fit in memory, their survivors are counted, and the
 * batches have memory for these only. Batches whose records are copied have no memory for columns that
 * nothing reads. The results stay the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/output/existing_run.h"
#include "pipeline/plan/memory.h"
#include "pipeline/batch_file/batch_file.h"
#include "pipeline/run/workspace.h"
#include "stages/formats/formats.h"
#include "stages/host/batch_layout.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { N = 12000, KEPT = 600, RECORD_BYTES = 28 };

/* Runs the list in one batch; the folder of the run is out. */
static void run_list(const char *list, const char *out)
{
	write_list_config(&folder, list, ", threads: 1, batch: 12000", "x < 0.5 cm",
		"key: [energy:float]\noutput: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", out, "--quiet"));
}

/* Makes a list of which every 20th particle is kept, plain and in gzip, and runs both. */
BEFORE_TESTS()
{
	static struct sl_mcpl_particle particle[N];
	const struct sl_mcpl_header h = {
		.version = 3, .particles = N, .single = true, .pdg = 22, .weight = 1};

	for (uint32_t i = 0; i < N; i++)
		particle[i] = (struct sl_mcpl_particle){.position = {i % (N / KEPT), i, 0},
			.direction = {0, 0, 1},
			.energy = 1 / (1.0 + i)};
	make_list(&folder, "a.mcpl", &h, NULL, particle);
	make_list(&folder, "a.mcpl.gz", &h, NULL, particle);
	run_list("a.mcpl", "out");
	run_list("a.mcpl.gz", "out_gz");
	assert_int_equal(chdir(folder.path), 0);
}

/* The plan of the run in a folder, and the line of its batch in the manifest. */
static struct sl_plan *open_plan_of(const char *out, struct sl_manifest_line *line)
{
	struct sl_existing_run existing;
	struct sl_manifest m = {0};
	struct sl_plan *plan;
	struct sl_dir dir;

	assert_ok(sl_dir_open(out, false, &dir));
	assert_ok(sl_existing_run_read(&dir, &existing));
	assert_ok(sl_existing_run_plan(&existing, NULL, 0, &plan));
	assert_ok(sl_manifest_read(&dir, &m));
	*line = m.line[0];
	sl_manifest_free(&m);
	sl_existing_run_free(&existing);
	sl_dir_close(&dir);
	return plan;
}

static struct sl_plan *open_plan(struct sl_manifest_line *line)
{
	return open_plan_of("out", line);
}

/* Computes the batch in the memory of the plan. */
static enum sl_status compute(const struct sl_plan *plan, struct sl_manifest_line *line)
{
	struct sl_workspace *w;
	struct sl_host_slot *slot;
	enum sl_status s;

	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	slot = &w->slot[0];
	sl_batch_begin(&w->recipe, &slot->batch, 0);
	s = sl_stages_run(&w->recipe, &slot->exec, &slot->batch, NULL);
	if (s == SL_OK)
		s = plan->choices.format->pack(
			&slot->exec, &plan->facts, &slot->batch.table, &slot->packed);
	sl_batch_file_line(&slot->batch, line);
	sl_workspace_close(w);
	return s;
}

TEST(survivors_are_counted_if_memory_is_short)
{
	struct sl_manifest_line expected, line;
	struct sl_plan *plan = open_plan(&expected);
	size_t all = plan->memory.host;

	assert_false(plan->recipe.counted);
	assert_int_equal(expected.survivors, KEPT);
	plan->machine.free_bytes = all - 1;
	assert_ok(sl_memory_plan_fit(plan));
	assert_true(plan->recipe.counted);
	assert_int_equal(plan->recipe.survivors_most, KEPT);
	assert_int_equal(plan->recipe.batch, N);
	assert_ok(sl_memory_plan_check(plan));
	assert_true(plan->memory.host < all / 2);
	assert_ok(compute(plan, &line));
	assert_int_equal(line.survivors, KEPT);
	assert_memory_equal(&line.tally, &expected.tally, sizeof(line.tally));
	assert_memory_equal(line.digest, expected.digest, sizeof(line.digest));
	sl_plan_free(plan);
}

/* More survivors than were counted end the batch before its memory does. */
TEST(more_survivors_than_counted_are_refused)
{
	struct sl_manifest_line line;
	struct sl_plan *plan = open_plan(&line);

	plan->machine.free_bytes = plan->memory.host - 1;
	assert_ok(sl_memory_plan_fit(plan));
	plan->recipe.survivors_most = KEPT / 3;
	assert_ok(sl_memory_plan_fit(plan));
	assert_fails(compute(plan, &line), SL_DISK, "survivors that were counted before the run");
	sl_plan_free(plan);
}

/* The same plan with other choices. The caller frees it. */
static struct sl_plan *plan_again(const struct sl_plan *plan, const struct sl_choices *choices)
{
	struct sl_config config = plan->config;
	struct sl_plan *again;

	assert_ok(sl_plan_make(&config, choices, &again));
	return again;
}

/* Files consist of copied records here, so no column of the survivors is read. */
TEST(columns_that_nothing_reads_are_only_digested)
{
	struct sl_manifest_line expected, line;
	struct sl_plan *plan = open_plan(&expected), *all;
	struct sl_choices choices = plan->choices;

	choices.reads_columns = true;
	all = plan_again(plan, &choices);
	assert_true(plan->recipe.digested == SL_EVERY_COLUMN);
	assert_true(all->recipe.digested == 0);
	/* x, y, z, u, v, w, energy and time, of 4 bytes each, and the id */
	assert_true(all->memory.slot - plan->memory.slot >= N * (8 * 4 + 8));
	assert_ok(compute(plan, &line));
	assert_memory_equal(line.digest, expected.digest, sizeof(line.digest));
	assert_ok(compute(all, &line));
	assert_memory_equal(line.digest, expected.digest, sizeof(line.digest));
	sl_plan_free(all);
	sl_plan_free(plan);
}

/* Order files, and user flags that replace those of the records, are made of columns. */
TEST(columns_that_are_read_are_gathered)
{
	struct sl_manifest_line line;
	struct sl_plan *plan = open_plan(&line), *again;
	struct sl_choices choices = plan->choices;

	choices.list_order.columns = SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_id);
	again = plan_again(plan, &choices);
	assert_true(again->recipe.digested == (SL_EVERY_COLUMN & ~choices.list_order.columns));
	sl_plan_free(again);
	choices = plan->choices;
	choices.format = sl_format_find("npz");
	again = plan_again(plan, &choices);
	assert_true(again->recipe.digested == 0);
	sl_plan_free(again);
	sl_plan_free(plan);
}

/* Both runs have written the same records, which end their files. */
static void expect_same_records(void)
{
	size_t bytes, bytes_gz, records = KEPT * RECORD_BYTES;
	char *plain = folder_read(&folder, "out/t_000000.mcpl", &bytes);
	char *kept = folder_read(&folder, "out_gz/t_000000.mcpl", &bytes_gz);

	assert_true(bytes > records && bytes_gz > records);
	assert_memory_equal(plain + bytes - records, kept + bytes_gz - records, records);
	free(plain);
	free(kept);
}

/* Bytes of a batch of the plan. */
static size_t batch_bytes(const struct sl_plan *plan)
{
	struct sl_arena a = {0};
	struct sl_batch b;

	sl_batch_lay_out(&a, &plan->recipe, N, &b);
	return a.used;
}

/*
 * The records of a gzip file are in memory, so batches have no memory for copies of them, nor for columns that
 * are only digested: x, y, z, u, v, w and time. The energy is in the key.
 */
TEST(kept_records_are_not_copied)
{
	const size_t saved = N * RECORD_BYTES + (N - SL_HOST_BLOCK) * 7 * sizeof(float);
	struct sl_manifest_line plain_line, line;
	struct sl_plan *plain = open_plan_of("out", &plain_line),
		       *kept = open_plan_of("out_gz", &line);

	assert_null(plain->recipe.records);
	assert_non_null(kept->recipe.records);
	assert_int_equal(kept->recipe.source_bytes, RECORD_BYTES);
	assert_in_range(batch_bytes(plain) - batch_bytes(kept), saved - 16 * SL_ALIGN,
		saved + 16 * SL_ALIGN);
	assert_true(kept->memory.slot < plain->memory.slot);
	assert_memory_equal(line.digest, plain_line.digest, sizeof(line.digest));
	assert_ok(compute(kept, &line));
	assert_memory_equal(line.digest, plain_line.digest, sizeof(line.digest));
	expect_same_records();
	sl_plan_free(kept);
	sl_plan_free(plain);
}

/* A column that survivors do not keep has the items of one block: here the weight and the fate. */
TEST(other_columns_have_one_block)
{
	struct sl_manifest_line line;
	struct sl_plan *plan = open_plan(&line);
	struct sl_arena a = {0};
	struct sl_batch b;
	sl_column_set kept = sl_survivor_columns(&plan->recipe), other;
	size_t bytes = N * (2 * sizeof(uint32_t) + RECORD_BYTES + sl_key_bytes(&plan->recipe));

	sl_batch_lay_out(&a, &plan->recipe, N, &b);
	other = sl_stored_columns(&plan->recipe) & ~kept;
	assert_true(SL_HAS(other, SL_COLUMN_weight) && SL_HAS(other, SL_COLUMN_fate));
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		bytes += (SL_HAS(kept, c)           ? N
				 : SL_HAS(other, c) ? SL_HOST_BLOCK
						    : 0) *
		         sl_column_facts[c].bytes;
	bytes += SL_HOST_BLOCK; /* keep */
	assert_in_range(a.used, bytes, bytes + SL_ALIGN * SL_COLUMN_COUNT);
	sl_plan_free(plan);
}

/* The packed survivors are in memory that the stages use before, not in that of the table or its records. */
TEST(survivors_are_packed_in_memory_of_the_columns)
{
	struct sl_manifest_line line;
	struct sl_plan *plan = open_plan(&line);
	const struct sl_host_slot *slot;
	struct sl_workspace *w;

	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	slot = &w->slot[0];
	assert_true(slot->packed.size >= N * RECORD_BYTES);
	assert_true((const void *)slot->packed.pieces == (const void *)slot->batch.columns.x);
	assert_true((const char *)slot->packed.bytes >=
		    (const char *)slot->batch.source + N * RECORD_BYTES);
	assert_true((const char *)slot->packed.bytes + slot->packed.size <=
		    (const char *)slot->exec.scratch.base);
	sl_workspace_close(w);
	sl_plan_free(plan);
}
