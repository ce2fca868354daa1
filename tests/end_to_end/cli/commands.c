/* commands.c - the command line: what each command prints, and what its options do. Help: commands_help.c. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/config/config.h"
#include "primitives/catalog.h"
#include "pipeline/text/yaml.h"
#include "stages/formats/formats.h"
#include "tests/support/program/commands_check.h"
#include "tests/support/formats/mcpl_lists.h"

static bool exists(const char *path)
{
	return access(path, X_OK) == 0;
}

/* Parses JSON with the reader of the program and with Python, which accepts only valid JSON. */
static void expect_json(const char *json)
{
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;

	assert_ok(sl_yaml_parse(json, strlen(json), &tree, &problem));
	sl_yaml_free(tree);
	if (!exists("/usr/bin/python3"))
		return;
	write_text(&folder, "json", json);
	shell(0, "", "/usr/bin/python3 -m json.tool json >/dev/null");
	assert_int_equal(unlink(folder_path(&folder, "json")), 0);
}

/* --- info, list, run, verify, replay ------------------------------------------------------------- */

/* info DIR prints run.json and the manifest; info FILE prints histograms, which count each particle once. */
TEST(info_describes_a_run)
{
	shell(0, "",
		"$SLUICE run c.yaml --out binned --quiet --set 'tallies=[w:4]' && "
		"$SLUICE info binned > info.txt && grep -q 'binned: run .*, format openpmd, done' info.txt && "
		"grep -q '^[0-9]* batches, 10000 particles, [0-9]* survivors, ' info.txt && "
		"grep -q '^transmitted  *[0-9]*  *0\\.' info.txt && grep -q '\"commit\": ' binned/run.json && "
		"$SLUICE info binned/*.tallies > sums.txt && grep -q '^w: column w, 4 bins from -1 to 1' sums.txt && "
		"test $(awk '/^  [a-z]+ +[0-9]/ {n += $2 + $3 + $4} END {print n}' sums.txt) = 10000 && "
		"rm -r binned info.txt sums.txt");
	/* a file of another type, and a truncated file */
	shell(SL_BAD_INPUT, "the checksum at the end of the file is missing or wrong",
		"cp c.yaml x.tallies; $SLUICE info x.tallies; rc=$?; rm x.tallies; exit $rc");
}

/* Each backend of the catalog in every build, with its tunables and where it runs. */
static void expect_backend(const char *list, const struct sl_catalog_entry *l)
{
	char line[128], tunables[64];
	const char *at;

	snprintf(line, sizeof(line), "\n  %-8s %-14s %-7s ", sl_primitive_name(l->primitive),
		l->name, sl_runs_on_name(l->runs_on));
	at = strstr(list, line);
	if (!at)
		fail_msg("no line \"%s\" in\n%s", line, list);
	assert_non_null(strstr(at, l->backend ? l->backend->help : "not in this build"));
	at = strchr(at + 1, '\n');
	if (!l->backend || l->backend->tunable.block == 0)
		return;
	snprintf(tunables, sizeof(tunables), "block=%u (", l->backend->tunable.block);
	assert_ptr_equal(strstr(at, tunables), at + 1 + strspn(at + 1, " "));
}

TEST(list_prints_every_backend)
{
	char *list = output_of(&folder, WORDS("list")),
	     *json = output_of(&folder, WORDS("list", "--json"));
	size_t n = 0, devices = 0, emulated = 0, tuned = 0, padded = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		assert_true(sl_is_named_column(c) == !strstr(list, sl_column_facts[c].help));
	for (int m = 0; m < SL_MODEL_COUNT; m++)
		assert_non_null(strstr(list, sl_models[m]->help));
	assert_non_null(strstr(list, "\n  cm m mm um nm km angstrom inch\n"));
	assert_non_null(strstr(list, "\n  rad mrad deg\n"));
	for (const struct sl_catalog_entry *l = sl_catalog; l->name; l++) {
		expect_backend(list, l);
		n++;
		devices += l->runs_on != SL_RUNS_ON_HOST;
		emulated += l->runs_on == SL_RUNS_ON_DEVICE;
		tuned += l->backend && l->backend->tunable.block > 0;
		padded += l->backend && l->backend->tunable.padding;
	}
	assert_int_equal(times_in(json, "\"primitive\": "), n);
	assert_int_equal(times_in(json, "\"space\": \"device\""), devices);
	assert_int_equal(times_in(json, "\"emulated\""), emulated);
	assert_int_equal(times_in(json, "\"multiple_of\": "), tuned);
	assert_true(padded > 0);
	assert_int_equal(times_in(json, "\"padding\": "), padded);
	assert_int_equal(times_in(list, ", padding=on (on or off)\n"), padded);
	assert_int_equal(times_in(json, "\"km/s\""), 1);
	assert_non_null(strstr(list, "\n  positron         -11\n"));
	assert_int_equal(times_in(json, "\"positron\": -11,"), 1);
#ifdef SL_WITH_CUDA
	assert_int_equal(times_in(json, "\"cuda\""), devices);
	assert_null(strstr(list, "this build has no CUDA"));
#else
	assert_int_equal(times_in(json, "\"cuda\""), 0);
	assert_non_null(strstr(list, "this build has no CUDA"));
#endif
	for (int i = 0; sl_formats[i]; i++)
		assert_non_null(strstr(list, sl_formats[i]->help));
	expect_json(json);
	free(json);
	free(list);
}

