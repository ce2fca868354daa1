/*
 * mcpl_stream.c - tests reading files of the reference implementation against its own dump of
 * them: intact files with every flag, damaged files, and files derived from them.
 */
#include "stages/formats/mcpl/mcpl_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/common/gzip_stored.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"

/* Sums over particles in the order of reference.txt. */
struct sums {
	uint64_t particles;
	double real[9], polarisation[3];
	int64_t pdg;
	uint64_t flags;
};

static enum sl_status read_strings(struct sl_mcpl_stream *s, char source[64])
{
	char text[64];
	uint32_t length;

	SL_TRY(sl_mcpl_text(s, source, 64, &length));
	for (uint32_t i = 0; i < s->header.comments + 2 * s->header.blobs; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	return sl_mcpl_begin(s);
}

static void add(struct sums *sums, const struct sl_mcpl_particle *p)
{
	const double real[] = {p->position[0], p->position[1], p->position[2], p->direction[0],
		p->direction[1], p->direction[2], p->energy, p->time, p->weight};

	sums->particles++;
	for (int i = 0; i < 9; i++)
		sums->real[i] += real[i];
	for (int i = 0; i < 3; i++)
		sums->polarisation[i] += p->polarisation[i];
	sums->pdg += p->pdg;
	sums->flags += p->flags;
}

static enum sl_status read_particles(struct sl_mcpl_stream *s, struct sums *sums)
{
	struct sl_mcpl_particle p;

	for (uint64_t i = 0; i < s->header.particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		add(sums, &p);
	}
	return SL_OK;
}

/* Reads a file to its end and adds up its particles in *sums. */
static enum sl_status read_all(const void *file, size_t bytes, struct sums *sums)
{
	struct sl_mcpl_stream s;
	char source[64];
	enum sl_status status;
	bool trailing;

	memset(sums, 0, sizeof(*sums));
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = read_strings(&s, source);
	if (status == SL_OK)
		status = read_particles(&s, sums);
	if (status == SL_OK)
		status = sl_mcpl_end(&s, &trailing);
	sl_mcpl_close(&s);
	return status;
}

/* --- values of the reference ------------------------------------------------------------------ */

/* A line of reference.txt. */
struct expected {
	char name[64];
	struct sl_mcpl_header header;
	struct sums sums;
};

static bool parse(const char *line, struct expected *e)
{
	struct sl_mcpl_header *h = &e->header;
	double *r = e->sums.real, *p = e->sums.polarisation;
	unsigned flags, polarised, single;
	unsigned long long particles, all_flags;
	long long pdg;
	int n = sscanf(line,
		"%63s %u %llu %u %u %u %u %u %d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lld %llu "
		"%lf %lf %lf",
		e->name, &h->version, &particles, &h->comments, &h->blobs, &flags, &polarised,
		&single, &h->pdg, &h->weight, r, r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7,
		r + 8, &pdg, &all_flags, p, p + 1, p + 2);

	h->particles = e->sums.particles = particles;
	h->flags = flags;
	h->polarised = polarised;
	h->single = single;
	e->sums.pdg = pdg;
	e->sums.flags = all_flags;
	return n == 24;
}

/* Compares two sums of at most 1e6 in magnitude, up to rounding. */
static void assert_near(const char *what, double is, double should)
{
	if (!(fabs(is - should) <= 1e-9 * (1 + fabs(should))))
		fail_msg("%s is %.17g, expected %.17g", what, is, should);
}

static void check(const struct expected *e)
{
	struct sl_mcpl_stream s;
	struct sums sums;
	char source[64];
	size_t bytes;
	bool more;
	char *file = reference_list(e->name, &bytes);

	memset(&sums, 0, sizeof(sums));
	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_int_equal(s.header.version, e->header.version);
	assert_int_equal(s.header.comments, e->header.comments);
	assert_int_equal(s.header.blobs, e->header.blobs);
	assert_int_equal(s.header.flags, e->header.flags);
	assert_int_equal(s.header.polarised, e->header.polarised);
	assert_int_equal(s.header.single, e->header.single);
	assert_int_equal(s.header.pdg, e->header.pdg);
	assert_true(s.header.weight == e->header.weight);
	assert_ok(read_strings(&s, source));
	assert_ok(read_particles(&s, &sums));
	assert_ok(sl_mcpl_end(&s, &more));
	assert_false(more && !s.recovered);
	sl_mcpl_close(&s);
	free(file);
	assert_int_equal(sums.particles, e->sums.particles);
	for (int i = 0; i < 9; i++)
		assert_near(e->name, sums.real[i], e->sums.real[i]);
	for (int i = 0; i < 3; i++)
		assert_near(e->name, sums.polarisation[i], e->sums.polarisation[i]);
	assert_true(sums.pdg == e->sums.pdg);
	assert_true(sums.flags == e->sums.flags);
}

TEST(files_are_read_as_by_the_reference)
{
	char line[1024];
	FILE *reference = fopen(reference_path("reference.txt"), "r");
	struct expected e;
	int n = 0;

	assert_non_null(reference);
	while (fgets(line, sizeof(line), reference)) {
		if (line[0] == '#')
			continue;
		assert_true(parse(line, &e));
		check(&e);
		n++;
	}
	fclose(reference);
	assert_int_equal(n, 14);
}

TEST(strings_are_read)
{
	static const char *const expected[] = {"MyMCApp", "Some comment.", "Some comment2.",
		"Some comment3.", "Some comment4444.", "LalaData", "01234"};
	struct sl_mcpl_stream s;
	char text[64];
	uint32_t length;
	size_t bytes;
	char *file = reference_list("reffile_6.mcpl", &bytes);

	assert_ok(sl_mcpl_open(&s, file, bytes));
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_ok(sl_mcpl_text(&s, text, i == 4 ? 5 : sizeof(text), &length));
		assert_string_equal(text, i == 4 ? "Some" : expected[i]);
		assert_int_equal(length, i == 6 ? 6 : strlen(expected[i])); /* a 0 within */
	}
	sl_mcpl_close(&s);
	free(file);
}

