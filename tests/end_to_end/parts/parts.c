/*
 * parts.c - parts of a run, joined, are the run of one process: in every format, with histograms, grids,
 * images and joined files, on the emulated device, and with a stop rule.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/runs/parts_check.h"

static const char slab[] =
	"run: {name: t, seed: 7, particles: 10010, batch: 1001, threads: 2, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"check: {transmitted: 0.5, sigma: 1000}\n";

static const char rays[] =
	"run: {name: t, seed: 7, particles: 10010, batch: 1500, threads: 2}\n"
	"model:\n  rays:\n"
	"    camera: {position: [0, -4 cm, 1 cm], look_at: [0, 0, 0.5 cm], pixels: [37, 23]}\n"
	"    sky: 0.3\n    objects:\n"
	"      - {sphere: {center: [0, 0, 0.5 cm], radius: 0.5 cm}, reflectance: 0.5, emission: 1}\n"
	"      - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, reflectance: 0.7}\n"
	"keep: lit\nkey: [pixel:10]\n"
	"output: {image: true, columns: [id, pixel, weight, steps]}\n";

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", slab);
}

/* MCPL files have fixed columns, and their particles an energy. */
#define MCPL "--set", "output.mcpl.energy=2 eV", "--set"

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(every_format_is_joined)
{
	char set[64];

	for (size_t i = 0; sl_formats[i]; i++) {
		bool mcpl = sl_format_is_mcpl(sl_formats[i]);

		snprintf(set, sizeof(set), "output.format=%s", sl_formats[i]->name);
		check_parts(mcpl ? SETS(MCPL, set) : SETS("--set", set));
		check_parts(mcpl ? SETS(MCPL, set, "--device", "emulated")
				 : SETS("--set", set, "--device", "emulated"));
	}
}

TEST(lists_of_all_batches_are_joined)
{
	static const char *const formats[] = {"output.format=mcpl", "output.format=mcpl.gz"};
	static const char *const sets[] = {
		"output.joined=true", "output.order=run", "output.sample=100", "output.limit=1500"};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
			check_parts(SETS(MCPL, formats[k], "--set", sets[i]));
}

/* The list is compressed when it is written: with the backend of the parts. */
TEST(a_list_is_compressed_as_by_one_process)
{
	const char *const more[] = {MCPL, "output.format=mcpl.gz", "--set", "output.order=run",
		"--deflate", "libdeflate", NULL};

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", MCPL, "output.format=mcpl.gz",
			"--set", "output.order=run", "--deflate", "libdeflate"));
	run_parts(3, more);
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_same_run("joined", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
}

TEST(histograms_and_grids_are_joined)
{
	write_text(&folder, "c.yaml", config_with_tallies);
	check_parts(NULL);
	check_parts(SETS("--set", "output.format=csv"));
	check_parts(SETS("--set", "transport.schedule=rounds"));
	check_parts(SETS("--device", "emulated", "--set", "transport.schedule=rounds"));
}

TEST(an_image_is_joined)
{
	write_text(&folder, "c.yaml", rays);
	check_parts(NULL);
	check_parts(SETS("--device", "emulated"));
}

TEST(a_device_gives_the_same_parts)
{
	check_parts(SETS("--device", "emulated", "--mode", "staged"));
	check_parts(SETS("--device", "emulated", "--mode", "fused", "--deflate", "device"));
	check_parts(SETS("--device", "emulated:3"));
	check_parts(SETS(MCPL, "output.format=mcpl.gz", "--device", "emulated", "--set",
		"output.order=run"));
}

TEST(a_list_is_divided)
{
	copy_reference_list(&folder, "reffile_5.mcpl");
	write_list_config(&folder, "reffile_5.mcpl", "", "listed", "output: {format: mcpl}\n");
	check_parts(SETS("--set", "run.batch=2", "--set", "output.joined=true"));
}

/* Some parts on a device and some on the CPU; the format has no compressed streams. */
TEST(devices_can_be_mixed)
{
	const char *const cpu[] = {"--set", "output.format=csv", NULL};
	const char *const device[] = {"--set", "output.format=csv", "--device", "emulated", NULL};

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", "--set", "output.format=csv"));
	run_part(1, 4, cpu);
	run_part(2, 4, device);
	run_part(3, 4, cpu);
	run_part(4, 4, device);
	/* directories in any order, of parts and of several parts */
	rename(folder_path(&folder, "parts/part_3_of_4"), folder_path(&folder, "third"));
	expect(&folder, SL_OK, "", WORDS("join", "third", "parts", "--out", "joined", "--quiet"));
	assert_true(hash_run(&folder, "joined") == hash_run(&folder, "whole"));
}

