/*
 * phase_space_inputs.c - runs that read IAEA phase spaces and source files of OpenMC; sluice info and
 * sluice convert of such files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { N = 300 };

static const struct iaea_facts iaea = {
	.n = N, .constant = {false, false, true}, .floats = 1, .longs = 2, .latch = true};
static const struct iaea_facts swapped = {.n = N, .big_endian = true, .constant = {[6] = true}};
static const struct openmc_facts openmc = {.n = N};
static const struct openmc_facts coded = {.n = N, .coded = true, .no_time = true};

/* The list of all formats, in this order. */
#define MIXED "a.IAEAphsp, b.IAEAheader, s.h5, c.h5"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	make_iaea(&folder, "a", &iaea);
	make_iaea(&folder, "b", &swapped);
	make_openmc(&folder, "s.h5", &openmc);
	make_openmc(&folder, "c.h5", &coded);
}

/* Particle i of the files of MIXED. */
static struct sl_mcpl_particle expected_of(uint32_t i)
{
	switch (i / N) {
	case 0:
		return iaea_expected(&iaea, i % N);
	case 1:
		return iaea_expected(&swapped, i % N);
	case 2:
		return openmc_expected(&openmc, i % N);
	default:
		return openmc_expected(&coded, i % N);
	}
}

/* --- runs ------------------------------------------------------------------------------------- */

static void expect_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 4e-15 * fmax(1, fabs(expected))))
		fail_msg("%.17g was written with %.17g", expected, found);
}

/* The records have doubles because the files of OpenMC do; MCPL packs directions only to 1e-15. */
TEST(particles_are_written_as_mcpl)
{
	struct sl_mcpl_particle *found;
	struct sl_mcpl_header h;

	write_list_config(&folder, MIXED, ", batch: 170, threads: 3", "listed",
		"output: {format: mcpl, joined: true}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "m", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "m", "--quiet"));
	found = particles_of(&folder, "m/t.mcpl", &h);
	assert_int_equal(h.particles, 4 * N);
	assert_true(!h.single && h.flags && h.weight == 0 && h.pdg == 0);
	for (uint32_t i = 0; i < 4 * N; i++) {
		struct sl_mcpl_particle expected = expected_of(i);
		const double *d = expected.direction;
		double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);

		/* a record has no length of a direction; one that is too long in OpenMC is changed */
		for (int k = 0; k < 3 && fabs(length - 1) < 1e-6; k++)
			expect_near(found[i].direction[k], d[k]);
		memcpy(found[i].direction, d, sizeof(expected.direction));
		expect_particle(&found[i], &expected);
	}
	free(found);
	remove_run(&folder, "m");
}

/* The next number of a line of a CSV file. */
static double next_number(char **at)
{
	double v = strtod(*at, at);

	*at += **at == ',';
	return v;
}

/* The same of a column of floats, which are printed with the digits that a float needs. */
static float next_float(char **at)
{
	return (float)next_number(at);
}

/* Columns are single precision in cm, keV and ns. */
TEST(columns_have_internal_units)
{
	char *text, *at;
	size_t bytes;

	write_list_config(&folder, MIXED, "", "listed",
		"output: {format: csv, columns: [x, y, z, u, v, w, energy, weight, time, pdg, "
		"userflags]}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "v", "--quiet"));
	text = folder_read(&folder, "v/t_000000.csv", &bytes);
	at = strchr(strstr(text, "x,y,z"), '\n');
	for (uint32_t i = 0; i < 4 * N; i++) {
		struct sl_mcpl_particle p = expected_of(i);
		struct sl_particle expected = sl_mcpl_to_particle(&p);

		at++;
		assert_true(next_float(&at) == expected.x);
		assert_true(next_float(&at) == expected.y);
		assert_true(next_float(&at) == expected.z);
		assert_true(next_float(&at) == expected.u);
		assert_true(next_float(&at) == expected.v);
		assert_true(next_float(&at) == expected.w);
		assert_true(next_float(&at) == (float)(p.energy * 1e3));
		assert_true(next_float(&at) == expected.weight);
		assert_true(next_float(&at) == (float)(p.time * 1e6));
		assert_true(next_number(&at) == p.pdg);
		assert_true(next_number(&at) == p.flags);
	}
	free(text);
	remove_run(&folder, "v");
}

/* A pattern stands for records, so a header that matches it too is not a second list. */
TEST(headers_do_not_match_patterns)
{
	char *out;

	write_list_config(&folder, "\"[ab].IAEA*\"", "", "listed", "");
	out = output_of(&folder, WORDS("plan", "c.yaml"));
	assert_non_null(strstr(out, "600 particles"));
	assert_non_null(strstr(out, "a.IAEAphsp: 300 particles; extra values of its records are"));
	free(out);
}

TEST(histories_are_a_sum)
{
	char *out;

	write_list_config(
		&folder, "a.IAEAphsp, b.IAEAphsp", "", "ekin > 9 MeV", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "h", "--quiet"));
	out = output_of(&folder, WORDS("info", "h/t_000000.mcpl"));
	assert_non_null(strstr(out, "stat:sum:iaea_orig_histories:                 2000000\n"));
	assert_non_null(strstr(out, "comment      Title: a test\n"));
	free(out);
	remove_run(&folder, "h");
}

