/*
 * many_batches.c - what every command reads and writes grows in proportion to the number of batches.
 *
 * With sixteen times as many batches, a file that is read again for each batch has 256 times the bytes or calls. Linux
 * counts those of the commands, which are called in this process.
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

enum { FEW = 500, MANY = 16 * FEW, FACTOR = 17 };

static void ignore_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	(void)ctx, (void)w, (void)m, (void)session, (void)stopped;
}

/* Runs, or resumes, n batches of one particle each. */
static enum sl_status run(unsigned n, const char *out)
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
	enum sl_status s;

	snprintf(particles, sizeof(particles), "run.particles=%u", n);
	snprintf(to, sizeof(to), "output.to=%s", out);
	s = library_plan_of(sets, sizeof(sets) / sizeof(sets[0]), &plan);
	if (s == SL_OK)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK)
		s = sl_workspace_allocate(w);
	if (s == SL_OK)
		s = sl_execute(w, &e);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

static enum sl_status verify(unsigned n, const char *out)
{
	(void)n;
	return sl_verify(out, false, true, stdout);
}

static enum sl_status info(unsigned n, const char *out)
{
	FILE *text = tmpfile();
	enum sl_status s = sl_info(out, 0, text);

	(void)n;
	fclose(text);
	return s;
}

static enum sl_status status(unsigned n, const char *out)
{
	struct sl_run_status r;
	struct sl_dir dir;
	enum sl_status s;

	SL_TRY(sl_dir_open(out, false, &dir));
	s = sl_run_status_read(&dir, 2e9, &r);
	sl_dir_close(&dir);
	return s == SL_OK && r.batches != n ? SL_CHECK_FAILED : s;
}

/* Two runs, so that the batch of each input is looked up in the manifest of its run. */
static enum sl_status convert(unsigned n, const char *out)
{
	const char *const in[] = {out, folder_path(&folder, "other")};
	atomic_int stop = 0;
	const struct sl_convert_job job = {.in = in,
		.n = 2,
		.to = folder_path(&folder, "all.csv"),
		.force = true,
		.stop = &stop};

	(void)n;
	return sl_convert(&job, NULL);
}

/* What this process has read and written so far. */
struct transfers {
	uint64_t bytes, calls;
};

static struct transfers count_transfers(void)
{
	uint64_t read = 0, written = 0, reads = 0, writes = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (!f || fscanf(f,
			  "rchar: %" SCNu64 "\nwchar: %" SCNu64 "\nsyscr: %" SCNu64
			  "\nsyscw: %" SCNu64,
			  &read, &written, &reads, &writes) != 4)
		skip_test("Linux does not count what a process reads");
	fclose(f);
	return (struct transfers){read + written, reads + writes};
}

static struct transfers transfers_of(
	enum sl_status (*command)(unsigned n, const char *out), unsigned n, const char *out)
{
	struct transfers before = count_transfers(), after;

	assert_ok(command(n, out));
	after = count_transfers();
	return (struct transfers){after.bytes - before.bytes, after.calls - before.calls};
}

TEST(work_is_proportional_to_the_batches)
{
	static const struct {
		const char *name;
		enum sl_status (*call)(unsigned n, const char *out);
	} commands[] = {{"run", run}, {"run --resume", run}, {"verify", verify}, {"info", info},
		{"status", status}, {"convert", convert}};
	char few[512], many[512];

	snprintf(few, sizeof(few), "%s", folder_path(&folder, "few"));
	snprintf(many, sizeof(many), "%s", folder_path(&folder, "many"));
	assert_ok(run(2, folder_path(&folder, "other")));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct transfers a = transfers_of(commands[i].call, FEW, few);
		struct transfers b = transfers_of(commands[i].call, MANY, many);

		print_message("%s: %" PRIu64 " bytes in %" PRIu64 " calls for %d batches, %" PRIu64
			      " in %" PRIu64 " for %d\n",
			commands[i].name, a.bytes, a.calls, FEW, b.bytes, b.calls, MANY);
		if (b.bytes > FACTOR * a.bytes || b.calls > FACTOR * a.calls)
			fail_msg("%s: not in proportion to the batches", commands[i].name);
	}
}
