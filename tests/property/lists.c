/*
 * lists.c - properties of MCPL lists with any flags: what is written with any contents is read
 * back; a damaged file gives an error or particles; names of blobs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/inputs/inputs.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"

/* --- lists --------------------------------------------------------------------------------- */

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

/* A header with any flags. */
static struct sl_mcpl_header any_header(struct rnd *g, uint32_t version)
{
	struct sl_mcpl_header h = {.version = version,
		.flags = rnd_one_in(g, 2),
		.polarised = rnd_one_in(g, 2),
		.single = rnd_one_in(g, 2),
		.pdg = rnd_one_in(g, 2) ? 2112 : 0,
		.weight = rnd_one_in(g, 2) ? 0.1 : 0};

	h.record_bytes = sl_mcpl_record_bytes(&h);
	return h;
}

static struct list *any_list(struct rnd *g, bool gzip)
{
	static const char *const strings[] = {"a comment", "", "another one", "name", "a blob"};
	static struct list l;

	l.h = any_header(g, 3);
	l.h.particles = rnd_size(g);
	l.h.comments = rnd_below(g, 4);
	l.h.blobs = rnd_below(g, 2);
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
		struct sl_mcpl_particle p;

		status = sl_mcpl_next(&s, &p);
		if (status == SL_OK && l)
			expect_record(&l->h, &p, &l->p[i]);
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

/*
 * A file that is cut short is refused; a changed one crashes nothing, and in gzip has the same
 * particles.
 */
PROPERTY(damaged_lists_are_refused, 240)
{
	const bool gzip = rnd_one_in(g, 2);
	struct list *l = any_list(g, gzip);

	for (int i = 0; i < 20; i++) {
		size_t cut = rnd_below(
			g, (uint32_t)(rnd_one_in(g, 2) && l->bytes > 150 ? 150 : l->bytes));
		char *copy = exact_copy(l->file, cut);

		assert_int_equal(read_list(copy, cut, NULL), SL_BAD_INPUT);
		free(copy);
	}
	for (int i = 0; i < 40; i++) {
		char *copy = exact_copy(l->file, l->bytes);
		enum sl_status s;

		rnd_change(g, copy, l->bytes);
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

static struct sl_mcpl_target target_of(const struct sl_columns *c)
{
	struct sl_mcpl_target to = {0};

	for (int k = SL_COLUMN_x; k <= SL_COLUMN_pol_z; k++)
		to.column[k] = sl_column_at(c, (enum sl_column)k);
	return to;
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
	const struct sl_mcpl_header h = any_header(g, 2 + rnd_below(g, 2));
	struct sl_columns all = make_columns(), some = make_columns();
	const uint8_t *records = (const uint8_t *)words;
	struct sl_mcpl_target to;
	uint32_t place[RECORDS], n = 0;

	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
		words[k] = rnd_one_in(g, 4) ? rnd_of(g, special) : (uint32_t)rnd_bits(g);
	for (uint32_t i = 0; i < RECORDS; i++)
		if (rnd_below(g, 3) > 0)
			place[n++] = i;
	to = target_of(&all);
	sl_mcpl_to_columns(&h, records, RECORDS, &to, PLACE);
	to = target_of(&some);
	sl_mcpl_to_columns_from(&h, records, place, n, &to);
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

/* --- names of blobs --------------------------------------------------------------------------- */

enum { BLOBS = 40, NAME_BYTES = 32 };

/* The number of blob i by the rule of struct sl_mcpl_metadata, with the simplest algorithm. */
static uint32_t expected_number(const char *const *names, char (*taken)[NAME_BYTES], uint32_t i)
{
	for (uint32_t k = 1;; k++) {
		uint32_t j = 0;

		snprintf(taken[i], NAME_BYTES, k > 1 ? "%s_%u" : "%s", names[i], k);
		while (j < i && strcmp(taken[i], taken[j]) != 0)
			j++;
		if (j == i && strcmp(taken[i], "sluice_config") != 0)
			return k;
	}
}

/* Names that equal those that other blobs get. */
PROPERTY(blobs_get_the_first_free_name, 300)
{
	static const char *const parts[] = {"a", "a_2", "a_3", "a_2_2", "b", "sluice_config", ""};
	const struct sl_mcpl_header h = {.version = 3, .blobs = BLOBS};
	struct sl_mcpl_part part = {.particles = 1};
	char taken[BLOBS][NAME_BYTES], data[BLOBS][4];
	const char *strings[2 * BLOBS];
	struct sl_mcpl_metadata *c;
	char *file;

	for (uint32_t i = 0; i < BLOBS; i++) {
		snprintf(data[i], sizeof(data[i]), "%u", i);
		strings[i] = rnd_of(g, parts);
		strings[BLOBS + i] = data[i];
	}
	make_list(&folder, "blobs.mcpl", &h, strings, NULL);
	part.file = file = folder_read(&folder, "blobs.mcpl", &part.bytes);
	assert_ok(sl_mcpl_metadata_add(&part, 1, true, &c));
	assert_int_equal(c->blobs.n, BLOBS);
	for (uint32_t i = 0; i < BLOBS; i++)
		assert_int_equal(c->blobs.at[i].number, expected_number(strings, taken, i));
	sl_mcpl_metadata_free(c);
	free(file);
}

PROPERTY_FILE()
