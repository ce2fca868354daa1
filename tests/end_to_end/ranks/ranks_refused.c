/* ranks_refused.c - ranks that do not agree on one run are refused before the first batch, with one message. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/runs/ranks_check.h"

BEFORE_EACH()
{
	write_text(&folder, "c.yaml",
		"run: {name: t, seed: 7, particles: 10010, batch: 501, threads: 1, device: cpu}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
		"keep: transmitted\n");
}

/* Expects that the command fails before it makes a directory, and that one rank says why. */
static void expect_refusal(const struct ranks_command *c, int code, const char *text)
{
	struct running r;
	struct ending e;

	start_ranks(c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(e.code, code);
	if (!strstr(e.err, text))
		fail_msg("not in the messages: %s\n%s", text, e.err);
	assert_int_equal(times_in(e.err, text), 1);
	assert_false(folder_has(&folder, "ranks"));
	process_free(&e);
}

#define RUN "run", "c.yaml", "--quiet", "--out", "ranks"

TEST(other_configurations_are_refused)
{
	struct ranks_command c;

	ranks_command(2, NULL, WORDS(RUN), &c);
	add_rank(&c, NULL, WORDS(RUN, "--set", "run.seed=8"));
	expect_refusal(&c, SL_USAGE, "the run is not that of rank 0: '  seed: 8' here");
	ranks_command(1, NULL, WORDS(RUN), &c);
	add_rank(&c, NULL, WORDS(RUN, "--part", "1/2"));
	expect_refusal(&c, SL_USAGE, "the run is not that of rank 0: 'part: 1/2' here");
}

TEST(a_wrong_configuration_is_reported_once)
{
	struct ranks_command c;

	ranks_command(3, NULL, WORDS(RUN, "--set", "run.sed=8"), &c);
	expect_refusal(&c, SL_USAGE, "run.sed: unknown key; use seed");
	ranks_command(1, NULL, WORDS(RUN), &c);
	add_rank(&c, NULL, WORDS(RUN, "--set", "run.sed=8"));
	expect_refusal(&c, SL_USAGE, "the configuration is refused here, but not by rank 0");
	ranks_command(2, NULL, WORDS("run", "-", "--out", "ranks"), &c);
	expect_refusal(&c, SL_USAGE, "cannot be read from standard input under MPI");
}

TEST(an_existing_run_is_refused_once)
{
	struct ranks_command c;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--quiet", "--out", "before"));
	folder_remember();
	ranks_command(3, NULL, WORDS("run", "c.yaml", "--quiet", "--out", "before"), &c);
	expect_refusal(&c, SL_OUTPUT_IN_USE, "before: holds a run already");
	expect_untouched();
}

/* The smallest batch of all ranks is that of the run. */
TEST(the_smallest_batch_is_used)
{
	struct ranks_command c;
	struct sl_manifest m = {0};

	write_text(&folder, "auto.yaml",
		"run: {name: t, seed: 7, particles: 1e6, threads: 1, device: cpu}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
		"keep: transmitted\n");
	ranks_command(1, NULL, WORDS("run", "auto.yaml", "--quiet", "--out", "ranks"), &c);
	add_rank(&c, NULL,
		WORDS("run", "auto.yaml", "--quiet", "--out", "ranks", "--set", "run.batch=30000"));
	expect_command(&c, SL_OK, "");
	read_manifest(&folder, "ranks", &m);
	assert_int_equal(m.line[0].generated, 30000);
	sl_manifest_free(&m);
}

/*
 * The ranks would write into different directories: then not even --force changes one. Takes as long as
 * a rank waits for a network file system.
 */
TEST(other_directories_are_refused)
{
	struct ranks_command c;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--quiet", "--out", "first"));
	folder_remember();
	ranks_command(1, NULL, WORDS("run", "c.yaml", "--quiet", "--out", "first", "--force"), &c);
	add_rank(&c, NULL, WORDS("run", "c.yaml", "--quiet", "--out", "second", "--force"));
	expect_refusal(&c, SL_USAGE, "second: is not the directory that rank 0 has opened");
	assert_false(folder_has(&folder, "second"));
	expect_untouched();
}
