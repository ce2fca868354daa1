/* parts_status.c - sluice status of a part, and of a directory with the parts of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runs/parts_check.h"

static const char text[] = "run: {name: t, seed: 7, particles: 2950, batch: 100, threads: 1}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "output: {format: none}\n";

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", text);
	run_part(1, 4, NULL);
	run_part(4, 4, NULL);
}

static void expect_text(const char *part, const char *text_of)
{
	if (!strstr(text_of, part))
		fail_msg("'%s' is not in: %s", part, text_of);
}

/* Part 4 has the last batch, which is half as large. */
TEST(a_part_has_its_own_sizes)
{
	char *out;

	out = output_of(&folder, WORDS("status", "parts/part_4_of_4"));
	expect_text("run t, part 4 of 4, done", out);
	expect_text("batches     7 of 7\n", out);
	expect_text("particles   650 of 650, 100.0 %", out);
	free(out);
	/* killed before its end: run.json still has the state at the start */
	run_part(3, 4, NULL);
	keep_batches(&folder, "parts/part_4_of_4", 3);
	out = output_of(&folder, WORDS("status", "parts/part_4_of_4", "--json"));
	expect_text("\"part\": 4,", out);
	expect_text("\"of_parts\": 4,", out);
	expect_text("\"batches\": 3,", out);
	free(out);
}

/* Starts part 2, which fails after two batches. */
static void interrupt_part(void)
{
	static const char *const env[] = {"SL_FAULT=file_append:3+:28", NULL};
	struct part_command c;
	struct ending e;

	part_command(2, 4, NULL, &c);
	call(&folder, env, c.words, &e);
	expect_ending(&e, SL_DISK, "", c.words);
}

TEST(all_parts_are_listed)
{
	char *out;

	interrupt_part();
	out = output_of(&folder, WORDS("status", "parts"));
	expect_text("     1  done                8 of 8", out);
	expect_text("     2  interrupted         2 of 8", out);
	expect_text("     4  done                7 of 7", out);
	expect_text("4 parts: 2 done, 1 interrupted, 1 not started\n", out);
	expect_text("batches     17 of 23", out);
	expect_text("particles   1650 of 2250, 73.3 %", out);
	free(out);
	out = output_of(&folder, WORDS("status", "parts", "--json"));
	expect_text("\"of_parts\": 4,", out);
	expect_text("\"done\": 2,", out);
	expect_text("\"not_started\": 1,", out);
	free(out);
	run_parts(4, NULL);
	out = output_of(&folder, WORDS("status", "parts"));
	expect_text("4 parts: 4 done, 0 not started\n", out);
	expect_text("sluice join makes the run", out);
	free(out);
	/* joined in the same directory: the status is that of the run */
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "parts", "--quiet"));
	out = output_of(&folder, WORDS("status", "parts"));
	expect_text("parts: run t, done\nbatches     30 of 30\n", out);
	free(out);
}

/* A part that cannot be read is not one that has not started. */
TEST(damaged_parts_are_named)
{
	const char *const *words = WORDS("status", "parts");
	struct ending e;

	interrupt_part();
	write_text(&folder, "parts/part_2_of_4/run.json", "{");
	call(&folder, NULL, words, &e);
	expect_text("     2  damaged ", e.out);
	expect_text("4 parts: 2 done, 1 damaged, 1 not started\n", e.out);
	expect_ending(&e, SL_BAD_INPUT, "parts/part_2_of_4/run.json: ", words);
	words = WORDS("status", "parts", "--json");
	call(&folder, NULL, words, &e);
	expect_text("\"state\": \"damaged\"", e.out);
	expect_text("\"damaged\": 1", e.out);
	expect_ending(&e, SL_BAD_INPUT, "parts/part_2_of_4/run.json: ", words);
}

TEST(other_directories_are_refused)
{
	copy_run(&folder, "parts/part_1_of_4", "parts/part_1_of_5");
	expect(&folder, SL_BAD_INPUT, "parts of a run of 4 and of a run of 5 parts",
		WORDS("status", "parts"));
	expect(&folder, SL_BAD_INPUT, "has no run.json", WORDS("status", "."));
}
