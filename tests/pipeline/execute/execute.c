/*
 * execute.c - runs in memory and in a directory: the same sums, batches in order, every end of a run, and
 * what the caller's control is afterwards.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/execute/execute.h"
#include "primitives/base/clock.h"
#include "tests/support/program/fixture.h"
#include "tests/support/basic/check.h"

static const char slab[] =
	"run: {name: t, seed: 7, particles: 4000, batch: 100, threads: 2, device: cpu}\n"
	"model: {slab: {mu_a: 10 /cm, mu_s: 90 /cm, thickness: 0.02 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"tallies: [z:10:0 cm..0.02 cm:absorbed]\n"
	"output: {format: csv, columns: [id, x, w]}\n";

static const char disk[] =
	"run: {name: t, seed: 7, particles: 3000, batch: 1000, threads: 2, device: cpu}\n"
	"model: {source_detector: {source: {type: point}, detector: {type: rectangle, distance: 1 cm, "
	"width: 4 cm, height: 4 cm, pixels: [8, 6]}}}\n"
	"keep: hit\n"
	"output: {format: csv, columns: [id, pixel, weight], image: true}\n";

enum { SETS_MAX = 4, BATCHES = 40 };

/* A run and what its callbacks saw. */
struct execution {
	const char *text; /* of the configuration */
	const char *set[SETS_MAX];
	bool in_memory;
	enum sl_start start;
	uint64_t age_ns;      /* of the run before it starts */
	uint64_t fail_at;     /* the batch at which the callback fails; 0: none */
	uint64_t stop_at;     /* the batch at which the callback sets control.stop; 0: none */
	int results;          /* calls of results() */
	bool stopped;         /* the argument of results() */
	uint64_t batches;     /* calls of batch() */
	uint64_t survivors;   /* of these batches */
	unsigned progress;    /* calls of progress() */
	struct sl_manifest m; /* a copy of the lines */
	uint64_t *sum;        /* a copy of the histograms */
	size_t words;         /* of sum */
	double *image;        /* a copy of the values */
	size_t pixels;        /* of image */
	struct sl_control control;
};

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes + 1);

	assert_non_null(to);
	if (bytes > 0)
		memcpy(to, from, bytes);
	return to;
}

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
	x->survivors += slot->batch.n_survivors;
	for (uint32_t k = 0; x->in_memory && k < slot->batch.table.n_columns; k++)
		assert_non_null(slot->batch.table.column[k].data);
	return SL_OK;
}

static void take_progress(void *ctx, const struct sl_progress *p)
{
	((struct execution *)ctx)->progress += p->particles == 4000;
}

static void take_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	struct execution *x = (struct execution *)ctx;

	(void)session;
	(void)sl_fail(SL_INTERNAL, "a message of the callback"); /* must not hide that of the run */
	x->results++;
	x->stopped = stopped;
	x->m.n = m->n;
	x->m.line = (struct sl_manifest_line *)copy(m->line, m->n * sizeof(*m->line));
	x->words = sl_histogram_words(&w->recipe.bins);
	x->sum = (uint64_t *)copy(w->histograms.sum, x->words * sizeof(*x->sum));
	x->pixels = stopped ? 0 : (size_t)w->image_sum.image.width * w->image_sum.image.height;
	x->image = (double *)copy(w->image_sum.value, x->pixels * sizeof(*x->image));
}

/* --- a run ------------------------------------------------------------------------------------ */

static struct sl_plan *plan_of(const struct execution *x)
{
	static struct sl_config config;
	static struct sl_choices choices;
	struct sl_reader *reader;
	struct sl_plan *plan;
	char to[300];
	const char *set[SETS_MAX + 1];
	size_t n = 0;

	for (; n < SETS_MAX && x->set[n]; n++)
		set[n] = x->set[n];
	snprintf(to, sizeof(to), "output.to=%s", folder_path(&folder, "run"));
	set[n++] = to;
	assert_ok(sl_config_open_text("c", x->text, strlen(x->text), set, n, &config, &reader));
	if (sl_resolve(&config, reader, &choices) != SL_OK)
		fail_msg("%s", sl_config_report(reader));
	sl_config_close(reader);
	if (x->in_memory)
		(void)sl_execute_choose_memory(&choices, false);
	assert_ok(sl_plan_make(&config, &choices, &plan));
	return plan;
}

