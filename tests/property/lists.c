/*
 * lists.c - properties of the particle lists, images and manifest lines that are read: MCPL with any flags, IAEA phase
 * spaces, OpenMC sources. What is written with any contents is read back; a damaged file gives an error or particles.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/manifest.h"
#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/image_file.h"
#include "stages/formats/images/image_file_read.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/phase_space/iaea.h"
#include "stages/formats/phase_space/openmc.h"
#include "stages/inputs/mcpl_columns.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/formats/tables.h"
#include "tests/support/property/property.h"
#include "tests/support/program/fixture.h"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* A copy of exactly so many bytes, so that AddressSanitizer sees a byte that is read after them. */
static char *copy_of(const char *file, size_t bytes)
{
	char *copy = (char *)malloc(bytes + (bytes == 0));

	assert_non_null(copy);
	memcpy(copy, file, bytes);
	return copy;
}

/* Changes a byte of a file to another one. */
static void change(struct rnd *g, char *file, size_t bytes)
{
	size_t at = rnd_below(g, (uint32_t)bytes);

	file[at] = (char)(rnd_one_in(g, 4) ? (uint64_t)~file[at]
					   : (uint64_t)file[at] ^ 1u << rnd_below(g, 8));
}

/* --- MCPL ------------------------------------------------------------------------------------- */

static void any_direction(struct rnd *g, double d[3])
{
	double length = 0;

	for (int k = 0; k < 3; k++) {
		d[k] = rnd_between(g, -1, 1);
		/* some are almost in the x-y plane, and some are axes */
		d[k] *= rnd_one_in(g, 5) ? exp2(-(double)rnd_below(g, 128)) : 1;
	}
	for (int k = 0; rnd_one_in(g, 8) && k < 2; k++)
		d[k] = 0;
	for (int k = 0; k < 3; k++)
		length += d[k] * d[k];
	for (int k = 0; k < 3; k++)
		d[k] /= sqrt(length);
}

/* Any direction of unit length is read back to a few units of the last place. */
PROPERTY(directions_are_read_back, 1000)
{
	for (int i = 0; i < 100; i++) {
		double d[3], packed[3], narrow[3], back[3];

		any_direction(g, d);
		sl_mcpl_pack(d, packed);
		assert_true(fabs(packed[2]) == 1);
		sl_mcpl_unpack(packed, back);
		for (int k = 0; k < 3; k++) {
			assert_true(fabs(back[k] - d[k]) <= 1e-15);
			narrow[k] = (double)(float)packed[k];
		}
		sl_mcpl_unpack(narrow, back);
		for (int k = 0; k < 3; k++)
			assert_true(fabs(back[k] - d[k]) <= 1.3e-7);
	}
}

enum { PARTICLES_MOST = 1 << 12 };

/* A list in memory, and its particles. */
struct list {
	struct sl_mcpl_header h;
	struct sl_mcpl_particle p[PARTICLES_MOST];
	char *file;
	size_t bytes;
};

/* A double of any magnitude, with digits that single precision lacks. */
static double any_double(struct rnd *g)
{
	return (double)rnd_float(g) * (1 + rnd_between(g, 0, 1e-8));
}

static struct list *any_list(struct rnd *g, bool gzip)
{
	static const char *const strings[] = {"a comment", "", "another one", "name", "a blob"};
	static struct list l;

	l.h = (struct sl_mcpl_header){.version = 3,
		.particles = rnd_size(g),
		.comments = rnd_below(g, 4),
		.blobs = rnd_below(g, 2),
		.flags = rnd_one_in(g, 2),
		.polarised = rnd_one_in(g, 2),
		.single = rnd_one_in(g, 2),
		.pdg = rnd_one_in(g, 2) ? 2112 : 0,
		.weight = rnd_one_in(g, 2) ? 0.1 : 0};
	for (uint64_t i = 0; i < l.h.particles; i++) {
		struct sl_mcpl_particle *p = &l.p[i];

		memset(p, 0, sizeof(*p));
		any_direction(g, p->direction);
		for (int k = 0; k < 3; k++) {
			p->position[k] = any_double(g);
			p->polarisation[k] = l.h.polarised ? any_double(g) : 0;
		}
		p->energy = fabs(any_double(g));
		p->time = any_double(g);
		p->weight = l.h.weight != 0 ? l.h.weight : any_double(g);
		p->pdg = l.h.pdg ? l.h.pdg : (int32_t)rnd_bits(g);
		p->flags = l.h.flags ? (uint32_t)rnd_bits(g) : 0;
	}
	make_list(&folder, gzip ? "x.mcpl.gz" : "x.mcpl", &l.h, strings, l.p);
	l.file = folder_read(&folder, gzip ? "x.mcpl.gz" : "x.mcpl", &l.bytes);
	return &l;
}

