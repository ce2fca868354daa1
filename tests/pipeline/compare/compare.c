/*
 * compare.c - wrong backends: sl_compare finds each error, says where it is, and runs the other
 * rows; it ends without results and without files after an interrupt and after any lack of memory.
 * Its output, rows without device memory, and a reference that fails: tests/text/compare.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/compare/compare.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/*
 * One thread, so that backends are called in the order of the batches: four of 100 particles and
 * one of 10. A comparison computes all batches.
 */
static const char text[] =
	"run: {name: t, seed: 7, particles: 410, batch: 100, threads: 1, slots: 1}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: []\n"
	"stop: {when: rel_error(transmitted) < 0.9, min_batches: 2}\n";
enum { BATCHES = 5, WRONG_BATCH = 2 };

static struct sl_comparison comparison;

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	write_text(&folder, "c.yaml", text);
	folder_remember();
}

/* --- wrong backends --------------------------------------------------------------------------- */

/* Copies between the memory space of a job and the host. */
static enum sl_status copy(const struct sl_exec *x, void *to, const void *from, size_t bytes)
{
	if (x->space == SL_HOST) {
		memcpy(to, from, bytes);
		return SL_OK;
	}
	SL_TRY(sl_copy(to, from, bytes, x->stream));
	return sl_stream_wait(x->stream);
}

static enum sl_status add(const struct sl_exec *x, void *at, size_t bytes, int more)
{
	uint64_t n = 0;

	SL_TRY(copy(x, &n, at, bytes));
	n += (uint64_t)more;
	return copy(x, at, &n, bytes);
}

static enum sl_status swap(const struct sl_exec *x, void *words)
{
	uint32_t word[2], swapped[2];

	SL_TRY(copy(x, word, words, sizeof(word)));
	swapped[0] = word[1];
	swapped[1] = word[0];
	return copy(x, words, swapped, sizeof(swapped));
}

/*
 * The last survivor; the fourth and fifth one, in all batches or one; the tally; two active
 * particles.
 */
static enum wrong { LOSE, SWAP, SWAP_IN_ONE_BATCH, COUNT_STEPS, SWAP_ACTIVE, FAIL, SORT } wrong;
static unsigned calls;

static enum sl_status compact_wrongly(struct sl_exec *x, const struct sl_compact_job *job)
{
	/* the tally is in the same struct as the number of survivors */
	const bool host = x->space == SL_HOST;
	const size_t n_at = host ? offsetof(struct sl_batch, n_survivors)
	                         : offsetof(struct sl_batch_counters, n_survivors),
		     steps_at = host ? offsetof(struct sl_batch, tally.steps)
	                             : offsetof(struct sl_batch_counters, tally.steps);

	SL_TRY((host ? &sl_compact_cpu : &sl_compact_naive_emulated)->compact(x, job));
	if (wrong == LOSE)
		return add(x, job->n_out, sizeof(*job->n_out), -1);
	if (wrong == COUNT_STEPS)
		return add(x, (char *)job->n_out - n_at + steps_at, sizeof(uint64_t), 1);
	if (wrong == SWAP_ACTIVE) /* a job without columns selects survivors */
		return job->n_columns ? swap(x, job->column->to) : SL_OK;
	return wrong == SWAP || calls++ % BATCHES == WRONG_BATCH ? swap(x, job->out + 3) : SL_OK;
}

static enum sl_status fail_compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	(void)x;
	(void)job;
	return sl_fail(SL_DEVICE_FAILED, "it gives up");
}

static enum sl_status sort_nothing(struct sl_exec *x, const struct sl_sort_job *job)
{
	(void)x;
	(void)job;
	return SL_OK;
}

/* --- comparisons with a wrong backend --------------------------------------------------------- */

enum place { HOST, DEVICE, FUSED, HOST_ROUNDS, DEVICE_ROUNDS };

struct wrong_backend {
	enum wrong wrong;
	enum place place;
	const char *set;
	enum sl_answer answer;
	enum sl_status status;
	const char *message, *case_of_message;
};

