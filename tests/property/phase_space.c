/*
 * phase_space.c - properties of IAEA phase spaces and source files of OpenMC: any contents are
 * read; a damaged file gives an error or particles. text/phase_space.txt has the messages about
 * wrong ones.
 */
#include <stdlib.h>

#include "stages/formats/formats.h"
#include "stages/formats/phase_space/phase_space.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/formats/tables.h"
#include "tests/support/program/fixture.h"
#include "tests/support/property/property.h"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* --- IAEA ------------------------------------------------------------------------------------- */

static struct iaea_facts any_iaea(struct rnd *g)
{
	struct iaea_facts f = {.n = rnd_size(g), .big_endian = rnd_one_in(g, 2)};

	for (int k = 0; k < 7; k++)
		f.constant[k] = rnd_one_in(g, 3);
	f.floats = rnd_below(g, 3);
	f.longs = rnd_below(g, 4);
	f.latch = f.longs > 0 && rnd_one_in(g, 2);
	return f;
}

PROPERTY(records_of_iaea_are_read, 200)
{
	const struct iaea_facts f = any_iaea(g);
	const char *header = iaea_header(&f);
	uint8_t record[128];
	struct sl_iaea h;

	assert_ok(sl_iaea_open(header, (uint64_t)f.n * iaea_record_bytes(&f), &h));
	assert_int_equal(h.record_bytes, iaea_record_bytes(&f));
	assert_int_equal(h.particles, f.n);
	assert_string_equal(h.title, "a test");
	assert_true(h.histories == 1e6);
	for (uint32_t i = 0; i < f.n; i++) {
		struct sl_mcpl_particle found, expected = iaea_expected(&f, i);

		iaea_record(&f, i, record);
		assert_ok(sl_iaea_particle(&h, record, &found));
		assert_memory_equal(&found, &expected, sizeof(found));
	}
}

/* A header is cut before its last necessary number, or a byte of it is changed. */
PROPERTY(damaged_headers_of_iaea_crash_nothing, 400)
{
	const struct iaea_facts f = any_iaea(g);
	const char *header = iaea_header(&f);
	const size_t end = (size_t)(strstr(header, "$PARTICLES:\n") - header) + 12;
	const uint64_t bytes = (uint64_t)f.n * iaea_record_bytes(&f);

	for (int i = 0; i < 40; i++) {
		size_t cut = i % 2 ? rnd_below(g, (uint32_t)end + 1) : strlen(header);
		char *copy = strndup(header, cut);
		struct sl_iaea h;
		enum sl_status s;

		if (i % 2 == 0)
			rnd_change(g, copy, cut);
		s = sl_iaea_open(copy, bytes, &h);
		assert_true(s == SL_BAD_INPUT || (s == SL_OK && i % 2 == 0));
		if (s == SL_OK)
			assert_true(h.particles * h.record_bytes == bytes);
		free(copy);
	}
}

/* --- OpenMC ----------------------------------------------------------------------------------- */

static struct openmc_facts any_openmc(struct rnd *g)
{
	return (struct openmc_facts){.n = rnd_size(g),
		.coded = rnd_one_in(g, 2),
		.no_time = rnd_one_in(g, 3),
		.no_surface = rnd_one_in(g, 3),
		.variable = rnd_one_in(g, 3),
		.padded = rnd_one_in(g, 2),
		.filetype = rnd_one_in(g, 2) ? "statepoint" : "source"};
}

/*
 * Every item is read; every cut is refused; a changed byte makes no item lie beyond the end of the
 * file.
 */
PROPERTY(sources_of_openmc_are_read, 56)
{
	const struct openmc_facts f = any_openmc(g);
	struct sl_openmc o;
	size_t bytes, cut;
	char *file, *copy;

	make_openmc(&folder, "s.h5", &f);
	file = folder_read(&folder, "s.h5", &bytes);
	assert_ok(sl_openmc_open(file, bytes, &o));
	assert_int_equal(o.particles, f.n);
	for (uint32_t i = 0; i < f.n; i++) {
		struct sl_mcpl_particle found, expected = openmc_expected(&f, i);

		assert_ok(sl_openmc_particle(
			&o, (const uint8_t *)file + o.at + (size_t)i * o.item_bytes, &found));
		assert_memory_equal(&found, &expected, sizeof(found));
	}
	for (int32_t type = -1; f.n > 0 && !f.coded && type <= 4; type += 5) {
		struct sl_mcpl_particle p;

		memcpy(file + o.at + o.offset[SL_OPENMC_PARTICLE], &type, sizeof(type));
		assert_fails(sl_openmc_particle(&o, (const uint8_t *)file + o.at, &p), SL_BAD_INPUT,
			"OpenMC defines 0 to 3");
	}
	cut = 1 + rnd_below(g, (uint32_t)bytes - 1);
	copy = exact_copy(file, cut);
	assert_int_equal(sl_openmc_open(copy, cut, &o), SL_BAD_INPUT);
	free(copy);
	for (int i = 0; i < 5; i++) {
		enum sl_status s;

		copy = exact_copy(file, bytes);
		rnd_change(g, copy, bytes);
		limit_hdf5(true);
		s = sl_openmc_open(copy, bytes, &o);
		limit_hdf5(false);
		assert_true(s == SL_OK || s == SL_BAD_INPUT);
		if (s == SL_OK)
			assert_true(o.at + o.particles * o.item_bytes <= bytes);
		free(copy);
	}
	free(file);
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

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct sl_openmc o;
		size_t bytes;
		char *file;

		make_openmc(&folder, "s.h5", &rows[k].facts);
		file = folder_read(&folder, "s.h5", &bytes);
		assert_fails(sl_openmc_open(file, bytes, &o), SL_BAD_INPUT, rows[k].message);
		free(file);
	}
}

PROPERTY_FILE()