/* Without --out, the joined run is in the directory with the parts. */
TEST(the_default_output_is_that_of_the_parts)
{
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--part", "1/2", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--part", "2/2", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("join", "out/t", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "out/t", "--quiet"));
	assert_true(folder_has(&folder, "out/t/part_2_of_2"));
	expect(&folder, SL_OUTPUT_IN_USE, "out/t: holds a run already", WORDS("join", "out/t"));
}

/* Parts that are not joined can be converted; their ids are those of the run. */
TEST(parts_are_converted_with_their_ids)
{
	char *is, *should, *text;
	size_t bytes;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("convert", "whole", "--to", "whole.csv", "--quiet"));
	run_parts(2, NULL);
	text = output_of(&folder,
		WORDS("convert", "parts/part_1_of_2", "parts/part_2_of_2", "--to", "parts.csv"));
	assert_non_null(strstr(text, "sluice join makes the whole run"));
	free(text);
	is = folder_read(&folder, "parts.csv", &bytes);
	should = folder_read(&folder, "whole.csv", &bytes);
	assert_string_equal(is, should);
	free(is);
	free(should);
}

/* --- stop rules ------------------------------------------------------------------------------- */

#define RULE                                                                                \
	"--set", "stop=rel_error(transmitted) < 0.74 %", "--set", "run.batch=100", "--set", \
		"run.particles=1e4"

/*
 * Each of the five parts has 20 batches, with which a part alone would meet a weaker rule. The rule is met
 * within part 3; the rest of it and the later parts may be incomplete or missing.
 */
TEST(a_stop_rule_is_met_by_the_batches_in_order)
{
	struct sl_manifest m = {0};
	size_t in_third;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet", RULE));
	read_manifest(&folder, "whole", &m);
	assert_in_range(m.n, 42, 58);
	in_third = m.n - 40;
	sl_manifest_free(&m);
	run_parts(5, SETS(RULE));
	for (int i = 0; i < 3; i++) {
		expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
		expect_same_run("joined", "whole");
		remove_run(&folder, "joined");
		if (i == 0)
			remove_run(&folder, "parts/part_4_of_5");
		else
			keep_batches(&folder, "parts/part_3_of_5", in_third);
	}
	keep_batches(&folder, "parts/part_3_of_5", in_third - 1);
	expect(&folder, SL_BAD_INPUT, "part 4 is missing",
		WORDS("join", "parts", "--out", "joined"));
	remove_run(&folder, "parts/part_2_of_5");
	expect(&folder, SL_BAD_INPUT, "part 2 is missing",
		WORDS("join", "parts", "--out", "joined"));
}

/* A part that would meet the rule with its own batches computes all of them. */
TEST(a_part_does_not_stop)
{
	struct sl_manifest m = {0};

	run_part(1, 2,
		SETS("--set", "stop=rel_error(transmitted) < 10 %", "--set", "run.batch=100"));
	run_part(2, 2,
		SETS("--set", "stop=rel_error(transmitted) < 10 %", "--set", "run.batch=100"));
	for (int i = 1; i <= 2; i++) {
		read_manifest(&folder, i == 1 ? "parts/part_1_of_2" : "parts/part_2_of_2", &m);
		assert_in_range(m.n, 50, 51);
		sl_manifest_free(&m);
	}
}

/* --- copies and checks ------------------------------------------------------------------------ */

/* Without links (another file system: EXDEV), files are copied. */
TEST(files_are_copied_where_they_cannot_be_linked)
{
	static const char *const fault[] = {"SL_FAULT=file_link:1+:18", NULL};
	const char *const *words = WORDS("join", "parts", "--out", "joined", "--quiet");
	struct ending e;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	run_parts(3, NULL);
	call(&folder, fault, words, &e);
	expect_ending(&e, SL_OK, "", words);
	expect_same_run("joined", "whole");
	remove_run(&folder, "parts"); /* the joined run does not need them */
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
}

/* A part does not fail because its few particles miss a value; the join checks all. */
TEST(the_join_checks_the_values)
{
	static const char *const wrong[] = {
		"--set", "check.transmitted=0.1", "--set", "check.sigma=3", NULL};
	char *text;

	run_parts(3, wrong);
	expect(&folder, SL_CHECK_FAILED, "transmitted",
		WORDS("join", "parts", "--out", "parts", "--quiet"));
	assert_string_equal(run_json(&folder, "parts", "state"), "done");
	text = output_of(&folder, WORDS("info", "parts/part_2_of_3"));
	assert_non_null(strstr(text, "part 2 of 3"));
	free(text);
}
