/*
 * many_batches.c - what every command reads and writes grows in proportion to the number of
 * batches.
 *
 * With sixteen times as many batches, a file that is read again for each batch has 256 times the
 * bytes or calls. Linux counts those of the commands, which are called in this process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/convert/convert.h"
#include "pipeline/execute/execute.h"
#include "pipeline/info/info.h"
#include "pipeline/status/status.h"
#include "pipeline/verify/verify.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/library_run.h"

enum { FEW = 150, MANY = 16 * FEW, FACTOR = 17, COMMANDS = 6 };

static const char *const commands[COMMANDS] = {
	"run", "run --resume", "verify", "info", "status", "convert"};

static void ignore_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	(void)ctx, (void)w, (void)m, (void)session, (void)stopped;
}

/* Runs, or resumes, n batches of one particle each. */
static void run(unsigned n, const char *out)
{
	char particles[64], to[512];
	const char *const sets[] = {particles, to, "run.batch=1", "run.threads=1", "run.device=cpu",
		"output.format=csv", "output.columns=[id, x]", "output.durable=never",
		"tallies=[w:10]"};
	struct sl_control control = {.stop = 0};
	const struct sl_execution e = {
		.start = SL_START_RESUME, .control = &control, .results = ignore_results};
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;

	snprintf(particles, sizeof(particles), "run.particles=%u", n);
	snprintf(to, sizeof(to), "output.to=%s", out);
	assert_ok(library_plan_of(sets, sizeof(sets) / sizeof(sets[0]), &plan));
	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	assert_ok(sl_execute(w, &e));
	sl_workspace_close(w);
	sl_plan_free(plan);
}

static void status(unsigned n, const char *out)
{
	struct sl_run_status r;
	struct sl_dir dir;

	assert_ok(sl_dir_open(out, false, &dir));
	assert_ok(sl_run_status_read(&dir, 2e9, &r));
	assert_int_equal(r.batches, n);
	sl_dir_close(&dir);
}

/* Two runs, so that the batch of each input is looked up in the manifest of its run. */
static void convert(const char *out)
{
	const char *const in[] = {out, folder_path(&folder, "other")};
	atomic_int stop = 0;
	const struct sl_convert_job job = {.in = in,
		.n = 2,
		.to = folder_path(&folder, "all.csv"),
		.force = true,
		.stop = &stop};

	assert_ok(sl_convert(&job, NULL));
}

static void do_command(int command, unsigned n, const char *out)
{
	FILE *text = tmpfile();

	if (command < 2)
		run(n, out);
	else if (command == 2)
		assert_ok(sl_verify(out, false, true, text));
	else if (command == 3)
		assert_ok(sl_info(out, 0, false, text));
	else if (command == 4)
		status(n, out);
	else
		convert(out);
	fclose(text);
}

/* Bytes and calls that this process has read and written so far. */
static void count_transfers(uint64_t sums[2])
{
	uint64_t read[2], written[2];
	FILE *f = fopen("/proc/self/io", "r");

	if (!f || fscanf(f,
			  "rchar: %" SCNu64 "\nwchar: %" SCNu64 "\nsyscr: %" SCNu64
			  "\nsyscw: %" SCNu64,
			  &read[0], &written[0], &read[1], &written[1]) != 4)
		skip_test("Linux does not count what a process reads");
	fclose(f);
	for (int k = 0; k < 2; k++)
		sums[k] = read[k] + written[k];
}

TEST(work_is_proportional_to_the_batches)
{
	static const unsigned n[] = {FEW, MANY};
	char out[2][512];

	snprintf(out[0], sizeof(out[0]), "%s", folder_path(&folder, "few"));
	snprintf(out[1], sizeof(out[1]), "%s", folder_path(&folder, "many"));
	run(2, folder_path(&folder, "other"));
	for (int c = 0; c < COMMANDS; c++) {
		uint64_t before[2], after[2], made[2][2];

		for (int k = 0; k < 2; k++) {
			count_transfers(before);
			do_command(c, n[k], out[k]);
			count_transfers(after);
			made[k][0] = after[0] - before[0];
			made[k][1] = after[1] - before[1];
			print_message("%s: %" PRIu64 " bytes in %" PRIu64 " calls for %u batches\n",
				commands[c], made[k][0], made[k][1], n[k]);
		}
		if (made[1][0] > FACTOR * made[0][0] || made[1][1] > FACTOR * made[0][1])
			fail_msg("%s: not in proportion to the batches", commands[c]);
	}
}
