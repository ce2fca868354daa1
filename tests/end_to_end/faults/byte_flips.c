/*
 * byte_flips.c - flips a bit of every 97th byte of each file of a run: sluice verify reports each.
 *
 * The run is small and has every kind of side file that its format allows. is_unchecked() lists the files
 * that verify does not read. An argument replaces the 97: 1 flips a bit of every byte.
 * The environment may skip more bytes (sampling.h).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/verify/verify.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* A model with pixels and a tally, so that the run has an image and histograms. */
static const char text[] =
	"run: {name: t, seed: 7, particles: 60, batch: 30}\n"
	"model:\n"
	"  source_detector:\n"
	"    source: {type: point, half_angle: 60 deg}\n"
	"    detector: {type: disk, distance: 1 cm, radius: 0.9 cm, pixels: [3, 2]}\n"
	"keep: hit\n"
	"tallies: [w:5]\n";

static uint32_t step =
	97; /* between flipped bytes; a prime, so that each bit of a byte is flipped */

/* Files that verify does not read: LOCK contains no results. */
static bool is_unchecked(const char *name)
{
	return strcmp(name, "LOCK") == 0;
}

static enum sl_status verify_run(void)
{
	return sl_verify(folder_path(&folder, "out"), false, true, stdout);
}

/* Flips bits in the file; returns the number of bytes that were flipped. */
static uint64_t flip_file(const char *format, const char *name)
{
	char path[512];
	struct stat facts;
	uint64_t flips = 0;
	int file;

	snprintf(path, sizeof(path), "%s/%s", folder_path(&folder, "out"), name);
	file = open(path, O_RDWR | O_CLOEXEC);
	assert_true(file >= 0 && fstat(file, &facts) == 0);
	for (off_t at = 0; at < facts.st_size; at += (off_t)sl_sampling_step(step)) {
		unsigned char byte, other;
		enum sl_status s;

		assert_int_equal(pread(file, &byte, 1, at), 1);
		other = byte ^ (unsigned char)(1 << at % 8);
		assert_int_equal(pwrite(file, &other, 1, at), 1);
		s = verify_run();
		if (s != SL_CHECK_FAILED && s != SL_BAD_INPUT)
			fail_msg(
				"%s: bit %d of byte %lld of %s was flipped, and verify returned %s "
				"instead of CHECK_FAILED or BAD_INPUT",
				format, (int)(at % 8), (long long)at, name, sl_status_name(s));
		assert_int_equal(pwrite(file, &byte, 1, at), 1);
		flips++;
	}
	close(file);
	return flips;
}

static void flip_all_files(const char *format, const char *const *words, unsigned least_files)
{
	struct dirent *entry;
	uint64_t flips = 0;
	unsigned files = 0;
	DIR *d;

	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", words);
	assert_ok(verify_run());
	d = opendir(folder_path(&folder, "out"));
	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' && !is_unchecked(entry->d_name)) {
			flips += flip_file(format, entry->d_name);
			files++;
		}
	closedir(d);
	assert_ok(verify_run());
	print_message("%s: %llu flipped bytes in %u files, each was noticed\n", format,
		(unsigned long long)flips, files);
	if (files < least_files)
		fail_msg("%s: the run has %u files; %u were expected", format, files, least_files);
}

#define RUN(...) WORDS("run", "c.yaml", "--out", "out", "--quiet", __VA_ARGS__)

TEST(flips_in_openpmd_runs_are_noticed)
{
	flip_all_files(
		"openpmd", RUN("--set", "output.format=openpmd", "--set", "output.image=true"), 10);
}

TEST(flips_in_npz_runs_are_noticed)
{
	flip_all_files("npz", RUN("--set", "output.format=npz"), 4);
}

TEST(flips_in_csv_gz_runs_are_noticed)
{
	flip_all_files("csv.gz", RUN("--set", "output.format=csv.gz"), 4);
}

TEST(flips_in_mcpl_runs_are_noticed)
{
	flip_all_files(
		"mcpl", RUN("--set", "output.format=mcpl", "--set", "output.joined=true"), 5);
}

BEFORE_EACH()
{
	assert_ok(sl_formats_start());
}

TEST_FILE(argc, argv)
{
	if (argc == 2)
		step = (uint32_t)strtoul(argv[1], NULL, 10);
	return step == 0 ? 1 : run_test_file(argv[0]);
}
