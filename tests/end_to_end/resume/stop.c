/*
 * stop.c - runs with a stop rule end at the batch that the rule gives, which the test computes from
 * a run without the rule; the bytes are the same for all numbers of threads and slots, modes and resumes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/program/fixture.h"
#include "tests/support/runs/statistics_check.h"
#include "tests/support/program/program.h"

enum { BATCHES = 60, BATCH = 200 };

static const char text[] = "run: {name: t, seed: 7, particles: 12000, batch: 200, threads: 2, "
			   "device: cpu}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

/* A rule that is met in the middle of the run. */
#define WHEN "rel_error(transmitted) < 1 %"
#define STOP "stop=" WHEN

static struct sl_manifest all; /* of "all", a run without a rule */

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "all", "--quiet"));
	read_manifest(&folder, "all", &all);
	assert_int_equal(all.n, BATCHES);
}

AFTER_TESTS()
{
	sl_manifest_free(&all);
}

/* --- expected end ----------------------------------------------------------------------------- */

/* Number of batches of a run with this rule. */
static size_t expected_batches(enum sl_fate fate, double below, size_t min_batches)
{
	size_t k = min_batches;

	while (k < BATCHES && !(relative_error(&all, k, fate) < below))
		k++;
	return k < BATCHES ? k : BATCHES;
}

/*
 * Checks that the run in out equals the first n batches of "all", and that it reports whether the
 * rule was met.
 */
static void expect_run(const char *out, size_t n, bool met, enum sl_fate fate)
{
	struct sl_manifest m;

	read_manifest(&folder, out, &m);
	assert_int_equal(m.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(m.line[i].batch, i);
		assert_memory_equal(
			&m.line[i].tally, &all.line[i].tally, sizeof(all.line[i].tally));
		assert_memory_equal(
			m.line[i].digest, all.line[i].digest, sizeof(all.line[i].digest));
	}
	sl_manifest_free(&m);
	assert_string_equal(run_json(&folder, out, "state"), "done");
	assert_int_equal(JSON(out, "stop", "met"), met);
	assert_int_equal(JSON(out, "stop", "most_batches"), BATCHES);
	assert_int_equal(JSON(out, "tallies", "particles"), n * BATCH);
	expect_near(JSON(out, "stop", "relative_error"), relative_error(&all, n, fate));
	expect(&folder, SL_OK, "", WORDS("verify", out, "--quiet"));
}

/*
 * Checks that the run in out, started from an empty folder, committed n batches and removed none of
 * them.
 */
static void expect_committed(const char *out, size_t n)
{
	assert_int_equal(JSON(out, "times", "batches"), n);
	assert_int_equal(JSON(out, "times", "particles"), n * BATCH);
}

/* --- the last batch --------------------------------------------------------------------------- */

struct rule {
	enum sl_fate fate;
	const char *below;
	double value;
	const char *min_batches; /* NULL: left out */
};

static const struct rule rules[] = {
	{SL_FATE_transmitted, "1 %", 0.01, NULL},
	{SL_FATE_transmitted, "0.01", 0.01,
		"2"}, /* met by chance: the first two results are nearly equal */
	{SL_FATE_transmitted, "8.2e-3", 8.2e-3, NULL}, {SL_FATE_reflected, "0.018", 0.018, NULL},
	{SL_FATE_absorbed, "3.5%", 0.035,
		"23"}, /* the rule is met before batch 23, but not at it */
	{SL_FATE_transmitted, "0.99", 0.99, NULL}, /* 5 is the default minimum of batches */
	{SL_FATE_transmitted, "0.99", 0.99, "17"}, {SL_FATE_transmitted, "0.99", 0.99, "60"},
	{SL_FATE_transmitted, "0.99", 0.99, "61"}, /* more than the run has */
	{SL_FATE_reflected, "1e-9", 1e-9, NULL},   /* the rule is never met */
};

static void run_rule(const struct rule *rule, size_t n, bool met)
{
	char set[256], expected[256];
	char *out;

	snprintf(set, sizeof(set), "stop={when: rel_error(%s) < %s%s%s}",
		sl_fate_facts[rule->fate].name, rule->below,
		rule->min_batches ? ", min_batches: " : "",
		rule->min_batches ? rule->min_batches : "");
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "out", "--set", set));
	if (met)
		snprintf(expected, sizeof(expected),
			"stopped after batch %zu (%zu of at most 60): %.14s", n - 1, n,
			strchr(set, ' ') + 1);
	else
		snprintf(expected, sizeof(expected), "stop.when was not met: %.14s",
			strchr(set, ' ') + 1);
	if (!strstr(out, expected))
		fail_msg("%s: \"%s\" is not in\n%s", set, expected, out);
	free(out);
	expect_run("out", n, met, rule->fate);
	expect_committed("out", n);
	remove_run(&folder, "out");
}

TEST(run_ends_at_the_expected_batch)
{
	size_t between = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i += is_quick() ? 2 : 1) {
		const struct rule *r = &rules[i];
		size_t least = r->min_batches ? strtoul(r->min_batches, NULL, 10) : 5;
		size_t n = expected_batches(r->fate, r->value, least);
		bool met = least <= n && relative_error(&all, n, r->fate) < r->value;

		between += met && n > least && n < BATCHES;
		run_rule(r, n, met);
	}
	assert_true(between >= 3); /* otherwise the cases do not test the rule */
}

/* A fate without particles has no relative error. */
TEST(fate_without_particles_never_stops_a_run)
{
	char *out = output_of(&folder,
		WORDS("run", "c.yaml", "--out", "out", "--set", "stop=rel_error(max_steps) < 0.5"));

	assert_non_null(
		strstr(out, "stop.when was not met: rel_error(max_steps) is unknown after all 60"));
	free(out);
	assert_true(isnan(JSON("out", "stop", "relative_error")));
	assert_int_equal(JSON("out", "stop", "met"), 0);
	remove_run(&folder, "out");
}