TEST(json_outputs_are_valid)
{
	char *crc;
	size_t bytes;
	char *out = output_of(&folder, WORDS("run", "c.yaml", "--out", "out", "--json")),
	     *file = folder_read(&folder, "out/run.json", &bytes);

	crc = strstr(file, ",\n\t\"crc32\": \"");
	assert_non_null(crc); /* the last member of the file, and only of the file */
	strcpy(crc, "\n}\n");
	assert_string_equal(out, file);
	expect_json(out);
	free(out);
	free(file);
	out = output_of(&folder, WORDS("verify", "out", "--json"));
	assert_non_null(strstr(out, "\"batches\": 4"));
	expect_json(out);
	free(out);
	remove_run(&folder, "out");
	expect_untouched();
}

/*
 * The replayed history is the same for any device, mode and batch size; batches are those of the
 * run.
 */
TEST(replay_is_the_same_for_any_device_and_batch_size)
{
	const char *const *other_settings =
		WORDS("replay", "c.yaml", "--id", "3_002", "--set", "run.device=cuda:9999", "--set",
			"run.mode=fused", "--set", "primitives.sort=naive:block=96", "--set",
			"primitives.scan=naive", "--set", "primitives.compact=naive");
	char *reference = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002")), *out;

	assert_non_null(strstr(reference, "3002: number 2 of batch 1 (4 batches of 3000)"));
	expect_output(reference, other_settings);
	expect_output("9999: number 1111", WORDS("replay", "c.yaml", "--id", "9999", "--set",
						   "output.to=whole", "--set", "run.batch=2222"));
	expect_output("9999: number 999 of batch 3",
		WORDS("replay", "c.yaml", "--id", "9999", "--set", "output.to=whole", "--set",
			"run.batch=auto"));
	out = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002", "--set", "run.seed=8"));
	assert_null(strstr(out, strstr(reference, "\n0 ")));
	free(out);
	free(reference);
	out = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002", "--json"));
	expect_json(out);
	free(out);
	expect_untouched();
}

TEST(info_describes_files)
{
	expect_output("collisions", WORDS("info", "whole/t_000003.h5"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--set", "output.format=csv.gz"));
	expect_output("collisions", WORDS("info", "out/t_000003.csv.gz"));
	expect_output("4 of 4 batches", WORDS("verify", "out"));
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--set", "output.format=npz"));
	expect_output("collisions", WORDS("info", "out/t_000003.npz"));
	expect_output("4 of 4 batches", WORDS("verify", "out"));
	remove_run(&folder, "out");
	expect(&folder, SL_DISK, "nothing.h5", WORDS("info", "nothing.h5"));
	expect(&folder, SL_BAD_INPUT, "suffix", WORDS("info", "c.yaml"));
	write_text(&folder, "bad.h5", "no HDF5");
	expect(&folder, SL_BAD_INPUT, "bad.h5", WORDS("info", "bad.h5"));
	unlink(folder_path(&folder, "bad.h5"));
	expect(&folder, SL_DISK, "nothing", WORDS("verify", "nothing"));
	expect(&folder, SL_DISK, "run.json", WORDS("verify", "."));
	expect_untouched();
}

TEST(info_describes_mcpl_files)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz"};
	const char *example = reference_path("example.mcpl");
	char format[64], file[64];

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(format, sizeof(format), "output.format=%s", formats[i]);
		snprintf(file, sizeof(file), "out/t_000003.%s", formats[i]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--set", format, "--set",
				"output.columns=[]", "--set", "output.mcpl.energy=2 eV"));
		expect_output("stat:sum:sluice_generated:", WORDS("info", file));
		expect_output("keV          0.002         0.002             0         0.002",
			WORDS("info", file));
		expect_output("4 of 4 batches", WORDS("verify", "out"));
		remove_run(&folder, "out");
	}
	expect_output("1006 particles of 36 bytes", WORDS("info", example));
	expect_output("keV       1.393449      52164.98        548838       9724961  5.247797e+07",
		WORDS("info", example));
	write_text(&folder, "bad.mcpl", "MCPL001L");
	expect(&folder, SL_BAD_INPUT, "bad.mcpl", WORDS("info", "bad.mcpl"));
	unlink(folder_path(&folder, "bad.mcpl"));
	expect_untouched();
}

/* --- configurations ------------------------------------------------------------------------ */

