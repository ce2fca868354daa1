/*
 * compare_wrong_backends.c - wrong backends: sl_compare finds each error, reports where it is, and
 * runs the other rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/reader/read_config.h"
#include "pipeline/compare/cases/case_run.h"
#include "pipeline/compare/compare.h"
#include "primitives/emulator/settings.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "stages/formats/formats.h"

/*
 * One thread, so that backends are called in the order of the batches: four of 400 particles and
 * one of 100. A comparison computes all batches.
 */
static const char text[] =
	"run: {name: t, seed: 7, particles: 1700, batch: 400, threads: 1, slots: 1}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: []\n"
	"stop: {when: rel_error(transmitted) < 0.9, min_batches: 2}\n";
enum { BATCHES = 5, WRONG_BATCH = 2 };

static struct sl_comparison comparison;
static struct sl_comparison
	in_rounds; /* the same plan before cases were removed, those with rounds included */

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	folder_write(&folder, "c.yaml", text, strlen(text));
}

/* --- wrong backends --------------------------------------------------------------------------- */

/* Copies words between the memory space of a job and the host. */
static enum sl_status copy_to_host(
	const struct sl_exec *x, void *to, const void *from, size_t bytes)
{
	if (x->space == SL_HOST) {
		memcpy(to, from, bytes);
		return SL_OK;
	}
	SL_TRY(sl_copy(to, from, bytes, x->stream));
	return sl_stream_wait(x->stream);
}

static enum sl_status copy_to_exec(
	const struct sl_exec *x, void *to, const void *from, size_t bytes)
{
	return copy_to_host(x, to, from, bytes);
}

static enum sl_status compact_correctly(struct sl_exec *x, const struct sl_compact_job *job)
{
	return (x->space == SL_HOST ? &sl_compact_cpu : &sl_compact_naive_emulated)
	        ->compact(x, job);
}

static enum sl_status drop_last_survivor(struct sl_exec *x, const struct sl_compact_job *job)
{
	uint32_t n;

	SL_TRY(compact_correctly(x, job));
	SL_TRY(copy_to_host(x, &n, job->n_out, sizeof(n)));
	n--;
	return copy_to_exec(x, job->n_out, &n, sizeof(n));
}

/* Swaps the fourth and fifth survivors. */
static enum sl_status swap_two_survivors(struct sl_exec *x, const struct sl_compact_job *job)
{
	uint32_t *at = job->out + 3, word[2], swapped[2];

	SL_TRY(compact_correctly(x, job));
	SL_TRY(copy_to_host(x, word, at, sizeof(word)));
	swapped[0] = word[1];
	swapped[1] = word[0];
	return copy_to_exec(x, at, swapped, sizeof(swapped));
}

static unsigned calls;

static enum sl_status swap_in_one_batch(struct sl_exec *x, const struct sl_compact_job *job)
{
	return calls++ % BATCHES == WRONG_BATCH ? swap_two_survivors(x, job)
	                                        : compact_correctly(x, job);
}

/* Changes the tally, which is in the same struct as the number of survivors. */
static enum sl_status count_steps_wrong(struct sl_exec *x, const struct sl_compact_job *job)
{
	char *count = (char *)job->n_out;
	uint64_t *steps =
		x->space == SL_HOST
			? &((struct sl_batch *)(void *)(count -
							offsetof(struct sl_batch, n_survivors)))
				   ->tally.steps
			: &((struct sl_batch_counters *)(void *)(count -
								 offsetof(struct sl_batch_counters,
									 n_survivors)))
				   ->tally.steps;
	uint64_t n;

	SL_TRY(compact_correctly(x, job));
	SL_TRY(copy_to_host(x, &n, steps, sizeof(n)));
	n++;
	return copy_to_exec(x, steps, &n, sizeof(n));
}

static enum sl_status fail_compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	(void)x;
	(void)job;
	return sl_fail(SL_DEVICE_FAILED, "it gives up");
}

/* --- comparisons with a wrong backend --------------------------------------------------------- */

/*
 * Keeps the reference and the cases with rounds, or those without. Without rounds a backend is
 * called once per batch.
 */
