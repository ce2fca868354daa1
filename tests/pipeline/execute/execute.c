/*
 * execute.c - runs in memory and in a directory: batches in order, every end of a run, and what the
 * caller's control is afterwards. That both have the same results: python/tests/test_run.py;
 * directories that have a run already: tests/text/resume.txt.
 */
#include <stdio.h>

#include "pipeline/execute/execute.h"
#include "primitives/base/clock.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/program/fixture.h"

/* 40 batches are more than the lines that a run in memory begins with. */
static const char slab[] =
	"run: {name: t, seed: 7, particles: 4000, batch: 100, threads: 2, device: cpu}\n"
	"model: {slab: {mu_a: 10 /cm, mu_s: 90 /cm, thickness: 0.02 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"tallies: [z:10:0 cm..0.02 cm:absorbed]\n"
	"output: {format: csv, columns: [id, x, w]}\n";

enum { BATCHES = 40 };

/* A run, and what its callbacks saw. */
struct execution {
	bool in_memory;
	uint64_t fail_at,
		stop_at; /* the batch at which the callback fails or sets control.stop; 0: none */
	double seconds;  /* the age of the run before it starts */
	int results;     /* calls of results(), and its argument stopped */
	bool stopped;
	uint64_t batches; /* calls of batch() */
	size_t lines;     /* of the manifest */
	struct sl_control control;
};

/* --- callbacks -------------------------------------------------------------------------------- */

static enum sl_status take_batch(void *ctx, struct sl_host_slot *slot)
{
	struct execution *x = (struct execution *)ctx;
	uint64_t number = slot->batch.number;

	if (number != x->batches)
		return sl_fail(SL_INTERNAL, "batch %llu came after %llu batches",
			(unsigned long long)number, (unsigned long long)x->batches);
	if (number == x->fail_at && number > 0)
		return sl_fail(
			SL_HOST_MEMORY, "no memory for batch %llu", (unsigned long long)number);
	if (number == x->stop_at && number > 0)
		atomic_store(&x->control.stop, SL_STOP_AT_ONCE);
	x->batches++;
	return SL_OK;
}

static void take_progress(void *ctx, const struct sl_progress *p)
{
	(void)ctx;
	(void)p;
}

static void take_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	struct execution *x = (struct execution *)ctx;

	(void)w;
	(void)session;
	(void)sl_fail(SL_INTERNAL, "a message of the callback"); /* must not hide that of the run */
	x->results++;
	x->stopped = stopped;
	x->lines = m->n;
}

/* --- a run ------------------------------------------------------------------------------------ */

/* Executes it, into the directory run. */
static enum sl_status execute(struct execution *x, const char *set)
{
	char to[300];
	const struct sl_execution e = {.in_memory = x->in_memory,
		.start = SL_START_FORCE,
		.started_ns = sl_now_ns() - (uint64_t)(x->seconds * 1e9),
		.control = &x->control,
		.results = take_results,
		.ctx = x};
	struct sl_workspace *w;
	struct sl_plan *plan;
	enum sl_status s;

	snprintf(to, sizeof(to), "output.to=%s", folder_path(&folder, "run"));
	resolve_good_sets(slab, SETS(to, set));
	if (x->in_memory)
		(void)sl_execute_choose_memory(&choices, false);
	assert_ok(sl_plan_make(&config, &choices, &plan));
	x->control.batch = take_batch;
	x->control.progress = take_progress;
	x->control.ctx = x;
	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	s = sl_execute(w, &e);
	assert_true(x->control.batch == take_batch && x->control.progress == take_progress);
	assert_ptr_equal(x->control.ctx, x);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

/* In memory and in a directory. */
TEST(every_end_has_its_message_and_results)
{
	/*
	 * A stopped run has the batches before its stop; it has so many that the threads which
	 * compute them cannot have finished before the callback of batch 5 runs. The time limit
	 * counts from the start of the run: if all of it has passed, the run stops soon instead of
	 * never. A failure of the caller is that of the run. The results come before a missed
	 * check.
	 */
	static const struct {
		const char *set;
		uint64_t fail_at, stop_at;
		double seconds;
		enum sl_status status;
		const char *message;
		int results;
		bool stopped;
		uint64_t least, most; /* batches */
	} rows[] = {
		{"check={transmitted: 0.1}", 0, 0, 0, SL_CHECK_FAILED, "check.transmitted", 1,
			false, BATCHES, BATCHES},
		{"stop=rel_error(transmitted) < 3 %", 0, 0, 0, SL_OK, "", 1, false, 2, BATCHES - 1},
		{"run.particles=4e6", 0, 5, 0, SL_STOPPED, "signal", 1, true, 6, 40000 - 1},
		{"run={particles: 1e9, batch: 1e5, stop_before: 60 s}", 0, 0, 3600, SL_STOPPED,
			"stop_before", 1, true, 0, 999},
		{"run.stop_before=3600 s", 0, 0, 1000, SL_OK, "", 1, false, BATCHES, BATCHES},
		{"run.name=t", 3, 0, 0, SL_HOST_MEMORY, "no memory for batch 3", 0, false, 3, 3},
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t k = i / 2;
		struct execution x = {.in_memory = i % 2 != 0,
			.fail_at = rows[k].fail_at,
			.stop_at = rows[k].stop_at,
			.seconds = rows[k].seconds};
		enum sl_status s = execute(&x, rows[k].set);

		if (s != rows[k].status || !strstr(sl_last_error(), rows[k].message) ||
			x.results != rows[k].results || x.stopped != rows[k].stopped ||
			x.batches < rows[k].least || x.batches > rows[k].most ||
			(x.results && x.batches != x.lines))
			fail_msg("%s, %s: %s, %llu batches: %s", rows[k].set,
				x.in_memory ? "in memory" : "directory", sl_status_name(s),
				(unsigned long long)x.batches, sl_last_error());
		if (rows[k].seconds == 1000) /* the rest of the limit is left from now on */
			assert_true(x.control.stop_before > 0 && x.control.stop_before <= 2600);
	}
}
