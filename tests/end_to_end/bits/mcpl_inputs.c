/*
 * mcpl_inputs.c - runs that read MCPL files: files of the reference implementation pass through
 * unchanged, and several are read in sequence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

/* --- particles -------------------------------------------------------------------------------- */

/* Numbers are copied to the last bit; a NaN stays a NaN. */
static bool is_same(double found, double expected)
{
	return found == expected || (isnan(found) && isnan(expected));
}

static void expect_same(const struct sl_mcpl_particle *found,
	const struct sl_mcpl_particle *expected, const char *name)
{
	bool same = found->pdg == expected->pdg && found->flags == expected->flags &&
	            is_same(found->energy, expected->energy) &&
	            is_same(found->time, expected->time) &&
	            is_same(found->weight, expected->weight);

	for (int i = 0; i < 3; i++)
		same = same && is_same(found->position[i], expected->position[i]) &&
		       is_same(found->polarisation[i], expected->polarisation[i]) &&
		       is_same(found->direction[i], expected->direction[i]);
	if (!same)
		fail_msg(
			"%s: a particle with z %.17g, energy %.17g, code %d was written with %.17g, "
			"%.17g, %d",
			name, expected->position[2], expected->energy, expected->pdg,
			found->position[2], found->energy, found->pdg);
}

/* Checks that the files t_000000 to t_00000n-1 in out hold the particles of name, in order. */
static void expect_particles(const char *out, const char *suffix, int n, const char *name)
{
	struct sl_mcpl_header expected_header, found_header;
	struct sl_mcpl_particle *expected = particles_of(&folder, name, &expected_header);
	uint64_t at = 0;

	for (int k = 0; k < n; k++) {
		char file[128];
		struct sl_mcpl_particle *found;

		snprintf(file, sizeof(file), "%s/t_%06d%s", out, k, suffix);
		found = particles_of(&folder, file, &found_header);
		assert_int_equal(found_header.flags, expected_header.flags);
		assert_int_equal(found_header.polarised, expected_header.polarised);
		assert_int_equal(found_header.pdg, expected_header.pdg);
		assert_true(found_header.weight == expected_header.weight);
		for (uint64_t i = 0; i < found_header.particles; i++)
			expect_same(&found[i], &expected[at++], name);
		free(found);
	}
	assert_int_equal(at, expected_header.particles);
	free(expected);
}

/* --- pass through unchanged ------------------------------------------------------------------- */

/* Files that the reference implementation reads. */
static const char *const reference_files[] = {"reffile_1.mcpl", "reffile_2.mcpl", "reffile_3.mcpl",
	"reffile_4.mcpl", "reffile_5.mcpl", "reffile_6.mcpl", "reffile_7.mcpl", "reffile_8.mcpl",
	"reffile_crash.mcpl", "reffile_notreallygz.mcpl.gz", "example.mcpl", "miscphys.mcpl.gz",
	"ref_statsum.mcpl.gz", "difficult_unitvector.mcpl.gz"};
enum { N_REFERENCE_FILES = sizeof(reference_files) / sizeof(reference_files[0]) };

TEST(reference_files_pass_through_unchanged)
{
	for (int k = 0; k < N_REFERENCE_FILES; k++) {
		struct sl_mcpl_header h;
		char batch[64];
		int n;

		copy_reference_list(&folder, reference_files[k]);
		free(particles_of(&folder, reference_files[k], &h));
		assert_true(h.particles > 0);
		snprintf(batch, sizeof(batch), ", batch: %d", (int)(h.particles + 2) / 3);
		n = (int)((h.particles + (h.particles + 2) / 3 - 1) / ((h.particles + 2) / 3));
		write_list_config(
			&folder, reference_files[k], batch, "listed", "output: {format: mcpl}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "p", "--quiet"));
		expect_particles("p", ".mcpl", n, reference_files[k]);
		expect(&folder, SL_OK, "", WORDS("verify", "p", "--quiet"));
		write_list_config(&folder, reference_files[k], batch, "listed",
			"output: {format: mcpl.gz, mcpl: {precision: double}}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "z", "--quiet"));
		expect_particles("z", ".mcpl.gz", n, reference_files[k]);
		/* the output is a valid input */
		write_list_config(
			&folder, "p/t_000000.mcpl", "", "listed", "output: {format: mcpl}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "again", "--quiet"));
		expect_particles("again", ".mcpl", 1, "p/t_000000.mcpl");
		remove_run(&folder, "p");
		remove_run(&folder, "z");
		remove_run(&folder, "again");
	}
}

/* --- batches and devices ---------------------------------------------------------------------- */

#define MIXED                                                                                 \
	"example.mcpl, miscphys.mcpl.gz, reffile_5.mcpl, ref_statsum.mcpl.gz, example.mcpl, " \
	"miscphys.mcpl.gz"

static void copy_mixed_lists(void)
{
	copy_reference_list(&folder, "example.mcpl");
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	copy_reference_list(&folder, "reffile_5.mcpl");
	copy_reference_list(&folder, "ref_statsum.mcpl.gz");
}

/* Batch boundaries fall inside files, and file boundaries fall inside batches. */
TEST(files_are_read_in_sequence)
{
	static const char *const files[] = {"example.mcpl", "miscphys.mcpl.gz", "reffile_5.mcpl",
		"ref_statsum.mcpl.gz", "example.mcpl", "miscphys.mcpl.gz"};
	struct sl_mcpl_particle *found = NULL, *expected;
	struct sl_mcpl_header h, of_batch = {.particles = 0};
	uint64_t at = 0;
	int batch = 0;

	copy_mixed_lists();
	write_list_config(
		&folder, MIXED, ", batch: 70, threads: 3", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "f", "--quiet"));
	for (int k = 0; k < 6; k++) {
		expected = particles_of(&folder, files[k], &h);
		for (uint64_t i = 0; i < h.particles; i++, at++) {
			char name[64];

			if (at == of_batch.particles) {
				free(found);
				snprintf(name, sizeof(name), "f/t_%06d.mcpl", batch++);
				found = particles_of(&folder, name, &of_batch);
				at = 0;
			}
			expect_same(&found[at], &expected[i], files[k]);
		}
		free(expected);
	}
	free(found);
	assert_int_equal(at, of_batch.particles);
	assert_int_equal(batch, 36);
}