/* The output of --print-config is a valid configuration, and prints the same text again. */
static void expect_reads_back(const char *config)
{
	char *first = output_of(&folder, WORDS("run", config, "--print-config")), *second;

	write_text(&folder, "printed", first);
	second = output_of(&folder, WORDS("plan", "printed", "--print-config"));
	assert_string_equal(first, second);
	unlink(folder_path(&folder, "printed"));
	free(first);
	free(second);
}

TEST(printed_configurations_read_back)
{
	static const char *const names[] = {"demo", "vandehulst", "beam_gauss", "aperture",
		"giovanelli", "beer_lambert", "isotropic_05", "disk_to_disk_near"};
	const char *source = getenv("SLUICE_SOURCE");
	char path[4096];

	expect_reads_back("c.yaml");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/data/configs/%s.yaml", source ? source : ".",
			names[i]);
		expect_reads_back(path);
	}
	snprintf(
		path, sizeof(path), "%s/tests/fuzz/corpus/config/mcpl.yaml", source ? source : ".");
	expect_reads_back(path);
	expect_output(
		"scan: \"naive:block=96\"", WORDS("plan", "c.yaml", "--print-config", "--scan",
						    "naive:block=96", "--device", "emulated"));
	expect_output("particles: 5000",
		WORDS("run", "c.yaml", "--print-config", "--set", "run.particles=5e3"));
	expect_untouched();
}

/* Names that YAML would parse as another type or truncate. */
TEST(unusual_folder_names_are_kept)
{
	static const char *const names[] = {"a #b", "a\"b", "x: y", "[a]", "it's", "b\\x", "*z",
		"{k", "&q", "~", "@s", " lead", "-", "\xc3\xa9", "a/b/c"};

	assert_int_equal(mkdir(folder_path(&folder, "here"), 0777), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "here/%s", names[i]);
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", name, "--quiet"));
		assert_int_equal(hash_run(&folder, name), reference_hash);
		expect(&folder, SL_OK, "", WORDS("verify", name, "--quiet"));
	}
	remove_run(&folder, "here");
	expect_untouched();
}

TEST(plan_prints_the_plan)
{
	expect_output("4 of 3000 particles", WORDS("plan", "c.yaml", "--out", "out"));
	expect_output("zlib", WORDS("plan", "c.yaml", "--deflate", "zlib"));
	expect_output("cpu_scan", WORDS("plan", "c.yaml", "--compact", "cpu_scan"));
	expect_output("3 threads", WORDS("plan", "c.yaml", "--threads", "3"));
	expect_output(
		"1 thread, loops", WORDS("plan", "c.yaml", "--threads", "1", "--device", "cpu"));
	expect_output("mode        staged\n", WORDS("plan", "c.yaml", "--device", "cpu"));
	/* the pilot is spread over the run, and says what it does not know */
	expect_output(
		"estimate    50 % survive", WORDS("plan", "c.yaml", "--set", "run.particles=4096e3",
						    "--set", "keep=id < 2048000"));
	expect_output("estimate    fewer than 1 in 4096 survive",
		WORDS("plan", "c.yaml", "--set", "run.particles=4096e3", "--set",
			"keep=id == 7 and z > 1e9 cm"));
	expect_output("estimate    0 % survive",
		WORDS("plan", "c.yaml", "--set", "run.particles=4096", "--set", "keep=z > 1e9 cm"));
	expect_output("mode        fused: survivors are passed between kernels as records of ",
		WORDS("plan", "c.yaml", "--device", "emulated"));
	expect_output("mode        staged (primitives.compact is named; ",
		WORDS("plan", "c.yaml", "--device", "emulated", "--compact", "naive"));
	expect_untouched();
}

/* Every command-line option for a key has the effect of the key. */
TEST(options_replace_keys)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--threads", "3", "--device", "cpu",
			"--slots", "2", "--mode", "staged", "--scan", "cpu", "--compact",
			"cpu_scan", "--sort", "cpu", "--deflate", "auto", "--set", "run.threads=1",
			"--set", "run.seed=7"));
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	expect_untouched();
}

/* Expects the size of all batch files in KiB, rounded to one decimal. */
TEST(sizes_are_printed_in_binary_units)
{
	uint64_t bytes = 0;
	char expected[64];

	for (int i = 0; i < 4; i++) {
		struct stat file;

		snprintf(expected, sizeof(expected), "whole/t_%06d.h5", i);
		assert_int_equal(stat(folder_path(&folder, expected), &file), 0);
		bytes += (uint64_t)file.st_size;
	}
	assert_in_range(bytes, 1 << 10, 1 << 20);
	snprintf(expected, sizeof(expected), "survivors in %.1f KiB; ", (double)bytes / 1024);
	expect_output(expected, WORDS("verify", "whole"));
	snprintf(expected, sizeof(expected), " (%.1f KiB), summary in ", (double)bytes / 1024);
	expect_output(expected, WORDS("run", "c.yaml", "--out", "out"));
	remove_run(&folder, "out");
	expect_untouched();
}

BEFORE_TESTS()
{
	commands_begin();
}