/* --- damage ----------------------------------------------------------------------------------- */

TEST(unfinished_plain_file_is_recovered)
{
	struct sl_mcpl_stream s;
	char source[64];
	size_t bytes;
	char *file = reference_list("reffile_crash.mcpl", &bytes);

	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_ok(read_strings(&s, source));
	assert_true(s.recovered);
	assert_int_equal(s.header.particles, 4); /* and a part of one */
	sl_mcpl_close(&s);
	free(file);
}

TEST(truncated_files_are_refused)
{
	struct sums sums;
	size_t bytes;
	char *file = reference_list("reffile_truncated.mcpl", &bytes);

	assert_fails(read_all(file, bytes, &sums), SL_BAD_INPUT, "mcpltool --repair");
	free(file);
	file = reference_list("example.mcpl", &bytes);
	for (size_t cut = 0; cut < bytes; cut += cut < 200 ? 1 : 997 * sl_sampling_step(1)) {
		char *copy = (char *)malloc(cut + (cut == 0));

		memcpy(copy, file, cut);
		assert_int_equal(read_all(copy, cut, &sums), SL_BAD_INPUT);
		free(copy);
	}
	free(file);
	file = reference_list("miscphys.mcpl.gz", &bytes);
	for (size_t cut = 0; cut < bytes; cut += sl_sampling_step(1)) {
		char *copy = (char *)malloc(cut + (cut == 0));

		memcpy(copy, file, cut);
		assert_int_equal(read_all(copy, cut, &sums), SL_BAD_INPUT);
		free(copy);
	}
	free(file);
}

/* reffile_1 with one byte of its header changed. */
TEST(invalid_headers_are_refused)
{
	static const struct {
		size_t at;
		char value;
		const char *says;
	} changes[] = {{0, 'm', "does not begin"}, {4, '1', "does not begin"},
		{6, '4', "does not begin"}, {6, '1', "does not begin"}, {7, 'B', "greatest byte"},
		{7, 'x', "greatest byte"}, {24, 1, "record size"}, {28, 1, "record size"},
		{32, 1, "record size"}, {36, 1, "record size"}, {40, 67, "record size"},
		{43, 1, "record size"}, {44, 1, "record size"}, {16, 1, "header states"},
		{19, 127, "header states"}, {20, 1, "header states"}, {50, 1, "header states"},
		{8, 6, "header states"}, {15, -1, "header states"}};
	struct sums sums;
	size_t bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		char was = file[changes[i].at];

		file[changes[i].at] = changes[i].value;
		assert_fails(read_all(file, bytes, &sums), SL_BAD_INPUT, changes[i].says);
		file[changes[i].at] = was;
	}
	assert_ok(read_all(file, bytes, &sums));
	file[44] = 1; /* a weight of all, which is 0 */
	memset(file + 48, 0, 8);
	assert_fails(read_all(file, bytes, &sums), SL_BAD_INPUT, "weight");
	free(file);
}

/* Returns a file as gzip members of this many bytes; the caller frees it. */
static uint8_t *in_members(const char *file, size_t bytes, size_t member, size_t *made_bytes)
{
	size_t n = (bytes + member - 1) / member;
	uint8_t *made = (uint8_t *)malloc(n * sl_gzip_stored_bytes(member));

	*made_bytes = 0;
	for (size_t at = 0; at < bytes; at += member)
		*made_bytes += sl_gzip_store(
			file + at, bytes - at < member ? bytes - at : member, made + *made_bytes);
	return made;
}

/* Writes a number of particles into the header of a file and returns the result of sl_mcpl_begin(). */
static enum sl_status begin_with_count(char *file, size_t bytes, uint64_t n)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	memcpy(file + 8, &n, sizeof(n));
	assert_ok(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_skip_head(&s);
	sl_mcpl_close(&s);
	return status;
}