/* Executes it. The caller calls forget(). */
static enum sl_status execute(struct execution *x)
{
	struct sl_plan *plan = plan_of(x);
	const struct sl_execution e = {.in_memory = x->in_memory,
		.start = x->start,
		.started_ns = sl_now_ns() - x->age_ns,
		.control = &x->control,
		.results = take_results,
		.ctx = x};
	struct sl_workspace *w;
	enum sl_status s;

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

static void forget(struct execution *x)
{
	free(x->m.line);
	free(x->sum);
	free(x->image);
	memset(x, 0, sizeof(*x));
}

/* --- complete runs ---------------------------------------------------------------------------- */

/* Everything of a line but its files. */
static void expect_same_line(const struct sl_manifest_line *a, const struct sl_manifest_line *b)
{
	assert_int_equal(a->batch, b->batch);
	assert_int_equal(a->first_id, b->first_id);
	assert_int_equal(a->generated, b->generated);
	assert_int_equal(a->survivors, b->survivors);
	assert_int_equal(a->columns, b->columns);
	assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
	assert_memory_equal(a->digest, b->digest, sizeof(a->digest));
}

static void expect_same_results(const struct execution *a, const struct execution *b)
{
	assert_int_equal(a->results, 1);
	assert_int_equal(b->results, 1);
	assert_int_equal(a->m.n, b->m.n);
	for (size_t i = 0; i < a->m.n; i++)
		expect_same_line(&a->m.line[i], &b->m.line[i]);
	assert_int_equal(a->words, b->words);
	assert_memory_equal(a->sum, b->sum, a->words * sizeof(*a->sum));
	assert_int_equal(a->pixels, b->pixels);
	assert_memory_equal(a->image, b->image, a->pixels * sizeof(*a->image));
}

/* 40 batches are more than the lines that a run in memory begins with. */
TEST(a_run_in_memory_has_the_results_of_a_directory)
{
	struct execution on_disk = {.text = slab}, in_memory = {.text = slab, .in_memory = true};

	assert_ok(execute(&in_memory));
	assert_false(folder_has(&folder, "run"));
	assert_ok(execute(&on_disk));
	assert_true(folder_has(&folder, "run/run.json"));
	assert_int_equal(in_memory.m.n, BATCHES);
	assert_true(in_memory.words >= 12);
	assert_int_equal(in_memory.batches, BATCHES);
	assert_true(in_memory.survivors > 1000);
	assert_true(in_memory.progress > 0);
	assert_string_equal(in_memory.m.line[0].file, "");
	assert_true(in_memory.m.line[0].file_bytes == 0 && on_disk.m.line[0].file_bytes > 0);
	expect_same_results(&in_memory, &on_disk);
	forget(&in_memory);
	forget(&on_disk);
}

/* Without files, a run in a directory only digests the columns; a caller reads them all. */
TEST(a_run_in_memory_has_all_columns_without_a_format)
{
	struct execution on_disk = {.text = slab, .set = {"output={format: none}"}};
	struct execution in_memory = on_disk;

	in_memory.in_memory = true;
	assert_ok(execute(&in_memory));
	assert_ok(execute(&on_disk));
	assert_true(in_memory.m.line[0].columns != 0);
	expect_same_results(&in_memory, &on_disk);
	forget(&in_memory);
	forget(&on_disk);
}

TEST(an_image_has_the_same_values)
{
	struct execution on_disk = {.text = disk}, in_memory = {.text = disk, .in_memory = true};
	double sum = 0;

	assert_ok(execute(&in_memory));
	assert_ok(execute(&on_disk));
	assert_int_equal(in_memory.pixels, 48);
	for (size_t i = 0; i < in_memory.pixels; i++)
		sum += in_memory.image[i];
	assert_true(sum > 0);
	expect_same_results(&in_memory, &on_disk);
	forget(&in_memory);
	forget(&on_disk);
}

/* The results come before the failure, and have all batches. */
TEST(a_check_that_is_missed_fails_after_the_results)
{
	for (int in_memory = 0; in_memory < 2; in_memory++) {
		struct execution x = {.text = slab,
			.in_memory = in_memory != 0,
			.set = {"check={transmitted: 0.1}"}};

		assert_fails(execute(&x), SL_CHECK_FAILED, "check.transmitted");
		assert_int_equal(x.results, 1);
		assert_false(x.stopped);
		assert_int_equal(x.m.n, BATCHES);
		forget(&x);
	}
}

TEST(a_stop_rule_ends_a_complete_run)
{
	struct execution x = {
		.text = slab, .in_memory = true, .set = {"stop=rel_error(transmitted) < 3 %"}};

	assert_ok(execute(&x));
	assert_int_equal(x.results, 1);
	assert_false(x.stopped);
	assert_true(x.m.n > 1 && x.m.n < BATCHES);
	assert_int_equal(x.batches, x.m.n);
	forget(&x);
}

/* --- ends ------------------------------------------------------------------------------------- */

/*
 * A stopped run has the batches before its stop, and the message of the stop. It has so many batches that
 * the threads which compute them cannot have finished before the callback of batch 5 runs.
 */
TEST(a_stop_leaves_the_batches_before_it)
{
	enum { MANY = 40000 };

	for (int in_memory = 1; in_memory >= 0; in_memory--) {
		struct execution x = {.text = slab,
			.in_memory = in_memory != 0,
			.stop_at = 5,
			.set = {"run.particles=4e6"}};

		assert_fails(execute(&x), SL_STOPPED, "signal");
		assert_int_equal(x.results, 1);
		assert_true(x.stopped);
		assert_true(x.m.n >= 6 && x.m.n < MANY);
		assert_int_equal(x.batches, x.m.n);
		assert_int_equal(folder_has(&folder, "run/run.json"), !in_memory);
		forget(&x);
	}
}

/* The limit counts from started_ns: if all of it has passed, the run stops soon instead of never. */
TEST(a_time_limit_that_has_passed_stops_a_run)
{
	for (int in_memory = 0; in_memory < 2; in_memory++) {
		struct execution x = {.text = slab,
			.in_memory = in_memory != 0,
			.age_ns = 3600000000000u,
			.set = {"run.stop_before=60 s", "run.particles=1e9", "run.batch=1e5"}};

		assert_fails(execute(&x), SL_STOPPED, "stop_before");
		assert_int_equal(x.results, 1);
		assert_true(x.stopped);
		assert_true(x.m.n < 1000);
		forget(&x);
	}
}

/* The limit of the run, 3600 s after its start, is the rest of them from now on. */
TEST(a_time_limit_is_given_to_the_run_in_seconds)
{
	struct execution x = {.text = slab,
		.in_memory = true,
		.age_ns = 1000000000000u,
		.set = {"run.stop_before=3600 s"}};

	assert_ok(execute(&x));
	assert_true(x.control.stop_before > 0 && x.control.stop_before <= 2600);
	forget(&x);
}

/* A failure of the caller is that of the run, which has no results. */
TEST(a_batch_that_the_caller_cannot_take_fails_the_run)
{
	struct execution x = {.text = slab, .in_memory = true, .fail_at = 3};

	assert_fails(execute(&x), SL_HOST_MEMORY, "no memory for batch 3");
	assert_int_equal(x.results, 0);
	assert_int_equal(x.batches, 3);
	forget(&x);
}

/* --- directories ------------------------------------------------------------------------------ */

TEST(an_existing_run_is_refused_resumed_or_replaced)
{
	struct execution first = {.text = slab, .stop_at = 5}, again = {.text = slab};
	struct execution resumed = {.text = slab, .start = SL_START_RESUME};
	struct execution replaced = {.text = slab, .start = SL_START_FORCE};

	assert_fails(execute(&first), SL_STOPPED, "");
	assert_fails(execute(&again), SL_OUTPUT_IN_USE, "");
	assert_int_equal(again.results, 0);
	resumed.batches = first.m.n;
	assert_ok(execute(&resumed));
	assert_int_equal(resumed.batches, BATCHES);
	assert_ok(execute(&replaced));
	assert_int_equal(replaced.batches, BATCHES);
	expect_same_results(&resumed, &replaced);
	forget(&first);
	forget(&again);
	forget(&resumed);
	forget(&replaced);
}

BEFORE_EACH()
{
}