/* So many that a swap of two active particles changes a survivor. */
#define LARGE   "run={name: t, seed: 7, particles: 1700, batch: 400, threads: 1, slots: 1}"
#define DIFFERS SL_ANSWER_DIFFERS, SL_CHECK_FAILED
#define FAILS   SL_ANSWER_FAILED, SL_DEVICE_FAILED

/*
 * On a device the stage reports lost survivors before the comparison does. Without files columns
 * are only digested.
 */
static const struct wrong_backend wrong_backends[] = {
	{LOSE, HOST, "key=[]", DIFFERS, "batch 0, survivors: ", "bad"},
	{LOSE, DEVICE, "key=[]", SL_ANSWER_FAILED, SL_CHECK_FAILED,
		"batch 0: stage compact: ", "bad"},
	{SWAP, HOST, "key=[]", DIFFERS, "batch 0, column id, index 3", "bad"},
	{SWAP, DEVICE, "key=[]", DIFFERS, "batch 0, column id, index 3", "bad"},
	{SWAP, HOST, "output.format=none", DIFFERS, "batch 0, column id, index 3", "bad"},
	{SWAP_IN_ONE_BATCH, HOST, "key=[]", DIFFERS, "batch 2, column id, index 3", "bad"},
	{SWAP_IN_ONE_BATCH, DEVICE, "key=[]", DIFFERS, "batch 2, column id, index 3", "bad"},
	{COUNT_STEPS, HOST, "key=[]", DIFFERS, "batch 0, the tally, steps: ", "bad"},
	{COUNT_STEPS, DEVICE, "key=[]", DIFFERS, "batch 0, the tally, steps: ", "bad"},
	{SORT, FUSED, "key=[w:8]", DIFFERS, "batch 0, column id, index ",
		"compact fused, sort bad"},
	{SWAP_ACTIVE, HOST_ROUNDS, LARGE, DIFFERS, "column x, index ", "rounds: 4 steps"},
	{SWAP_ACTIVE, DEVICE_ROUNDS, LARGE, DIFFERS, "column x, index ", "rounds: 4 steps"},
	{FAIL, HOST, "key=[]", FAILS, "it gives up", "bad"},
	{FAIL, DEVICE, "key=[]", FAILS, "it gives up", "bad"},
};

static void plan_comparison(const char *device, const char *more, bool full)
{
	char set[64], to[600];

	snprintf(set, sizeof(set), "run.device=%s", device);
	snprintf(to, sizeof(to), "output.to=%s", folder_path(&folder, "out"));
	resolve_good_sets(text, SETS(more, set, to));
	assert_ok(sl_compare_plan(&config, &choices, full, &comparison));
	assert_true(comparison.n >= 2);
}

static bool is_at(const struct sl_comparison_case *c, enum place p)
{
	const bool on_device = p == DEVICE || p == FUSED || p == DEVICE_ROUNDS;
	const bool rounds = p == HOST_ROUNDS || p == DEVICE_ROUNDS;

	return c->on_device == on_device && (c->mode == SL_MODE_fused) == (p == FUSED) &&
	       c->schedule.steps == (rounds ? 4 : 0);
}

/*
 * Keeps the reference, a case at this place as the second one, and after it the same once more,
 * which stays right.
 */
static struct sl_comparison_case *keep_cases(enum place p)
{
	size_t i = 0;

	while (!is_at(&comparison.cases[i], p))
		assert_true(++i < comparison.n);
	comparison.cases[1] = comparison.cases[2] = comparison.cases[i];
	comparison.n = 3;
	return &comparison.cases[1];
}

static size_t begun;

static void count_rows(const struct sl_comparison *c, size_t row)
{
	assert_ptr_equal(c, &comparison);
	assert_int_equal(row, begun);
	begun++;
}

