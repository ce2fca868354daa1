/*
 * phase_space.c - IAEA phase spaces and sources of OpenMC: files by hand and of other writers, and the messages about
 * wrong ones. tests/property/lists.c tests files with any contents.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/formats.h"
#include "stages/formats/phase_space/iaea.h"
#include "stages/formats/phase_space/openmc.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/process.h"
#include "tests/support/program/python.h"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* --- IAEA ------------------------------------------------------------------------------------- */

/* A record of the description, written by hand: an electron of 6 MeV downwards, first of its history. */
TEST(record_written_by_hand)
{
	static const uint8_t record[] = {0xfe, 0, 0, 0xc0, 0xc0,       /* -2; -6 MeV */
		0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0xc8, 0x42,     /* 1, -2, 100 cm */
		0x9a, 0x99, 0x19, 0x3f, 0, 0, 0, 0, 0, 0, 0x80, 0x3e}; /* 0.6, 0; 0.25 */
	static const struct iaea_facts facts = {.n = 1};
	static const int8_t unknown[] = {0, 6, -6, 127, -128};
	const char *header = iaea_header(&facts);
	uint8_t other[sizeof(record)];
	struct sl_mcpl_particle p;
	struct sl_iaea h;

	assert_ok(sl_iaea_open(header, strlen(header), sizeof(record), &h));
	assert_ok(sl_iaea_particle(&h, record, &p));
	assert_int_equal(p.pdg, 11);
	assert_true(p.energy == 6 && p.weight == 0.25 && p.time == 0 && p.flags == 1);
	assert_true(p.position[0] == 1 && p.position[1] == -2 && p.position[2] == 100);
	assert_true(fabs(p.direction[0] - 0.6) < 1e-7 && p.direction[1] == 0);
	assert_true(fabs(p.direction[2] + 0.8) < 1e-7);
	memcpy(other, record, sizeof(record));
	for (size_t k = 0; k < sizeof(unknown); k++) {
		other[0] = (uint8_t)unknown[k];
		assert_fails(
			sl_iaea_particle(&h, other, &p), SL_BAD_INPUT, "only 1 to 5 are defined");
	}
}

/* Headers of other writers: no blank lines, no comments, tabs, sections in another order. */
TEST(other_ways_of_writing)
{
	static const char text[] =
		"$PARTICLES:\n2.0e0\n$BYTE_ORDER: // of the machine\n\t1234\n$RECORD_LENGTH:\r\n33\r\n"
		"$RECORD_CONTENTS:\n1\n1\n// a comment\n1\n1\n1\n1\n1\n0\n1\n$ORIG_HISTORIES:\n"
		"18446744073709551615\n$PARTICLES:\n7";
	struct sl_iaea h;

	assert_ok(sl_iaea_open(text, strlen(text), 66, &h));
	assert_int_equal(h.particles, 2);
	assert_int_equal(h.record_bytes, 33);
	assert_int_equal(h.extra_longs, 1);
	assert_int_equal(h.latch_at, 0);
	assert_true(h.histories == -1);
	assert_string_equal(h.title, "");
}

/* The first occurrence of a text in a valid header is replaced. */
TEST(wrong_headers_are_refused)
{
	static const struct {
		const char *old, *by, *message;
	} wrong[] = {{"$FILE_TYPE:\n0", "$FILE_TYPE:\n1", "file type 1 (an event generator)"},
		{"$RECORD_CONTENTS:", "$RECORD:", "no list of stored variables in a section"},
		{"1     // X", "2     // X",
			"X in $RECORD_CONTENTS: is 2, not a whole number from 0 to 1"},
		{"1     // X", "yes   // X",
			"header, line 13: X in $RECORD_CONTENTS: is 'yes   // X is stored ?', not a number"},
		{"1     // V", "nan   // V", "not a number"},
		{"2 // Extra longs", "65 // Extra longs", "number of extra longs in"},
		{"2 // Extra longs", "3 // Extra longs", "states records of 33 bytes, but its "},
		{"2     // extra long", "-2    // extra long", "type of an extra value"},
		{"    27.25   // Constant\n", "", "no Z in a section $RECORD_CONSTANT:"},
		{"$RECORD_CONSTANT:", "$CONSTANT:", "no Z in a section $RECORD_CONSTANT:"},
		{"$RECORD_LENGTH:\n33", "$RECORD_LENGTH:\n34", "states records of 34 bytes"},
		{"$RECORD_LENGTH:\n33", "$RECORD_LENGTH:\n", "no value in a section"},
		{"$BYTE_ORDER:\n1234", "$BYTE_ORDER:\n3412", "the byte order 3412"},
		{"$BYTE_ORDER", "$ORDER", "no value in a section $BYTE_ORDER:"},
		{"$PARTICLES:\n10", "$PARTICLES:\n9",
			"counts 9 particles of 33 bytes, together 297"},
		{"$PARTICLES:\n10", "$PARTICLES:\n1e30", "not a whole number from 0 to"},
		{"$PARTICLES:\n10", "$PARTICLES:\n-10", "not a whole number from 0 to"},
		{"$PARTICLES:\n10", "$PARTICLES:\n11",
			"has 330 bytes: it is damaged, was cut short"},
		{"$CHECKSUM:\n330", "$CHECKSUM:\n331", "the $CHECKSUM: of the header is 331"},
		{"$ORIG_HISTORIES:\n1000000", "$ORIG_HISTORIES:\nmany", "'many', not a number"}};
	static const struct iaea_facts facts = {
		.n = 10, .constant = {false, false, true}, .longs = 2, .latch = true};
	const char *header = iaea_header(&facts);
	struct sl_iaea h;

	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		const char *at = strstr(header, wrong[k].old);
		char text[8192];

		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - header), header, wrong[k].by,
			at + strlen(wrong[k].old));
		assert_fails(
			sl_iaea_open(text, strlen(text), 330, &h), SL_BAD_INPUT, wrong[k].message);
	}
	assert_fails(sl_iaea_open("", 0, 330, &h), SL_BAD_INPUT, "$RECORD_CONTENTS");
}

/* --- OpenMC ----------------------------------------------------------------------------------- */

/* Makes and opens a file, in memory that the caller frees. */
static enum sl_status open_openmc(
	const struct openmc_facts *facts, char **file, struct sl_openmc *o)
{
	size_t bytes;

	make_openmc(&folder, "s.h5", facts);
	*file = folder_read(&folder, "s.h5", &bytes);
	return sl_openmc_open(*file, bytes, o);
}

TEST(other_files_are_refused)
{
	static const struct {
		struct openmc_facts facts;
		const char *message;
	} rows[] = {{{.n = 100, .without = "r"}, "no member r.x"},
		{{.n = 100, .without = "u"}, "no member u.x"},
		{{.n = 100, .without = "E"}, "no member E:"},
		{{.n = 100, .without = "wgt"}, "no member wgt"},
		{{.n = 100, .without = "particle"}, "no member particle"},
		{{.n = 100, .chunked = true}, "h5repack -l source_bank:CONTI"},
		{{.n = 100, .filetype = "summary"},
			"no attribute filetype that is source or statepoint"}};
	struct sl_openmc o;
	char *file;

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		assert_fails(open_openmc(&rows[k].facts, &file, &o), SL_BAD_INPUT, rows[k].message);
		free(file);
	}
}

TEST(unknown_types_are_refused)
{
	static const struct openmc_facts facts = {.n = 1};
	struct sl_mcpl_particle p;
	struct sl_openmc o;
	char *file;

	assert_ok(open_openmc(&facts, &file, &o));
	for (int32_t type = -1; type <= 4; type += 5) {
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