/* The numbers in the precision of the file; any NaN is as good as another. */
static void expect_number(double found, double want, bool single)
{
	want = single ? (double)(float)want : want;
	if (found != want && !(isnan(found) && isnan(want)))
		fail_msg("%.17g, expected %.17g", found, want);
}

/* l: NULL, or the particles that are expected. */
static enum sl_status read_list(const char *file, size_t bytes, const struct list *l)
{
	struct sl_mcpl_stream s;
	enum sl_status status;
	bool trailing;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_skip_head(&s);
	if (l)
		assert_int_equal(s.header.particles, l->h.particles);
	for (uint64_t i = 0; status == SL_OK && i < s.header.particles; i++) {
		const struct sl_mcpl_particle *want = l ? &l->p[i] : NULL;
		struct sl_mcpl_particle p;

		status = sl_mcpl_next(&s, &p);
		for (int k = 0; status == SL_OK && l && k < 3; k++) {
			expect_number(p.position[k], want->position[k], l->h.single);
			expect_number(p.polarisation[k], want->polarisation[k], l->h.single);
			assert_true(fabs(p.direction[k] - want->direction[k]) <= 1.3e-7);
		}
		if (status != SL_OK || !l)
			continue;
		expect_number(p.energy, want->energy, l->h.single);
		expect_number(p.time, want->time, l->h.single);
		expect_number(p.weight, want->weight, l->h.single && l->h.weight == 0);
		assert_int_equal(p.pdg, want->pdg);
		assert_int_equal(p.flags, want->flags);
	}
	if (status == SL_OK)
		status = sl_mcpl_end(&s, &trailing);
	sl_mcpl_close(&s);
	return status;
}

/* A file as gzip members of this many bytes, which end anywhere; the caller frees it. */
static char *in_members(const char *file, size_t bytes, size_t member, size_t *made_bytes)
{
	size_t n = (bytes + member - 1) / member;
	uint8_t *made = (uint8_t *)malloc(n * sl_gzip_stored_bytes(member));

	*made_bytes = 0;
	for (size_t at = 0; at < bytes; at += member)
		*made_bytes += sl_gzip_store(
			file + at, bytes - at < member ? bytes - at : member, made + *made_bytes);
	return (char *)made;
}

PROPERTY(lists_are_read_back, 300)
{
	static const size_t members[] = {1, 7, 48, 100, 65535, 65536, 100000};
	struct list *l = any_list(g, false);
	size_t bytes;
	char *gz = in_members(l->file, l->bytes, rnd_of(g, members), &bytes);

	assert_ok(read_list(l->file, l->bytes, l));
	assert_ok(read_list(gz, bytes, l));
	free(gz);
	free(l->file);
}

/* A file that is cut short is refused; a changed one crashes nothing, and in gzip has the same particles. */
PROPERTY(damaged_lists_are_refused, 240)
{
	const bool gzip = rnd_one_in(g, 2);
	struct list *l = any_list(g, gzip);

	for (int i = 0; i < 20; i++) {
		size_t cut = rnd_below(
			g, (uint32_t)(rnd_one_in(g, 2) && l->bytes > 150 ? 150 : l->bytes));
		char *copy = copy_of(l->file, cut);

		assert_int_equal(read_list(copy, cut, NULL), SL_BAD_INPUT);
		free(copy);
	}
	for (int i = 0; i < 40; i++) {
		char *copy = copy_of(l->file, l->bytes);
		enum sl_status s;

		change(g, copy, l->bytes);
		s = read_list(copy, l->bytes, NULL);
		assert_true(s == SL_OK || s == SL_BAD_INPUT);
		if (s == SL_OK && gzip)
			assert_ok(read_list(copy, l->bytes, l));
		free(copy);
	}
	free(l->file);
}

/* --- records ---------------------------------------------------------------------------------- */

enum { RECORDS = 500, PLACE = 3 };

/* The columns of a list, each with space for all records. */
static struct sl_columns make_columns(void)
{
	struct sl_columns c = {0};

	for (int k = SL_COLUMN_x; k <= SL_COLUMN_pol_z; k++)
		*(void **)(void *)((char *)&c + sl_column_facts[k].offset) =
			calloc(PLACE + RECORDS, sl_column_facts[k].bytes);
	return c;
}