/* --- info and convert ------------------------------------------------------------------------- */

TEST(info_prints_lists)
{
	char *out = output_of(&folder, WORDS("info", "a.IAEAheader", "--head", "1"));

	assert_non_null(strstr(out, "a.IAEAheader: IAEA phase space, "));
	assert_non_null(strstr(out, "comment      Title: a test\n"));
	assert_non_null(strstr(out, "300 particles of 40 bytes as MCPL, single precision"));
	assert_non_null(strstr(out, "extra values of its records are not read, except LATCH"));
	assert_non_null(strstr(out, "2212         proton                   60"));
	free(out);
	out = output_of(&folder, WORDS("info", "s.h5"));
	assert_non_null(strstr(out, "s.h5: OpenMC source, "));
	assert_non_null(strstr(out, "300 particles of 72 bytes as MCPL, double precision"));
	assert_non_null(strstr(out, "2112         neutron                  75"));
	free(out);
}

/* A list that is converted has the records of a run that keeps all. */
TEST(convert_makes_lists)
{
	struct sl_mcpl_particle *found;
	struct sl_mcpl_header h;

	make_openmc(&folder, "d.h5", &openmc);
	expect(&folder, SL_OK, "", WORDS("convert", "s.h5", "d.h5", "--to", "two.mcpl.gz"));
	found = particles_of(&folder, "two.mcpl.gz", &h);
	assert_int_equal(h.particles, 2 * N);
	for (uint32_t i = 0; i < 2 * N; i++) {
		struct sl_mcpl_particle expected = openmc_expected(&openmc, i % N);

		memcpy(found[i].direction, expected.direction, sizeof(expected.direction));
		expect_particle(&found[i], &expected);
	}
	free(found);
	expect(&folder, SL_OK, "", WORDS("convert", "a.IAEAphsp", "--to", "a.npz"));
	expect(&folder, SL_USAGE, "(all inputs must be particle lists, as MCPL is, or none)",
		WORDS("convert", "s.h5", "a.npz", "--to", "mixed.mcpl"));
	write_list_config(&folder, "a.npz", "", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "n", "--quiet"));
	found = particles_of(&folder, "n/t_000000.mcpl", &h);
	for (uint32_t i = 0; i < N; i++) {
		struct sl_mcpl_particle expected = iaea_expected(&iaea, i);

		assert_int_equal(found[i].pdg, expected.pdg);
		assert_int_equal(found[i].flags, expected.flags);
		assert_true(found[i].position[0] == expected.position[0]);
	}
	free(found);
	remove_run(&folder, "n");
}

/* --- damage ----------------------------------------------------------------------------------- */

