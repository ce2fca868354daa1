/*
 * extend.c - --resume with more run.particles: the files are those of a longer run from the start.
 */
#include <stdio.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static const char slab[] = "run: {name: t, seed: 7, batch: 1000, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n"
			   "tallies: [w:50, z:40]\n";

static const char image[] =
	"run: {name: t, seed: 3, batch: 1000, threads: 2}\n"
	"model: {source_detector: {detector: {type: rectangle, distance: 2 cm, width: 2 cm, "
	"height: 2 cm, pixels: [8, 4]}}}\n"
	"keep: hit\n"
	"output: {image: true}\n";

/* Runs c.yaml with so many particles into a folder; set may be NULL. */
static void run(const char *out, const char *particles, const char *set, const char *more)
{
	char count[64];

	snprintf(count, sizeof(count), "run.particles=%s", particles);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--quiet", "--device", "cpu", "--out", out, "--set", count,
			"--set", set ? set : "run.threads=2", more ? more : "--quiet"));
}

/* Extends a run in steps, and compares it with one run of the last size. */
static void expect_extension(const char *text, const char *set, const char *const *particles)
{
	const char *last = NULL;

	write_text(&folder, "c.yaml", text);
	for (; *particles; particles++) {
		run("out", *particles, set, "--resume");
		last = *particles;
	}
	run("whole", last, set, NULL);
	if (hash_run(&folder, "out") != hash_run(&folder, "whole"))
		fail_msg("%s to %s particles: other bytes than a run from the start",
			set ? set : text, last);
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
	remove_run(&folder, "whole");
}

#define STEPS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(extension_has_the_bytes_of_a_longer_run)
{
	static const char *const sets[] = {NULL, "output.format=npz", "output.format=csv.gz",
		"output.format=none", "output={format: mcpl, mcpl: {energy: 1 keV}}",
		"output={format: mcpl, mcpl: {energy: 1 keV}, joined: true}",
		"output={format: mcpl, mcpl: {energy: 1 keV}, order: run}",
		"output={format: mcpl.gz, mcpl: {energy: 1 keV}, order: run, sample: 300}",
		"output={format: mcpl, mcpl: {energy: 1 keV}, order: run, limit: 50}"};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		expect_extension(slab, sets[i], STEPS("5500", "7250", "8000", "12345"));
}

/* A run of one batch has no sort keys, and no batch that the longer run could keep. */
TEST(any_number_of_batches_can_be_extended)
{
	static const char order[] = "output={format: mcpl, mcpl: {energy: 1 keV}, order: run}";

	expect_extension(slab, order, STEPS("400", "3000"));
	expect_extension(slab, order, STEPS("1000", "1001", "3000"));
	expect_extension(slab, NULL, STEPS("1", "2", "999", "1000"));
	expect_extension(slab, NULL, STEPS("2000", "2000", "4000"));
	expect_extension(image, NULL, STEPS("2500", "4500"));
}

/* The rule is evaluated again: the last batch of the shorter run can have been a smaller one. */
TEST(stop_rules_end_an_extended_run_at_the_same_batch)
{
	static const char never[] = "stop={when: rel_error(transmitted) < 1e-9, min_batches: 2}";
	static const char later[] = "stop={when: rel_error(transmitted) < 0.02, min_batches: 2}";
	static const char soon[] = "stop={when: rel_error(transmitted) < 0.5, min_batches: 3}";
	struct sl_manifest m;

	expect_extension(slab, never, STEPS("2500", "6000"));
	expect_extension(slab, later, STEPS("2500", "60000"));
	expect_extension(slab, soon, STEPS("2500", "6000"));
	expect_extension(slab, soon, STEPS("4500", "9000"));
	/* met already: nothing is computed */
	write_text(&folder, "c.yaml", slab);
	run("out", "9000", soon, NULL);
	run("out", "20000", soon, "--resume");
	read_manifest(&folder, "out", &m);
	assert_int_equal(m.n, 3);
	sl_manifest_free(&m);
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	remove_run(&folder, "out");
}

/* The size of auto would grow with the particles; an extended run keeps that of its batches. */
TEST(automatic_batch_stays)
{
	static const char automatic[] =
		"run: {name: t, seed: 7, threads: 2}\n"
		"model: {source_detector: {detector: {type: disk, distance: 2 cm, radius: 1 cm}}}\n"
		"keep: hit\n"
		"output: {format: none}\n";
	struct sl_manifest m;

	write_text(&folder, "c.yaml", automatic);
	run("out", "300000", NULL, NULL);
	run("out", "20000000", NULL, "--resume");
	read_manifest(&folder, "out", &m);
	assert_int_equal(m.line[0].generated, 1 << 18);
	assert_int_equal(m.n, 77);
	sl_manifest_free(&m);
	run("whole", "20000000", "run.batch=262144", NULL);
	assert_true(hash_run(&folder, "out") == hash_run(&folder, "whole"));
	remove_run(&folder, "out");
	remove_run(&folder, "whole");
}