static void free_columns(const struct sl_columns *c)
{
	for (int k = SL_COLUMN_x; k <= SL_COLUMN_pol_z; k++)
		free(sl_column_at(c, (enum sl_column)k));
}

/* Expects the bits of a particle at a place of the columns. */
static void expect_at(const struct sl_columns *c, uint32_t at, struct sl_particle p)
{
	struct sl_columns one = sl_columns_of(&p);

	for (int k = SL_COLUMN_x; k <= SL_COLUMN_pol_z; k++) {
		const uint32_t bytes = sl_column_facts[k].bytes;

		if (memcmp((const char *)sl_column_at(c, (enum sl_column)k) + at * bytes,
			    sl_column_at(&one, (enum sl_column)k), bytes) != 0)
			fail_msg("column %s of place %u differs", sl_column_facts[k].name, at);
	}
}

/* Records of any bits decoded column by column, all or some, are those decoded one by one. */
PROPERTY(columns_are_those_of_single_records, 256)
{
	static uint32_t words[RECORDS * SL_MCPL_RECORD_MOST / sizeof(uint32_t)];
	static const uint32_t special[] = {0x7f800001, 0x7fc00000, 0xffa00000, 0xff800000, 0, 1,
		0x80000000, 0x3f800000, 0xbf800001, 0x7ff00000, 0x7ff80000, 0xfff00001};
	struct sl_mcpl_header h = {.version = 2 + rnd_below(g, 2),
		.flags = rnd_one_in(g, 2),
		.polarised = rnd_one_in(g, 2),
		.single = rnd_one_in(g, 2),
		.pdg = rnd_one_in(g, 2) ? 2112 : 0,
		.weight = rnd_one_in(g, 2) ? 0.1 : 0};
	struct sl_columns all = make_columns(), some = make_columns();
	const uint8_t *records = (const uint8_t *)words;
	uint32_t place[RECORDS], n = 0;

	h.record_bytes = sl_mcpl_record_bytes(&h);
	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
		words[k] = rnd_one_in(g, 4) ? rnd_of(g, special) : (uint32_t)rnd_bits(g);
	for (uint32_t i = 0; i < RECORDS; i++)
		if (rnd_below(g, 3) > 0)
			place[n++] = i;
	sl_mcpl_to_columns(&h, records, RECORDS, &all, PLACE);
	sl_mcpl_to_columns_from(&h, records, place, n, &some);
	for (uint32_t i = 0, k = 0; i < RECORDS; i++) {
		struct sl_mcpl_particle from;

		sl_mcpl_decode(&h, records + (size_t)i * h.record_bytes, &from);
		expect_at(&all, PLACE + i, sl_mcpl_to_particle(&from));
		if (k < n && place[k] == i)
			expect_at(&some, k++, sl_mcpl_to_particle(&from));
	}
	free_columns(&all);
	free_columns(&some);
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

	assert_ok(sl_iaea_open(header, strlen(header), (uint64_t)f.n * iaea_record_bytes(&f), &h));
	assert_int_equal(h.record_bytes, iaea_record_bytes(&f));
	assert_int_equal(h.particles, f.n);
	assert_string_equal(h.title, "a test");
	assert_true(h.histories == 1e6);
	for (uint32_t i = 0; i < f.n; i++) {
		struct sl_mcpl_particle found, expected = iaea_expected(&f, i);

		iaea_record(&f, i, record);
		assert_ok(sl_iaea_particle(&h, record, &found));
		expect_particle(&found, &expected);
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
		char *copy = copy_of(header, cut);
		struct sl_iaea h;
		enum sl_status s;

		if (i % 2 == 0)
			change(g, copy, cut);
		s = sl_iaea_open(copy, cut, bytes, &h);
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

/* Every item is read; every cut is refused; a changed byte makes no item lie beyond the end of the file. */
PROPERTY(sources_of_openmc_are_read, 84)
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
		expect_particle(&found, &expected);
	}
	cut = 1 + rnd_below(g, (uint32_t)bytes - 1);
	copy = copy_of(file, cut);
	assert_int_equal(sl_openmc_open(copy, cut, &o), SL_BAD_INPUT);
	free(copy);
	for (int i = 0; i < 5; i++) {
		enum sl_status s;

		copy = copy_of(file, bytes);
		change(g, copy, bytes);
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

/* --- images ----------------------------------------------------------------------------------- */

enum { SIDE_MOST = 40, PIXELS_MOST = SIDE_MOST * SIDE_MOST };

PROPERTY(images_are_read_back, 100)
{
	static const char *const names[] = {"radiance", "weight", "a name before rays"};
	static uint64_t value[3][PIXELS_MOST];
	static const struct sl_file_facts facts = {.software_version = "1", .config = "a: 1\n"};
	const struct sl_image p = {.what = rnd_of(g, names),
		.width = 1 + rnd_below(g, SIDE_MOST),
		.height = 1 + rnd_below(g, SIDE_MOST)};
	const size_t all = (size_t)p.width * p.height * 8, room = sl_image_bytes(&p, &facts);
	const bool with_rays = rnd_one_in(g, 2);
	char *file = (char *)malloc(room), *copy;
	const struct sl_image_values v = {.image = &p,
		.particles = rnd_bits(g),
		.value = (const double *)(const void *)value[0],
		.sum = value[1],
		.rays = with_rays ? value[2] : NULL};
	struct sl_image_found f;
	size_t bytes, cut;

	for (int i = 0; i < 3 * PIXELS_MOST; i++)
		value[i % 3][i / 3] = rnd_bits(g);
	assert_ok(sl_image_make(&facts, &v, file, room, &bytes));
	assert_ok(sl_image_read(file, bytes, &f));
	assert_string_equal(f.what, p.what);
	assert_true(f.width == p.width && f.height == p.height && f.particles == v.particles);
	assert_memory_equal(f.value, value[0], all);
	assert_memory_equal(f.sum, value[1], all);
	assert_int_equal(f.rays != NULL, with_rays);
	if (with_rays)
		assert_memory_equal(f.rays, value[2], all);
	cut = bytes - 1 - rnd_below(g, rnd_one_in(g, 2) ? 64 : (uint32_t)bytes);
	copy = copy_of(file, cut);
	assert_fails(sl_image_read(copy, cut, &f), SL_BAD_INPUT, "checksum line");
	free(copy);
	change(g, file, bytes);
	assert_fails(sl_image_read(file, bytes, &f), SL_BAD_INPUT, "checksum line");
	free(file);
}

/* --- lines of the manifest -------------------------------------------------------------------- */

/* A file of the line, or none. */
static void any_file(struct rnd *g, char *name, size_t size, uint64_t *bytes, uint32_t *crc)
{
	if (rnd_one_in(g, 4))
		return;
	*bytes = rnd_bits(g) >> rnd_below(g, 64);
	*crc = (uint32_t)rnd_bits(g);
	for (size_t n = 1 + rnd_below(g, (uint32_t)size - 1); n > 0; n--)
		name[n - 1] = (char)(1 + rnd_below(g, 127));
}

/* A number of up to 64 bits. */
static uint64_t any_count(struct rnd *g)
{
	return rnd_bits(g) >> rnd_below(g, 64);
}

PROPERTY(lines_of_the_manifest_are_read_back, 2000)
{
	struct sl_manifest_line line, again;
	char text[SL_MANIFEST_LINE_BYTES];
	size_t n, cut;

	memset(&line, 0, sizeof(line));
	line.batch = any_count(g);
	line.first_id = any_count(g);
	line.tally.steps = any_count(g);
	line.tally.collisions = any_count(g);
	for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
		line.tally.count[fate] = rnd_one_in(g, 2) ? any_count(g) >> 8 : 0;
		line.generated += line.tally.count[fate];
		line.tally.weight[fate] = line.tally.count[fate] ? any_count(g) : 0;
	}
	line.survivors = any_count(g) % (line.generated + 1);
	line.columns = rnd_bits(g) & (SL_BIT(SL_COLUMN_derived_1) - 1);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		line.digest[k] = SL_HAS(line.columns, k) ? rnd_bits(g) : 0;
	any_file(g, line.file, sizeof(line.file) - 1, &line.file_bytes, &line.file_crc);
	any_file(g, line.bins_file, sizeof(line.bins_file) - 1, &line.bins_bytes, &line.bins_crc);
	any_file(g, line.order_file, sizeof(line.order_file) - 1, &line.order_bytes,
		&line.order_crc);
	n = sl_manifest_print(&line, text);
	assert_int_equal(n, strlen(text));
	assert_int_equal(text[n - 1], '\n');
	assert_ok(sl_manifest_parse(text, n - 1, &again));
	assert_memory_equal(&again, &line, sizeof(again));
	cut = rnd_below(g, (uint32_t)n - 1);
	assert_int_equal(sl_manifest_parse(text, cut, &again), SL_BAD_INPUT);
	change(g, text, n - 1);
	assert_fails(sl_manifest_parse(text, n - 1, &again), SL_BAD_INPUT, "checksum");
}

PROPERTY_FILE()
