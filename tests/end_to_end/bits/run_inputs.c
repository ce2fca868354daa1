/*
 * run_inputs.c - runs that read survivors of other runs of this program: files in npz and openPMD, and the
 * directories of runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/formats/formats.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* Lists with all columns. */
#define MIXED "a.IAEAphsp, s.h5, reffile_5.mcpl"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	make_iaea(&folder, "a", &(struct iaea_facts){.n = 300});
	make_openmc(&folder, "s.h5", &(struct openmc_facts){.n = 300});
	copy_reference_list(&folder, "reffile_5.mcpl");
}

/* --- files ------------------------------------------------------------------------------------ */

#define COLUMNS "x, y, z, u, v, w, energy, weight, time, pdg, userflags, pol_x, pol_y, pol_z"

/* Runs c.yaml, which reads files, in a format to the folder out. */
static void run_list(const char *files, const char *keep, const char *format, const char *out)
{
	write_list_config(&folder, files, "", keep, "output: {columns: [" COLUMNS "]}\n");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", out, "--quiet", "--set", format));
	expect(&folder, SL_OK, "", WORDS("verify", out, "--quiet"));
}

/* The columns of a run are read again to the bit, from either format. */
TEST(own_files_are_read_again)
{
	static const char *const formats[][2] = {{"output.format=npz", "o/t_000000.npz"},
		{"output.format=openpmd", "o/t_000000.h5"}};
	char *file, *again;
	size_t bytes, more;

	run_list(MIXED, "listed and w > 0", "output.format=csv", "r");
	file = folder_read(&folder, "r/t_000000.csv", &bytes);
	for (int k = 0; k < 2; k++) {
		run_list(MIXED, "listed and w > 0", formats[k][0], "o");
		run_list(formats[k][1], "listed", "output.format=csv", "q");
		again = folder_read(&folder, "q/t_000000.csv", &more);
		assert_string_equal(again, file);
		free(again);
		remove_run(&folder, "o");
		remove_run(&folder, "q");
	}
	free(file);
	remove_run(&folder, "r");
}

/* Columns that are constant in the file, such as the weight, and a run without the column pdg. */
TEST(simulated_survivors_are_read)
{
	struct sl_mcpl_particle *found;
	struct sl_mcpl_header h;

	write_text(&folder, "beam.yaml",
		"run: {name: beam, particles: 5000}\n"
		"model: {source_detector: {detector: {type: disk, distance: 1 cm, radius: 1 cm}}}\n"
		"keep: hit or missed\n"
		"output: {columns: []}\n");
	expect(&folder, SL_OK, "", WORDS("run", "beam.yaml", "--out", "beam", "--quiet"));
	write_list_config(&folder, "beam/beam_000000.h5", "", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "b", "--quiet"));
	found = particles_of(&folder, "b/t_000000.mcpl", &h);
	assert_true(h.particles > 0 && h.pdg == 22 && h.weight == 1 && h.single);
	free(found);
	expect(&folder, SL_OK, "",
		WORDS("run", "beam.yaml", "--out", "beam", "--quiet", "--force", "--set",
			"output.columns=[x, y, z]"));
	expect_list_refused(&folder, "beam/beam_000000.h5", SL_BAD_INPUT,
		"lacks columns that a list needs (u, v, w, energy, weight, time); write them with "
		"output.columns");
	remove_run(&folder, "beam");
	remove_run(&folder, "b");
}

/* --- directories ------------------------------------------------------------------------------ */

/* A directory stands for the files of its committed batches, in any format that is read. */
TEST(runs_are_read)
{
	static const char *const formats[] = {
		"output.format=npz", "output.format=openpmd", "output.format=mcpl.gz"};
	char *file, *again;
	size_t bytes, more;

	run_list(MIXED, "listed", "output.format=csv", "r");
	file = folder_read(&folder, "r/t_000000.csv", &bytes);
	for (int k = 0; k < 3; k++) {
		write_list_config(&folder, MIXED, ", batch: 64", "listed", "");
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "o", "--quiet", "--set", formats[k]));
		/* a file that no line of the manifest names is not read */
		write_text(&folder, "o/t_000099.npz", "not of the run");
		run_list("o", "listed", "output.format=csv", "q");
		again = folder_read(&folder, "q/t_000000.csv", &more);
		if (k < 2) /* MCPL rounds directions */
			assert_string_equal(again, file);
		assert_int_equal(times_in(again, "\n"), times_in(file, "\n"));
		free(again);
		remove_run(&folder, "o");
		remove_run(&folder, "q");
	}
	free(file);
	remove_run(&folder, "r");
}

TEST(other_folders_are_refused)
{
	assert_int_equal(0, mkdir(folder_path(&folder, "empty"), 0777));
	expect_list_refused(&folder, "empty", SL_USAGE,
		"c.yaml:2:24: model.list.files[0]: 'empty' is a directory without committed batches");
	run_list(MIXED, "listed", "output.format=csv", "r");
	expect_list_refused(
		&folder, "r", SL_BAD_INPUT, "r/t_000000.csv: it does not begin with MCPL");
	remove_run(&folder, "r");
}

/* A run is not replaced by one that reads it. */
TEST(runs_are_not_overwritten)
{
	run_list(MIXED, "listed", "output.format=npz", "o");
	write_list_config(&folder, "o", "", "listed", "output: {format: npz}\n");
	expect(&folder, SL_OUTPUT_IN_USE, "o/t_000000.npz: is an input of this run",
		WORDS("run", "c.yaml", "--out", "o", "--quiet", "--force"));
	remove_run(&folder, "o");
}
