/*
 * ranks.c - a run of several ranks under MPI has the bytes of the run of one process: in every format, with
 * histograms, grids, images, joined files, a stop rule, lists that are read, and emulated devices.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/runs/parts_check.h"
#include "tests/support/runs/ranks_check.h"

#define SLAB "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"

static const char slab[] =
	"run: {name: t, seed: 7, particles: 10010, batch: 501, threads: 2, device: cpu}\n" SLAB
	"keep: transmitted\nkey: [w:16]\ncheck: {transmitted: 0.5, sigma: 1000}\n";

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* MCPL files have fixed columns, and their particles an energy. */
#define MCPL "--set", "output.mcpl.energy=2 eV", "--set"

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", slab);
}

/* The words of a run into out, and NULL; more: NULL, or words. */
static void run_words(const char *out, const char *const *more, const char *words[40])
{
	const char *const first[] = {"sluice", "run", "c.yaml", "--out", out, "--quiet"};
	size_t n = 0;

	for (; n < sizeof(first) / sizeof(first[0]); n++)
		words[n] = first[n];
	for (size_t i = 0; more && more[i]; i++)
		words[n++] = more[i];
	words[n] = NULL;
}

/* Runs c.yaml as one process and as some ranks, and compares and verifies. */
static void check_ranks(unsigned ranks, const char *const *more)
{
	const char *words[40];

	run_words("whole", more, words);
	expect(&folder, SL_OK, "", words);
	run_words("ranks", more, words);
	expect_ranks(ranks, SL_OK, "", words);
	expect_same_results("ranks", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "ranks", "--quiet"));
	remove_run(&folder, "whole");
	remove_run(&folder, "ranks");
}

TEST(any_number_of_ranks_gives_the_same_bytes)
{
	static const unsigned numbers[] = {1, 2, 3, 7};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		check_ranks(numbers[i], NULL);
	check_ranks(7, SETS("--set", "run.batch=4000")); /* more ranks than batches */
	check_ranks(3, SETS("--set", "run.particles=1"));
}

TEST(every_format_is_the_same)
{
	char set[64];

	for (size_t i = 0; sl_formats[i]; i++) {
		snprintf(set, sizeof(set), "output.format=%s", sl_formats[i]->name);
		check_ranks(
			3, sl_format_is_mcpl(sl_formats[i]) ? SETS(MCPL, set) : SETS("--set", set));
	}
	check_ranks(2, SETS(MCPL, "output.format=mcpl", "--set", "output.order=run"));
	check_ranks(2, SETS(MCPL, "output.format=mcpl.gz", "--set", "output.sample=100"));
}

TEST(histograms_and_grids_are_the_same)
{
	write_text(&folder, "c.yaml", config_with_tallies);
	check_ranks(3, NULL);
	check_ranks(2, SETS("--set", "output.format=none"));
	check_ranks(2, SETS("--device", "emulated", "--set", "transport.schedule=rounds"));
}

TEST(an_image_is_the_same)
{
	write_text(&folder, "c.yaml",
		"run: {name: t, seed: 7, particles: 10010, batch: 1500, threads: 2}\n"
		"model:\n  rays:\n"
		"    camera: {position: [0, -4 cm, 1 cm], look_at: [0, 0, 0.5 cm], pixels: [37, 23]}\n"
		"    sky: 0.3\n    objects:\n"
		"      - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, reflectance: 0.7}\n"
		"keep: lit\nkey: [pixel:10]\n"
		"output: {image: true, columns: [id, pixel, weight, steps]}\n");
	check_ranks(3, NULL);
}

/* A rank has the devices whose number modulo the ranks is its own; more ranks than devices share them. */
TEST(emulated_devices_give_the_same_bytes)
{
	static const char *const devices[] = {"emulated", "emulated:2", "emulated:3"};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		for (unsigned ranks = 1; ranks <= 3; ranks++)
			check_ranks(ranks, SETS("--device", devices[i], "--deflate", "cpu"));
}

/* Each part is computed by some ranks with some devices. */
static void check_parts_of_ranks(unsigned ranks, const char *devices)
{
	static const char *const parts[] = {"1/2", "2/2"};

	for (int i = 0; i < 2; i++)
		expect_ranks(ranks, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "parts", "--quiet", "--part", parts[i],
				"--device", devices, "--deflate", "cpu"));
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	assert_true(hash_run(&folder, "joined") == hash_run(&folder, "whole"));
	remove_run(&folder, "parts");
	remove_run(&folder, "joined");
}

TEST(parts_of_ranks_are_joined)
{
	static const char *const devices[] = {"emulated", "emulated:2", "emulated:3"};

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", "--device", "emulated",
			"--deflate", "cpu"));
	for (int i = 0; i < 3; i++)
		for (unsigned ranks = 1; ranks <= 3; ranks++)
			check_parts_of_ranks(ranks, devices[i]);
}

TEST(a_stop_rule_ends_the_run_at_the_same_batch)
{
	check_ranks(3, SETS("--set", "stop=rel_error(transmitted) < 1 %", "--set", "run.batch=100",
			       "--set", "run.particles=1e6"));
}

TEST(a_list_is_divided_among_ranks)
{
	copy_reference_list(&folder, "reffile_5.mcpl");
	write_list_config(&folder, "reffile_5.mcpl", "", "listed", "output: {format: mcpl}\n");
	check_ranks(3, SETS("--set", "run.batch=2", "--set", "output.joined=true"));
}

TEST(an_ended_run_is_extended_by_ranks)
{
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--set", "run.particles=3000"));
	expect_ranks(3, SL_OK, "", WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume"));
	expect_same_results("ranks", "whole");
}

/* run.json and the summary have a line for each rank, and their batches are those of the run. */
TEST(ranks_are_reported)
{
	struct ranks_command c;
	struct running r;
	struct ending e;

	ranks_command(2, NULL, WORDS("run", "c.yaml", "--out", "ranks"), &c);
	start_ranks(&c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(e.code, SL_OK);
	assert_int_equal(times_in(e.out, "rank 0 on "), 1);
	assert_int_equal(times_in(e.out, "rank 1 on "), 1);
	process_free(&e);
}