TEST(damaged_lists_are_refused)
{
	size_t bytes;
	char *file;

	make_iaea(&folder, "x", &iaea);
	file = folder_read(&folder, "x.IAEAphsp", &bytes);
	folder_write(&folder, "x.IAEAphsp", file, bytes - 1);
	expect_list_refused(&folder, "x.IAEAphsp", SL_BAD_INPUT,
		"x.IAEAphsp: the header counts 300 particles of 37 bytes, together 11100 bytes, but "
		"the .IAEAphsp file has 11099 bytes");
	file[37 * 250] = 9;
	folder_write(&folder, "x.IAEAphsp", file, bytes);
	expect_list_refused(&folder, "x.IAEAphsp", SL_BAD_INPUT,
		"x.IAEAphsp: particle 250 (from 0): the type of the particle is 9");
	expect(&folder, SL_BAD_INPUT, "particle 250 (from 0)", WORDS("info", "x.IAEAphsp"));
	expect(&folder, SL_BAD_INPUT, "particle 250 (from 0)",
		WORDS("convert", "x.IAEAphsp", "--to", "x.mcpl"));
	assert_false(folder_has(&folder, "x.mcpl"));
	free(file);
	assert_int_equal(0, unlink(folder_path(&folder, "x.IAEAheader")));
	expect_list_refused(&folder, "x.IAEAphsp", SL_DISK,
		"an IAEA phase space consists of a .IAEAheader and a .IAEAphsp file: cannot open "
		"x.IAEAheader");
	make_openmc(&folder, "x.h5", &(struct openmc_facts){.n = 10, .without = "E"});
	expect_list_refused(&folder, "x.h5", SL_BAD_INPUT, "x.h5: source_bank has no member E");
	expect(&folder, SL_BAD_INPUT, "source_bank has no member E", WORDS("info", "x.h5"));
}

/* The number of the particle and the reason, as for MCPL. */
TEST(impossible_numbers_are_refused)
{
	static const struct iaea_facts facts = {.n = 3};
	const float not_finite = NAN, large = 3e38f;
	size_t bytes;
	char *file;

	make_iaea(&folder, "y", &facts);
	file = folder_read(&folder, "y.IAEAphsp", &bytes);
	memcpy(file + 29 + 25, &not_finite, sizeof(not_finite));
	folder_write(&folder, "y.IAEAphsp", file, bytes);
	expect_list_refused(&folder, "y.IAEAphsp", SL_BAD_INPUT,
		"particle 1 (from 0): its weight is nan, but weights are summed");
	memcpy(file + 29 + 25, file + 25, sizeof(not_finite));
	memcpy(file + 29 + 1, &large, sizeof(large));
	folder_write(&folder, "y.IAEAphsp", file, bytes);
	expect_list_refused(&folder, "y.IAEAphsp", SL_BAD_INPUT,
		"particle 1 (from 0): its energy is 3.00000001e+38, but columns are in single "
		"precision");
	free(file);
}

/* A constant that leaves single precision: infinity, or a weight that would be 0. */
TEST(impossible_constants_are_refused)
{
	static const struct iaea_facts facts = {.n = 3, .constant = {[0] = true, [6] = true}};
	static const struct {
		const char *old, *by, *message; /* NULL: none */
	} cases[] = {
		{"1.5 ", "-1e39 ", "X in $RECORD_CONSTANT: is -1e+39, but columns are in single"},
		{"0.125 ", "1e39 ", "Weight in $RECORD_CONSTANT: is 1e+39, but columns"},
		{"0.125 ", "1e-46 ",
			"is 1e-46, but columns are in single precision (1.4e-45 to "
			"3.4e+38); scale the weight"},
		{"1.5 ", "1e-46 ", NULL}, {"0.125 ", "0.0 ", NULL}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes;
		char text[8192], *valid, *at;

		make_iaea(&folder, "c", &facts);
		valid = folder_read(&folder, "c.IAEAheader", &bytes);
		valid[bytes - 1] = '\0';
		at = strstr(valid, cases[i].old);
		assert_non_null(at);
		*at = '\0';
		snprintf(text, sizeof(text), "%s%s%s\n", valid, cases[i].by,
			at + strlen(cases[i].old));
		folder_write(&folder, "c.IAEAheader", text, strlen(text));
		if (cases[i].message)
			expect_list_refused(&folder, "c.IAEAphsp", SL_BAD_INPUT, cases[i].message);
		else
			expect(&folder, SL_OK, "", WORDS("info", "c.IAEAphsp"));
		free(valid);
	}
}

/* A changed header is a changed input: its bytes are part of the checksum. */
TEST(changed_headers_are_detected)
{
	size_t bytes;
	char *text;

	make_iaea(&folder, "z", &iaea);
	write_list_config(&folder, "z.IAEAphsp", "", "listed", "output: {format: npz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "z", "--quiet"));
	text = folder_read(&folder, "z.IAEAheader", &bytes);
	memcpy(strstr(text, "27.25"), "28.25", 5);
	folder_write(&folder, "z.IAEAheader", text, bytes);
	expect(&folder, SL_BAD_INPUT, "z.IAEAphsp was changed (its CRC-32 is",
		WORDS("verify", "z", "--quiet"));
	free(text);
	remove_run(&folder, "z");
}
