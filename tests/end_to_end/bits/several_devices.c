/*
 * several_devices.c - runs on several emulated devices have the files of a run on one, and of the CPU: all
 * modes, numbers of slots, schedules, tallies, images, joined files, stop rules, lists and resumed runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

#define DETECTOR                                                                                     \
	"run: {name: t, seed: 7, particles: 6010, batch: 500}\n"                                     \
	"model: {source_detector: {source: {type: disk, radius: 1 cm}, energy: {type: lines,\n"      \
	"  lines: [26.3 keV, 59.5 keV]}, detector: {type: rectangle, distance: 1 cm, width: 3 cm,\n" \
	"  height: 2 cm, pixels: [8, 4]}}}\n"                                                        \
	"keep: hit\n"

/* A run with all kinds of files. The bytes of MCPL do not depend on where records are made. */
static const char detector[] =
	DETECTOR "key: [pixel:5, energy:8]\n"
		 "tallies: [x:20:-2 cm..2 cm, [x:8:-2 cm..2 cm, y:8:-2 cm..2 cm]]\n"
		 "output: {format: mcpl, image: true, order: run}\n";

/* Columns that are compressed on the device or the host. */
static const char columns[] = DETECTOR "key: [pixel:5]\noutput: {columns: [id, x, y, energy]}\n";

static const char slab[] = "run: {name: t, seed: 3, particles: 4000, batch: 250}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
			   "keep: [transmitted, reflected]\n"
			   "key: [w:16]\n"
			   "tallies: [[w:16, z:8:0 cm..0.1 cm]]\n"
			   "output: {format: mcpl, sample: 300, mcpl: {energy: 2 eV}}\n";

static const char list[] = "run: {name: t, batch: 100}\n"
			   "model: {list: {files: [written/*.mcpl.gz]}}\n"
			   "keep: listed\n"
			   "key: [x:16:-2 cm..2 cm]\n"
			   "output: {format: mcpl}\n";

BEFORE_TESTS()
{
	write_text(&folder, "detector.yaml", detector);
	write_text(&folder, "columns.yaml", columns);
	write_text(&folder, "slab.yaml", slab);
	write_text(&folder, "list.yaml", list);
	expect(&folder, SL_OK, "",
		WORDS("run", "columns.yaml", "--out", "written", "--quiet", "--device", "cpu",
			"--set", "output.format=mcpl.gz", "--set", "output.columns=[]"));
}

/* The hash of a run of config with further words, which are removed again. */
static uint64_t hash_of(const char *config, const char *const words[6])
{
	uint64_t hash;
	size_t bytes;
	char *json;

	expect(&folder, SL_OK, "",
		WORDS("run", config, "--quiet", "--out", "out", words[0], words[1], words[2],
			words[3], words[4], words[5]));
	hash = hash_run(&folder, "out");
	json = folder_read(&folder, "out/run.json", &bytes);
	assert_null(strstr(json, "\"failure\"")); /* a device that fails changes no file */
	free(json);
	remove_run(&folder, "out");
	return hash;
}

#define RUN(...) ((const char *const[6]){__VA_ARGS__})

/* --- devices, modes and slots ------------------------------------------------------------------ */

static const char *const devices[] = {"emulated", "emulated:2", "emulated:3", "emulated:7"};
enum { N_DEVICES = sizeof(devices) / sizeof(devices[0]) };

static void check_devices(const char *config)
{
	uint64_t expected = hash_of(config, RUN("--device", "cpu"));

	for (int d = is_quick(); d < N_DEVICES; d += 1 + is_quick())
		for (int slots = 1; slots <= 3; slots += 2) {
			char number[8];

			snprintf(number, sizeof(number), "%d", slots);
			for (int staged = 0; staged < 2; staged++)
				if (hash_of(config,
					    RUN("--device", devices[d], "--slots", number, "--mode",
						    staged ? "staged" : "fused")) != expected)
					fail_msg(
						"%s on %s, %d slots, %s: other files than on the CPU",
						config, devices[d], slots,
						staged ? "staged" : "fused");
		}
}

TEST(files_are_those_of_one_device)
{
	check_devices("detector.yaml");
	check_devices("list.yaml");
}

TEST(files_of_histories_are_those_of_one_device)
{
	check_devices("slab.yaml");
	assert_true(hash_of("slab.yaml",
			    RUN("--device", "emulated:3", "--set", "transport.schedule=rounds")) ==
		    hash_of("slab.yaml", RUN("--device", "cpu")));
}

/* Files whose columns are compressed on the device. */
TEST(compressed_files_are_those_of_one_device)
{
	static const char *const sets[] = {"output.format=openpmd", "output.format=npz"};

	for (int i = 0; i < 2; i++)
		assert_true(hash_of("columns.yaml", RUN("--device", "emulated", "--set", sets[i],
							    "--deflate", "device")) ==
			    hash_of("columns.yaml", RUN("--device", "emulated:3", "--set", sets[i],
							    "--deflate", "device")));
}

/* --- ends of a run ----------------------------------------------------------------------------- */

TEST(stop_rule_ends_at_the_same_batch)
{
	static const char rule[] = "stop=rel_error(transmitted) < 4 %";
	uint64_t expected = hash_of("slab.yaml", RUN("--device", "cpu", "--set", rule));

	assert_true(expected != hash_of("slab.yaml", RUN("--device", "cpu")));
	for (int d = 1; d < N_DEVICES; d++)
		assert_true(hash_of("slab.yaml", RUN("--device", devices[d], "--set", rule)) ==
			    expected);
}

/* A run that was interrupted after n batches is resumed on another number of devices. */
TEST(resumed_runs_have_the_same_files)
{
	uint64_t expected = hash_of("detector.yaml", RUN("--device", "cpu"));

	expect(&folder, SL_OK, "",
		WORDS("run", "detector.yaml", "--quiet", "--out", "whole", "--device",
			"emulated:2"));
	for (size_t n = 0; n < 13; n += 5) {
		copy_run(&folder, "whole", "out");
		keep_batches(&folder, "out", n);
		expect(&folder, SL_OK, "",
			WORDS("run", "detector.yaml", "--quiet", "--out", "out", "--resume",
				"--device", n % 2 ? "emulated:3" : "emulated"));
		assert_true(hash_run(&folder, "out") == expected);
		remove_run(&folder, "out");
	}
	remove_run(&folder, "whole");
}

/* --- what is said ------------------------------------------------------------------------------ */

TEST(plan_reports_the_memory_of_each_device)
{
	char *text = output_of(
		&folder, WORDS("plan", "detector.yaml", "--device", "emulated:3", "--slots", "2"));

	assert_non_null(strstr(text, "3 x emulated on the CPU, 2 batches at a time on each"));
	assert_int_equal(times_in(text, ": 2 slots of "), 3);
	assert_non_null(strstr(text, "            device 2, emulated, "));
	free(text);
	/* fewer devices than threads, or batches, can serve */
	text = output_of(&folder,
		WORDS("plan", "detector.yaml", "--device", "emulated:3", "--threads", "2"));
	assert_non_null(strstr(text, "2 of the 3 devices are used"));
	free(text);
	text = output_of(&folder, WORDS("plan", "detector.yaml", "--device", "emulated:3", "--set",
					  "run.particles=500"));
	assert_non_null(strstr(text, "1 of the 3 devices are used"));
	free(text);
}

TEST(comparison_on_several_devices_is_refused)
{
	expect(&folder, SL_USAGE,
		"run.device: emulated:2 names 2 devices, but a comparison measures one",
		WORDS("compare", "detector.yaml", "--device", "emulated:2"));
}