static void expect_plan(const char *set, const char *expected)
{
	char *out = output_of(&folder, WORDS("plan", "c.yaml", "--set", set));

	if (!strstr(out, expected))
		fail_msg("%s: \"%s\" is not in\n%s", set, expected, out);
	free(out);
}

TEST(plan_prints_the_stop_rule)
{
	expect_plan(STOP, "batches     at most 60 of 200 particles\n"
			  "stop        when rel_error(transmitted) < 0.01, after 5 batches or "
			  "more\n");
	expect_plan("stop={when: rel_error(absorbed)<0.7%, min_batches: 100}",
		"stop        when rel_error(absorbed) < 0.007, after 100 batches or more: never, "
		"there are fewer\n");
	expect_plan("stop={}", "batches     60 of 200 particles\nkey ");
}

/* --- the same bytes for all options ----------------------------------------------------------- */

static size_t n_stopped;
static uint64_t stopped; /* the hash of the reference run "stopped" */

static void make_stopped_run(void)
{
	if (n_stopped > 0)
		return;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "stopped", "--threads", "1", "--quiet", "--set",
			STOP));
	n_stopped = expected_batches(SL_FATE_transmitted, 0.01, 5);
	expect_run("stopped", n_stopped, true, SL_FATE_transmitted);
	stopped = hash_run(&folder, "stopped");
	assert_in_range(n_stopped, 10, BATCHES - 10);
}

static void expect_stopped(void)
{
	assert_int_equal(hash_run(&folder, "out"), stopped);
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	assert_int_equal(JSON("out", "stop", "met"), true);
	remove_run(&folder, "out");
}

TEST(thread_count_does_not_change_the_end)
{
	static const char *const threads[] = {"1", "2", "3", "4", "16"};

	make_stopped_run();
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		for (int again = 0; again < (is_quick() ? 1 : 3); again++) {
			expect(&folder, SL_OK, "",
				WORDS("run", "c.yaml", "--out", "out", "--quiet", "--threads",
					threads[i], "--set", STOP));
			expect_committed("out", n_stopped);
			expect_stopped();
		}
}

TEST(slot_count_does_not_change_the_end)
{
	static const char *const modes[] = {"staged", "fused"};
	static const char *const slots[] = {"1", "2", "3"};

	make_stopped_run();
	for (size_t i = 0; i < 2; i++)
		for (size_t k = is_quick() ? i : 0; k < 3; k += is_quick() ? 2 : 1) {
			expect(&folder, SL_OK, "",
				WORDS("run", "c.yaml", "--out", "out", "--quiet", "--device",
					"emulated", "--mode", modes[i], "--slots", slots[k],
					"--threads", slots[2 - k], "--set", STOP));
			expect_committed("out", n_stopped);
			expect_stopped();
		}
}

static void resume_continues(const char *message)
{
	expect(&folder, SL_CHECK_FAILED, message, WORDS("verify", "out"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set", STOP));
	expect_stopped();
}

/* A kill leaves a file without its manifest line; the resumed run writes it again. */
TEST(resumed_run_ends_at_the_same_batch)
{
	make_stopped_run();
	for (size_t n = 0; n < n_stopped; n += 1 + n_stopped / (is_quick() ? 3 : 6)) {
		copy_run(&folder, "stopped", "out");
		keep_batches(&folder, "out", n);
		resume_continues(
			"of at most 60 batches are committed, because the run has not ended");
	}
}

/* A batch that was lost in the middle is computed again before the rule is evaluated. */
TEST(lost_files_are_written_again)
{
	make_stopped_run();
	copy_run(&folder, "stopped", "out");
	assert_int_equal(unlink(folder_path(&folder, "out/t_000001.h5")) |
				 unlink(folder_path(&folder, "out/t_000006.h5")),
		0);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set", STOP));
	expect_stopped();
}

TEST(finished_run_is_not_continued)
{
	struct stat was, now;
	char *out;

	make_stopped_run();
	copy_run(&folder, "stopped", "out");
	assert_int_equal(stat(folder_path(&folder, "out/t_000009.h5"), &was), 0);
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", STOP));
	assert_non_null(strstr(out, "stopped after batch"));
	assert_non_null(strstr(out, "no batch was computed"));
	free(out);
	assert_int_equal(stat(folder_path(&folder, "out/t_000009.h5"), &now), 0);
	assert_int_equal(was.st_ino, now.st_ino);
	expect_stopped();
	copy_run(&folder, "stopped", "out");
	expect(&folder, SL_OUTPUT_IN_USE, "rel_error(transmitted) < 1 %",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--set",
			"stop=rel_error(transmitted) < 2 %"));
	remove_run(&folder, "out");
}

/* Batches after the end of the rule, made by an edited rule: verify reports them and --resume removes them. */
TEST(resume_removes_batches_after_the_end)
{
	make_stopped_run();
	for (int gap = 0; gap < 2; gap++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
				"stop=rel_error(transmitted) <0.1%"));
		edit_run_json(&folder, "out", "<0.1%", "< 1 %");
		expect(&folder, SL_CHECK_FAILED, "stop.when ended the run before this batch",
			WORDS("verify", "out"));
		if (gap)
			assert_int_equal(unlink(folder_path(&folder, "out/t_000003.h5")), 0);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set",
				STOP));
		expect_run("out", n_stopped, true, SL_FATE_transmitted);
		assert_false(folder_has(&folder, "out/t_000059.h5"));
		remove_run(&folder, "out");
	}
}