static void keep_cases_by_schedule(bool rounds)
{
	size_t kept = 1; /* the reference */

	for (size_t i = 1; i < comparison.n; i++)
		if ((comparison.cases[i].schedule.steps > 0) == rounds)
			comparison.cases[kept++] = comparison.cases[i];
	comparison.n = kept;
}

static void plan_comparison(const char *device, const char *more)
{
	static struct sl_config config;
	static struct sl_choices choices;
	char set[64], to[600];
	const char *sets[] = {set, to, more};
	struct sl_reader *reader = NULL;

	snprintf(set, sizeof(set), "run.device=%s", device);
	snprintf(to, sizeof(to), "output.to=%s", folder_path(&folder, "out"));
	assert_ok(sl_config_open(folder_path(&folder, "c.yaml"), sets, 3, &config, &reader));
	assert_ok(sl_resolve(&config, reader, &choices));
	sl_config_close(reader);
	assert_ok(sl_compare_plan(&config, &choices, false, &comparison));
	in_rounds = comparison;
	keep_cases_by_schedule(false);
	assert_true(comparison.n >= 2);
}

/* Inserts a case with the backend bad as the second case, after the reference, and returns it. */
static struct sl_comparison_case *insert_case(const struct sl_backend *bad)
{
	struct sl_comparison_case *row = &comparison.cases[1];
	struct sl_comparison_case *original =
		&comparison.cases[bad->space == SL_HOST ? 0 : comparison.n - 1];
	struct sl_comparison_case wrong = *original;

	assert_true(comparison.n < SL_CASES_MAX);
	wrong.mode = SL_MODE_staged;
	wrong.compact = (struct sl_choice){.backend = bad};
	wrong.scan = (struct sl_choice){0};
	memmove(row + 1, row, (comparison.n++ - 1) * sizeof(*row));
	*row = wrong;
	return row;
}

static size_t begun;

static void count_rows(const struct sl_comparison *c, size_t row)
{
	assert_ptr_equal(c, &comparison);
	assert_int_equal(row, begun);
	begun++;
}

/*
 * The case of the wrong backend has this answer and message; all other cases agree with the
 * reference.
 */
static void check_wrong_backend(enum sl_space space,
	enum sl_status (*compact)(struct sl_exec *, const struct sl_compact_job *),
	enum sl_answer answer, enum sl_status status, const char *message)
{
	struct sl_backend bad = space == SL_HOST ? sl_compact_cpu : sl_compact_naive_emulated;
	struct sl_control control = {0};
	struct sl_comparison_case *row;

	bad.name = "bad";
	bad.compact = compact;
	plan_comparison(space == SL_HOST ? "cpu" : "emulated", "run.batch=400");
	assert_int_equal(comparison.n_batches, BATCHES);
	row = insert_case(&bad);
	begun = 0;
	calls = 0;
	assert_fails(sl_compare(&comparison, &control, count_rows), status, message);
	assert_int_equal(begun, comparison.n);
	assert_true(comparison.ended);
	assert_int_equal(row->answer, answer);
	assert_int_equal(row->status, status);
	assert_non_null(strstr(row->message, message));
	assert_non_null(strstr(row->message, "compact bad"));
	for (size_t i = 0; i < comparison.n; i++)
		if (&comparison.cases[i] != row) {
			assert_int_equal(comparison.cases[i].answer, SL_ANSWER_SAME);
			assert_string_equal(comparison.cases[i].message, "");
		}
	assert_int_equal(folder_count(&folder), 1);
	sl_plan_free(comparison.plan);
}