/* After a failure, the files made of all batches of the shorter run are gone; the run can go on. */
TEST(interrupted_extension_can_be_resumed)
{
	static const char joined[] = "output={format: mcpl, mcpl: {energy: 1 keV}, joined: true}";
	struct ending e;

	write_text(&folder, "c.yaml", slab);
	run("whole", "12000", joined, NULL);
	run("out", "5500", joined, NULL);
	assert_true(folder_has(&folder, "out/t.mcpl"));
	/* output.joined may be left out on resume, but not its list of the shorter run */
	call(&folder, (const char *const[]){"SL_FAULT=file_append:3+:28", NULL},
		WORDS("run", "c.yaml", "--quiet", "--device", "cpu", "--out", "out", "--set",
			"run.particles=12000", "--set",
			"output={format: mcpl, mcpl: {energy: 1 keV}}", "--resume"),
		&e);
	assert_int_equal(e.code, SL_DISK);
	process_free(&e);
	assert_string_equal(run_json(&folder, "out", "state"), "running");
	assert_false(folder_has(&folder, "out/t.mcpl"));
	run("out", "12000", joined, "--resume");
	assert_true(hash_run(&folder, "out") == hash_run(&folder, "whole"));
	remove_run(&folder, "out");
	remove_run(&folder, "whole");
	/* a run that has not ended is extended too */
	write_text(&folder, "c.yaml", image);
	run("whole", "12000", NULL, NULL);
	run("out", "5500", NULL, NULL);
	keep_batches(&folder, "out", 3);
	call(&folder, (const char *const[]){"SL_FAULT=file_append:3+:28", NULL},
		WORDS("run", "c.yaml", "--quiet", "--device", "cpu", "--out", "out", "--set",
			"run.particles=12000", "--resume"),
		&e);
	assert_int_equal(e.code, SL_DISK);
	process_free(&e);
	assert_false(folder_has(&folder, "out/t.png"));
	run("out", "12000", NULL, "--resume");
	assert_true(hash_run(&folder, "out") == hash_run(&folder, "whole"));
	remove_run(&folder, "out");
	remove_run(&folder, "whole");
}

/* The joined run can be extended, but not a part of it. */
TEST(parts_are_not_extended)
{
	write_text(&folder, "c.yaml", slab);
	for (int i = 1; i <= 2; i++)
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--quiet", "--out", "parts", "--part",
				i == 1 ? "1/2" : "2/2", "--set", "run.particles=5500"));
	expect(&folder, SL_OUTPUT_IN_USE, "a part cannot be extended",
		WORDS("run", "c.yaml", "--quiet", "--out", "parts", "--part", "2/2", "--set",
			"run.particles=9000", "--resume"));
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "out", "--quiet"));
	run("out", "9000", NULL, "--resume");
	run("whole", "9000", NULL, NULL);
	assert_true(hash_run(&folder, "out") == hash_run(&folder, "whole"));
	remove_run(&folder, "parts");
	remove_run(&folder, "out");
	remove_run(&folder, "whole");
}

TEST(other_changes_are_refused)
{
	uint64_t before;

	write_text(&folder, "c.yaml", slab);
	run("out", "5500", NULL, NULL);
	before = folder_hash(folder_path(&folder, "out"), NULL);
	expect(&folder, SL_OUTPUT_IN_USE,
		"holds a run of 5500 particles, and this configuration has 5000",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", "run.particles=5000"));
	expect(&folder, SL_OUTPUT_IN_USE, "\"seed: 7\" there, \"seed: 8\" here",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", "run.particles=9000",
			"--set", "run.seed=8"));
	expect(&folder, SL_OUTPUT_IN_USE, "\"batch: 1000\" there, \"batch: 900\" here",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", "run.particles=9000",
			"--set", "run.batch=900"));
	assert_true(folder_hash(folder_path(&folder, "out"), NULL) == before);
	remove_run(&folder, "out");
	/* a list: another number of particles means other files */
	run("out", "5500", "output={format: mcpl, mcpl: {energy: 1 keV}}", NULL);
	write_text(&folder, "list.yaml",
		"run: {name: l, batch: 100}\nmodel: {list: {files: [out]}}\nkeep: listed\n");
	expect(&folder, SL_OK, "",
		WORDS("run", "list.yaml", "--quiet", "--out", "l", "--set", "run.particles=200"));
	expect(&folder, SL_OUTPUT_IN_USE, "a run that reads files cannot be extended",
		WORDS("run", "list.yaml", "--out", "l", "--resume"));
	remove_run(&folder, "out");
	remove_run(&folder, "l");
}
