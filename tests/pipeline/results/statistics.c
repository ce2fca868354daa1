/*
 * statistics.c - the statistical errors of fates in run.json: errors from the scatter of batches,
 * and figures of merit, compared with textbook formulas.
 */
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "tests/support/program/fixture.h"
#include "tests/support/runs/statistics_check.h"
#include "tests/support/program/program.h"

static const char text[] = "run: {name: t, seed: 7, particles: 12000, batch: 200, threads: 2, "
			   "device: cpu}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
}

/* Checks the figures of a run with all batches; the last batch may be smaller. */
static void expect_figures(const char *out, bool known)
{
	struct sl_manifest m;
	double share = JSON(out, "times", "particles") / JSON(out, "tallies", "particles");
	double seconds = JSON(out, "times", "computing_seconds") / share;

	read_manifest(&folder, out, &m);
	for (int f = SL_FATE_reflected; f <= SL_FATE_absorbed; f++) {
		const char *fate = sl_fate_facts[f].name;
		double error = relative_error(&m, m.n, (enum sl_fate)f);
		double mean = JSON(out, "tallies", "fates", fate, "mean_over_batches");
		double merit = JSON(out, "tallies", "fates", fate, "figure_of_merit");

		expect_near(mean, JSON(out, "tallies", "fates", fate, "fraction"));
		expect_near(JSON(out, "tallies", "fates", fate, "standard_error_over_batches"),
			error * mean);
		expect_near(JSON(out, "tallies", "fates", fate, "relative_error"), error);
		if (known)
			expect_near(merit, 1 / (error * error * seconds));
		else
			assert_true(isnan(merit));
	}
	assert_true(isnan(JSON(out, "tallies", "fates", "max_steps", "relative_error")));
	assert_true(isnan(JSON(out, "tallies", "fates", "max_steps", "figure_of_merit")));
	sl_manifest_free(&m);
}

TEST(figures_of_merit_match_the_formula)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume",
		"--set", "run.particles=4210", "--set", "run.batch=1000");

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "all", "--quiet"));
	expect_figures("all", true);
	expect(&folder, SL_OK, "", words);
	expect_figures("out", true);
	keep_batches(&folder, "out", 2);
	expect(&folder, SL_OK, "", words);
	assert_int_equal(JSON("out", "times", "particles"), 2210);
	expect_figures("out", true);
	/* resumes a finished run: no batch and no computing time */
	expect(&folder, SL_OK, "", words);
	expect_figures("out", false);
	remove_run(&folder, "out");
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* The processor time of child processes that have ended. */
static double children_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
}

/*
 * Sixteen threads wait for cores, or for each other, most of the time. Their waiting is no computing time:
 * computing takes most of the processor time of the run, and not more.
 */
TEST(computing_time_is_processor_time)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	static const char many[] = "run.particles=4e5";
#else
	static const char many[] = "run.particles=4e6";
#endif
	double before = children_seconds(), all, computing;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", many, "--set",
			"run.batch=1e5", "--set", "model.slab.thickness=1 cm", "--threads", "16"));
	all = children_seconds() - before;
	computing = JSON("out", "times", "computing_seconds");
	if (computing > all || computing < 0.5 * all)
		fail_msg("%g s of computing in %g s of processor time", computing, all);
	remove_run(&folder, "out");
}

/*
 * A last batch of one particle, in a run of ten batches of 1000, changes the error by less than 10
 * %.
 */
TEST(small_last_batch_has_less_weight)
{
	double error[2];

	for (int more = 0; more < 2; more++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
				more ? "run.particles=10001" : "run.particles=10000", "--set",
				"run.batch=1000"));
		error[more] = JSON("out", "tallies", "fates", "reflected", "relative_error");
		remove_run(&folder, "out");
	}
	assert_true(fabs(error[1] / error[0] - 1) < 0.1);
}

/* One batch has no scatter, so the error is unknown. */
TEST(single_batch_has_no_error)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "run.particles=200"));
	assert_true(isnan(JSON("out", "tallies", "fates", "reflected", "relative_error")));
	assert_true(isnan(JSON("out", "tallies", "fates", "reflected", "figure_of_merit")));
	remove_run(&folder, "out");
}