static void compare_wrong(const struct wrong_backend *t)
{
	const bool on_host = t->place == HOST || t->place == HOST_ROUNDS;
	struct sl_backend bad = t->wrong == SORT ? sl_sort_naive_emulated
	                        : on_host        ? sl_compact_cpu
	                                         : sl_compact_naive_emulated;
	struct sl_control control = {0};
	struct sl_comparison_case *row;
	enum sl_status s;

	plan_comparison(on_host ? "cpu" : "emulated", t->set, false);
	assert_int_equal(comparison.n_batches, BATCHES);
	row = keep_cases(t->place);
	bad.name = "bad";
	bad.sort = sort_nothing;
	bad.compact = t->wrong == FAIL ? fail_compact : compact_wrongly;
	*(t->wrong == SORT ? &row->sort : &row->compact) = (struct sl_choice){.backend = &bad};
	if (t->wrong != SORT)
		row->scan = (struct sl_choice){0};
	wrong = t->wrong;
	begun = calls = 0;
	s = sl_compare(&comparison, &control, count_rows);
	if (s != t->status || row->status != s || row->answer != t->answer ||
		!strstr(sl_last_error(), t->message) || !strstr(row->message, t->message) ||
		!strstr(row->message, t->case_of_message))
		fail_msg("%s: answer %d: %s", sl_status_name(s), row->answer, row->message);
	if (!comparison.ended || begun != 3 || comparison.cases[0].answer != SL_ANSWER_SAME ||
		comparison.cases[2].answer != SL_ANSWER_SAME || *comparison.cases[2].message)
		fail_msg("the other rows: %s", comparison.cases[2].message);
	expect_untouched();
	sl_plan_free(comparison.plan);
}

TEST(wrong_backends_are_reported)
{
	for (size_t i = 0; i < sizeof(wrong_backends) / sizeof(wrong_backends[0]); i++) {
		print_message("row %zu\n", i);
		compare_wrong(&wrong_backends[i]);
	}
}

/* A row that differs decides the result, also after one that failed. */
TEST(a_difference_decides)
{
	struct sl_backend failing = sl_compact_cpu, differing = sl_compact_cpu;
	struct sl_control control = {0};

	failing.compact = fail_compact;
	differing.compact = compact_wrongly;
	wrong = SWAP;
	plan_comparison("cpu", "key=[]", false);
	keep_cases(HOST);
	comparison.cases[1].compact.backend = &failing;
	comparison.cases[2].compact.backend = &differing;
	assert_fails(sl_compare(&comparison, &control, NULL), SL_CHECK_FAILED, "index 3");
	assert_int_equal(comparison.cases[1].status, SL_DEVICE_FAILED);
	sl_plan_free(comparison.plan);
}

/* After a stop request no row has a result, and no file remains. */
TEST(interrupt_ends_comparison)
{
	/* a run of one batch succeeds before it reads the stop request */
	static const char *const sizes[] = {"run.batch=100", "run.batch=410"};

	for (int k = 0; k < 2; k++) {
		struct sl_control control = {0};

		plan_comparison("emulated", sizes[k], false);
		atomic_store(&control.stop, 1);
		assert_fails(
			sl_compare(&comparison, &control, NULL), SL_STOPPED, "keeps no results");
		assert_false(comparison.ended);
		for (size_t i = 1; i < comparison.n; i++)
			assert_int_equal(comparison.cases[i].answer, SL_ANSWER_NONE);
		expect_untouched();
		sl_plan_free(comparison.plan);
	}
}

/*
 * On the emulated device at most the first 20000 particles are compared, unless all are asked for.
 */
TEST(emulated_device_compares_at_most_20000_particles)
{
	static const struct {
		const char *device;
		bool full;
		uint64_t particles;
	} cases[] = {{"emulated", false, 20000}, {"emulated", true, 21000}, {"cpu", false, 21000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plan_comparison(
			cases[i].device, "run={particles: 21000, batch: 21000}", cases[i].full);
		assert_int_equal(comparison.particles, cases[i].particles);
		sl_plan_free(comparison.plan);
	}
}
