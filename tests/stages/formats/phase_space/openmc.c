/* openmc.c - reads source files of OpenMC that HDF5 made, and refuses other and damaged files. */
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/formats.h"
#include "stages/formats/phase_space/openmc.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/python.h"
#include "tests/support/program/process.h"

enum { N = 100 };

/* Makes and reads a file, in memory of exactly its size, which the caller frees. */
static char *make(const struct openmc_facts *facts, size_t *bytes)
{
	make_openmc(&folder, "s.h5", facts);
	return folder_read(&folder, "s.h5", bytes);
}

TEST(every_item_is_read)
{
	static const struct openmc_facts valid[] = {{.n = N}, {.n = N, .coded = true},
		{.n = N, .no_time = true, .no_surface = true}, {.n = N, .variable = true},
		{.n = N, .padded = true, .coded = true}, {.n = N, .filetype = "statepoint"},
		{.n = 0}};

	for (size_t k = 0; k < sizeof(valid) / sizeof(valid[0]); k++) {
		size_t bytes;
		char *file = make(&valid[k], &bytes);
		struct sl_openmc o;

		assert_ok(sl_openmc_open(file, bytes, &o));
		assert_int_equal(o.particles, valid[k].n);
		for (uint32_t i = 0; i < valid[k].n; i++) {
			struct sl_mcpl_particle found, expected = openmc_expected(&valid[k], i);

			assert_ok(sl_openmc_particle(&o,
				(const uint8_t *)file + o.at + (size_t)i * o.item_bytes, &found));
			expect_particle(&found, &expected);
		}
		free(file);
	}
}

static void expect_refused(const struct openmc_facts *facts, const char *message)
{
	size_t bytes;
	char *file = make(facts, &bytes);
	struct sl_openmc o;

	assert_fails(sl_openmc_open(file, bytes, &o), SL_BAD_INPUT, message);
	free(file);
}

TEST(other_files_are_refused)
{
	static const char *const members[] = {"r", "u", "E", "wgt", "particle"};
	static const char *const messages[] = {"no member r.x", "no member u.x",
		"no member E:", "no member wgt", "no member particle"};

	for (int k = 0; k < 5; k++)
		expect_refused(&(struct openmc_facts){.n = N, .without = members[k]}, messages[k]);
	expect_refused(
		&(struct openmc_facts){.n = N, .chunked = true}, "h5repack -l source_bank:CONTI");
	expect_refused(&(struct openmc_facts){.n = N, .filetype = "summary"},
		"no attribute filetype that is source or statepoint");
}

/* Of a file that was cut short, HDF5 or the check of the sizes refuses every length. */
TEST(cut_files_are_refused)
{
	static const struct openmc_facts facts = {.n = N};
	size_t bytes;
	char *file = make(&facts, &bytes);
	struct sl_openmc o;

	for (size_t n = 1; n < bytes; n += bytes / 16) {
		char *cut = (char *)malloc(n);

		assert_non_null(cut);
		memcpy(cut, file, n);
		assert_int_equal(sl_openmc_open(cut, n, &o), SL_BAD_INPUT);
		free(cut);
	}
	free(file);
}

/* No flipped byte of the metadata crashes the reader, or makes it read after the end of the file. */
TEST(damaged_metadata_is_survived)
{
	static const struct openmc_facts facts = {.n = 4};
	size_t bytes;
	char *file = make(&facts, &bytes);
	struct sl_openmc o;

	for (size_t at = 0; at < bytes; at += 37) {
		enum sl_status s;

		file[at] ^= 0x41;
		s = sl_openmc_open(file, bytes, &o);
		assert_true(s == SL_OK || s == SL_BAD_INPUT);
		if (s == SL_OK)
			assert_true(o.at + o.particles * o.item_bytes <= bytes);
		file[at] ^= 0x41;
	}
	free(file);
}

TEST(unknown_types_are_refused)
{
	static const struct openmc_facts facts = {.n = 1};
	struct sl_mcpl_particle p;
	size_t bytes;
	char *file = make(&facts, &bytes);
	struct sl_openmc o;

	assert_ok(sl_openmc_open(file, bytes, &o));
	for (int k = -1; k <= 4; k += 5) {
		int32_t type = k;

		memcpy(file + o.at + o.offset[SL_OPENMC_PARTICLE], &type, sizeof(type));
		assert_fails(sl_openmc_particle(&o, (const uint8_t *)file + o.at, &p), SL_BAD_INPUT,
			"OpenMC defines 0 to 3");
	}
	free(file);
}

/*
 * A file as openmc.write_source_file() makes it: h5py, with the type that the documentation of OpenMC
 * gives, and the attribute filetype only.
 */
static const char script[] =
	"import h5py, numpy as np\n"
	"p = np.dtype([('x', '<f8'), ('y', '<f8'), ('z', '<f8')])\n"
	"t = np.dtype([('r', p), ('u', p), ('E', '<f8'), ('time', '<f8'), ('wgt', '<f8'),\n"
	"    ('delayed_group', '<i4'), ('surf_id', '<i4'), ('particle', '<i4')])\n"
	"a = np.array([((1, 2, 3), (0, 0.6, -0.8), 2.5e6, 1e-8, 0.5, 0, 12, 0),\n"
	"    ((4, 5, 6), (1, 0, 0), 511e3, 0, 1, 0, 13, 1)], dtype=t)\n"
	"with h5py.File('python.h5', 'w') as f:\n"
	"    f.attrs['filetype'] = np.bytes_('source')\n"
	"    f.create_dataset('source_bank', data=a, dtype=t)\n";

TEST(files_of_h5py_are_read)
{
	const char *const argv[] = {PYTHON, "-c", script, NULL};
	const struct process python = {.argv = argv, .folder = folder.path};
	struct sl_mcpl_particle p;
	struct ending e;
	struct sl_openmc o;
	size_t bytes;
	char *file;

	need_h5py();
	process_run(&python, HANG_SECONDS, &e);
	assert_int_equal(e.code, 0);
	process_free(&e);
	file = folder_read(&folder, "python.h5", &bytes);
	assert_ok(sl_openmc_open(file, bytes, &o));
	assert_int_equal(o.particles, 2);
	assert_ok(sl_openmc_particle(&o, (const uint8_t *)file + o.at, &p));
	assert_true(p.position[2] == 3 && p.direction[2] == -0.8 && p.energy == 2.5e6 * 1e-6);
	assert_true(p.time == 1e-8 * 1e3 && p.weight == 0.5 && p.pdg == 2112 && p.flags == 12);
	assert_ok(sl_openmc_particle(&o, (const uint8_t *)file + o.at + o.item_bytes, &p));
	assert_true(p.pdg == 22 && p.flags == 13 && p.direction[0] == 1);
	free(file);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