/* A plain file has at least as many whole records as its header states, before any of them is read. */
TEST(more_particles_than_records_are_refused)
{
	enum { N = 5, RECORD_BYTES = 68 }; /* of reffile_1.mcpl */
	static const uint64_t too_many[] = {
		N + 1, N + 2, UINT32_MAX, UINT64_MAX / RECORD_BYTES + 2, UINT64_MAX};
	size_t bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);

	for (uint64_t n = 0; n <= N; n++)
		assert_ok(begin_with_count(file, bytes, n));
	assert_ok(begin_with_count(file, bytes - RECORD_BYTES, N - 1));
	assert_fails(
		begin_with_count(file, bytes - RECORD_BYTES, N), SL_BAD_INPUT, "header states");
	assert_fails(begin_with_count(file, bytes - 1, N), SL_BAD_INPUT, "header states");
	for (size_t i = 0; i < sizeof(too_many) / sizeof(*too_many); i++)
		assert_fails(
			begin_with_count(file, bytes, too_many[i]), SL_BAD_INPUT, "header states");
	free(file);
}

/* A gzip file shows its end only when it is reached; the message counts the particles before it. */
TEST(missing_particles_of_gzip_are_counted)
{
	enum { N = 5 };
	const uint64_t one_more = N + 1;
	struct sums sums;
	size_t bytes, made_bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);
	uint8_t *made;

	memcpy(file + 8, &one_more, sizeof(one_more));
	made = in_members(file, bytes, 1000, &made_bytes);
	assert_fails(read_all(made, made_bytes, &sums), SL_BAD_INPUT, "particle 5 of 6");
	assert_int_equal(sums.particles, N);
	free(made);
	free(file);
}

/* A flipped bit may cause neither a read beyond the end (AddressSanitizer) nor a hang. */
TEST(flipped_bits_do_no_harm)
{
	static const char *const names[] = {"reffile_6.mcpl", "difficult_unitvector.mcpl.gz"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t bytes;
		char *file = reference_list(names[i], &bytes);
		char *copy = (char *)malloc(bytes);

		for (size_t bit = 0; bit < 8 * bytes; bit += sl_sampling_step(1)) {
			struct sums sums;
			enum sl_status status;

			memcpy(copy, file, bytes);
			copy[bit / 8] ^= (char)(1 << bit % 8);
			status = read_all(copy, bytes, &sums);
			assert_true(status == SL_OK || status == SL_BAD_INPUT);
		}
		free(copy);
		free(file);
	}
}

/* --- derived files ---------------------------------------------------------------------------- */

/* Members may end anywhere, in the header or in a particle. */
TEST(gzip_members_may_end_anywhere)
{
	static const size_t members[] = {1, 7, 48, 100, 65535, 65536, 100000};
	struct sums expected, sums;
	size_t bytes, made_bytes;
	char *file = reference_list("example.mcpl", &bytes);

	assert_ok(read_all(file, bytes, &expected));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		uint8_t *made = in_members(file, bytes, members[i], &made_bytes);

		assert_ok(read_all(made, made_bytes, &sums));
		assert_memory_equal(&sums, &expected, sizeof(sums));
		free(made);
	}
	free(file);
}

/* As in the reference: the number of particles is unknown until all are decompressed. */
TEST(unfinished_gzip_file_is_refused)
{
	struct sums sums;
	size_t bytes, made_bytes;
	char *file = reference_list("reffile_crash.mcpl", &bytes);
	uint8_t *made = in_members(file, bytes, 1000, &made_bytes);

	assert_fails(read_all(made, made_bytes, &sums), SL_BAD_INPUT, "gunzip");
	free(made);
	made = in_members(file, 155, 1000, &made_bytes); /* the header alone: none, and right */
	assert_ok(read_all(made, made_bytes, &sums));
	assert_int_equal(sums.particles, 0);
	free(made);
	free(file);
}

/* Version 2 maps directions to an octahedron (Meyer et al. 2010). */
TEST(directions_of_version_2_are_read)
{
	static const double packed[][2] = {{0, 0}, {1, 0}, {0, -1}, {0.5, 0.5}, {-1, -1}, {1, 1}};
	const double r = sqrt(0.5);
	const double expected[][3] = {
		{0, 0, 1}, {1, 0, 0}, {0, -1, 0}, {r, r, 0}, {0, 0, -1}, {0, 0, -1}};
	struct sl_mcpl_stream s;
	struct sl_mcpl_particle p;
	char source[64];
	size_t bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);

	file[6] = '2';
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		memcpy(file + 59 + 24, packed[i], sizeof(packed[i]));
		assert_ok(sl_mcpl_open(&s, file, bytes));
		assert_ok(read_strings(&s, source));
		assert_ok(sl_mcpl_next(&s, &p));
		sl_mcpl_close(&s);
		for (int k = 0; k < 3; k++)
			assert_near("direction", p.direction[k], expected[i][k]);
	}
	free(file);
}