TEST(lost_survivors_are_reported)
{
	check_wrong_backend(SL_HOST, drop_last_survivor, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 0, survivors: ");
	/* on a device the stage reports the error before the comparison does */
	check_wrong_backend(SL_DEVICE, drop_last_survivor, SL_ANSWER_FAILED, SL_CHECK_FAILED,
		"batch 0: stage compact: ");
}

static enum sl_status sort_nothing(struct sl_exec *x, const struct sl_sort_job *job)
{
	(void)x;
	(void)job;
	return SL_OK;
}

/* In fused mode the sort is the only backend that can be wrong. */
TEST(wrong_sort_of_fused_mode_is_reported)
{
	struct sl_backend bad = sl_sort_naive_emulated;
	struct sl_control control = {0};
	struct sl_comparison_case *row;

	bad.name = "bad";
	bad.sort = sort_nothing;
	plan_comparison("emulated", "key=[w:8]");
	row = &comparison.cases[comparison.n - 1];
	assert_int_equal(row->mode, SL_MODE_fused);
	row->sort.backend = &bad;
	begun = 0;
	assert_fails(sl_compare(&comparison, &control, count_rows), SL_CHECK_FAILED,
		"batch 0, column id, index ");
	assert_int_equal(row->answer, SL_ANSWER_DIFFERS);
	assert_non_null(strstr(row->message, "compact fused, sort bad"));
	for (size_t i = 0; i + 1 < comparison.n; i++)
		assert_int_equal(comparison.cases[i].answer, SL_ANSWER_SAME);
	sl_plan_free(comparison.plan);
}

TEST(swapped_survivors_are_reported)
{
	check_wrong_backend(SL_HOST, swap_two_survivors, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 0, column id, index 3");
	check_wrong_backend(SL_DEVICE, swap_two_survivors, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 0, column id, index 3");
}

/* A run without files only digests its columns; a comparison reads them to find the difference. */
TEST(columns_are_compared_without_a_format)
{
	struct sl_backend bad = sl_compact_cpu;
	struct sl_control control = {0};

	bad.name = "bad";
	bad.compact = swap_two_survivors;
	plan_comparison("cpu", "output.format=none");
	(void)insert_case(&bad);
	begun = calls = 0;
	assert_fails(sl_compare(&comparison, &control, count_rows), SL_CHECK_FAILED,
		"batch 0, column id, index 3");
	sl_plan_free(comparison.plan);
}

TEST(error_in_one_batch_is_reported)
{
	check_wrong_backend(SL_HOST, swap_in_one_batch, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 2, column id, index 3");
	check_wrong_backend(SL_DEVICE, swap_in_one_batch, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 2, column id, index 3");
}

TEST(wrong_tally_is_reported)
{
	check_wrong_backend(SL_HOST, count_steps_wrong, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 0, the tally, steps: ");
	check_wrong_backend(SL_DEVICE, count_steps_wrong, SL_ANSWER_DIFFERS, SL_CHECK_FAILED,
		"batch 0, the tally, steps: ");
}

/* Swaps the first two items of the first column. */
static enum sl_status swap_active_particles(struct sl_exec *x, const struct sl_compact_job *job)
{
	float *at, item[2], swapped[2];

	SL_TRY(compact_correctly(x, job));
	if (job->n_columns == 0)
		return SL_OK; /* a job without columns selects survivors */
	at = (float *)job->column->to;
	SL_TRY(copy_to_host(x, item, at, sizeof(item)));
	swapped[0] = item[1];
	swapped[1] = item[0];
	return copy_to_exec(x, at, swapped, sizeof(swapped));
}

/* Wrong compaction of the columns of the active set changes the later histories. */
static void check_wrong_rounds(enum sl_space space, const struct sl_backend *good)
{
	struct sl_control control = {0};
	struct sl_backend bad = *good;
	size_t i = 1;

	bad.name = "bad";
	bad.compact = swap_active_particles;
	plan_comparison(space == SL_HOST ? "cpu" : "emulated", "run.batch=400");
	comparison = in_rounds;
	keep_cases_by_schedule(true);
	while (comparison.cases[i].on_device != (space == SL_DEVICE) ||
		comparison.cases[i].schedule.compact.kind != SL_EVERY)
		assert_true(++i < comparison.n);
	comparison.cases[1] = comparison.cases[i];
	comparison.cases[1].compact = (struct sl_choice){.backend = &bad};
	comparison.n = 2;
	assert_fails(sl_compare(&comparison, &control, NULL), SL_CHECK_FAILED, "column x, index ");
	assert_int_equal(comparison.cases[1].answer, SL_ANSWER_DIFFERS);
	assert_non_null(strstr(comparison.cases[1].message, "compact bad"));
	assert_non_null(strstr(comparison.cases[1].message, "rounds: every"));
	sl_plan_free(comparison.plan);
}

TEST(swapped_active_particles_are_reported)
{
	check_wrong_rounds(SL_HOST, &sl_compact_cpu);
	check_wrong_rounds(SL_DEVICE, &sl_compact_naive_emulated);
}

TEST(failing_backend_is_reported)
{
	check_wrong_backend(
		SL_HOST, fail_compact, SL_ANSWER_FAILED, SL_DEVICE_FAILED, "it gives up");
	check_wrong_backend(
		SL_DEVICE, fail_compact, SL_ANSWER_FAILED, SL_DEVICE_FAILED, "it gives up");
}

/* If the reference fails, there is nothing to compare with. */
TEST(failing_reference_is_reported)
{
	struct sl_control control = {0};
	struct sl_backend bad = sl_compact_cpu;

	bad.compact = fail_compact;
	plan_comparison("emulated", "run.batch=400");
	comparison.cases[0].compact.backend = &bad;
	assert_fails(sl_compare(&comparison, &control, NULL), SL_DEVICE_FAILED, "it gives up");
	assert_false(comparison.ended);
	assert_int_equal(comparison.cases[1].answer, SL_ANSWER_NONE);
	assert_int_equal(folder_count(&folder), 1);
	sl_plan_free(comparison.plan);
}

/* A row that needs more memory than the device has, between two rows that fit. */
TEST(rows_without_memory_are_skipped)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings little = was;
	struct sl_control control = {0};

	little.memory_bytes = 4096;
	sl_emulator_set_settings(&little);
	plan_comparison("emulated", "run.batch=400");
	comparison.n = 3;
	comparison.cases[2] = comparison.cases[1];
	comparison.cases[1].on_device = true;
	comparison.cases[1].compact.backend = &sl_compact_naive_emulated;
	assert_fails(sl_compare(&comparison, &control, NULL), SL_DEVICE_MEMORY, "run.batch");
	assert_true(comparison.ended);
	assert_int_equal(comparison.cases[1].answer, SL_ANSWER_FAILED);
	assert_int_equal(comparison.cases[2].answer, SL_ANSWER_SAME);
	sl_emulator_set_settings(&was);
	sl_plan_free(comparison.plan);
}

/* After a stop request no row has a result, and no file remains. */
TEST(interrupt_ends_comparison)
{
	/* a run of one batch succeeds before it reads the stop request */
	static const char *const sizes[] = {"run.batch=400", "run.batch=1700"};

	for (int k = 0; k < 2; k++) {
		struct sl_control control = {0};

		plan_comparison("emulated", sizes[k]);
		atomic_store(&control.stop, 1);
		assert_fails(
			sl_compare(&comparison, &control, NULL), SL_STOPPED, "keeps no results");
		assert_false(comparison.ended);
		for (size_t i = 1; i < comparison.n; i++)
			assert_int_equal(comparison.cases[i].answer, SL_ANSWER_NONE);
		assert_int_equal(folder_count(&folder), 1);
		sl_plan_free(comparison.plan);
	}
}

/* Quartiles are interpolated between the two nearest values. */
TEST(median_and_quartiles_are_exact)
{
	double five[] = {9, 1, 5, 7, 3}, four[] = {40, 10, 20, 30}, one[] = {6};
	struct sl_spread s = sl_spread_of(five, 5);

	assert_int_equal(s.n, 5);
	assert_float_equal(s.least, 1, 0);
	assert_float_equal(s.lower, 3, 0);
	assert_float_equal(s.median, 5, 0);
	assert_float_equal(s.upper, 7, 0);
	assert_float_equal(s.most, 9, 0);
	s = sl_spread_of(four, 4);
	assert_float_equal(s.lower, 17.5, 0);
	assert_float_equal(s.median, 25, 0);
	assert_float_equal(s.upper, 32.5, 0);
	s = sl_spread_of(one, 1);
	assert_float_equal(s.lower, 6, 0);
	assert_float_equal(s.median, 6, 0);
	assert_float_equal(s.most, 6, 0);
	assert_int_equal(sl_spread_of(one, 0).n, 0);
}
