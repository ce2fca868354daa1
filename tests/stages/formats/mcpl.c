/*
 * mcpl.c - MCPL files of the reference implementation and its dump of them, messages about changed files, the rules
 * by which headers are merged. tests/property tests random tables and lists.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_metadata.h"
#include "stages/formats/mcpl/mcpl_read.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/tables.h"

static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 1048576};

/* --- files of the reference ------------------------------------------------------------------- */

/* Sums over particles in the order of reference.txt. */
struct sums {
	uint64_t particles;
	double real[9], polarisation[3];
	int64_t pdg;
	uint64_t flags;
};

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

/* Reads a file to its end, sets *h, *recovered and adds up its particles in *sums. */
static enum sl_status read_all(const void *file, size_t bytes, struct sl_mcpl_header *h,
	bool *recovered, struct sums *sums)
{
	struct sl_mcpl_stream s;
	struct sl_mcpl_particle p;
	enum sl_status status;
	bool trailing = false;

	memset(sums, 0, sizeof(*sums));
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_skip_head(&s);
	for (uint64_t i = 0; status == SL_OK && i < s.header.particles; i++) {
		status = sl_mcpl_next(&s, &p);
		if (status == SL_OK)
			add(sums, &p);
	}
	if (status == SL_OK)
		status = sl_mcpl_end(&s, &trailing);
	*h = s.header;
	*recovered = s.recovered;
	sl_mcpl_close(&s);
	assert_true(status != SL_OK || !trailing || *recovered);
	return status;
}

/* The same of a file that is only read for its status. */
static enum sl_status read_sums(const void *file, size_t bytes, struct sums *sums)
{
	struct sl_mcpl_header h;
	bool recovered;

	return read_all(file, bytes, &h, &recovered, sums);
}

/* Compares two sums of at most 1e6 in magnitude, up to rounding. */
static void assert_near(const char *what, double is, double should)
{
	if (!(fabs(is - should) <= 1e-9 * (1 + fabs(should))))
		fail_msg("%s is %.17g, expected %.17g", what, is, should);
}

/* Compares a file with its line of reference.txt. */
static void check_line(const char *line)
{
	char name[64], header[128], expected[128];
	struct sl_mcpl_header h;
	bool recovered;
	struct sums sums;
	size_t bytes;
	char *file;
	int at = 0, used;

	assert_int_equal(sscanf(line, "%63s%n", name, &at), 1);
	file = reference_list(name, &bytes);
	assert_ok(read_all(file, bytes, &h, &recovered, &sums));
	free(file);
	/* all columns up to the weight are printed as in the file */
	snprintf(header, sizeof(header), " %u %llu %u %u %d %d %d %d %.1f", h.version,
		(unsigned long long)sums.particles, h.comments, h.blobs, h.flags, h.polarised,
		h.single, h.pdg, h.weight);
	snprintf(expected, sizeof(expected), "%.*s", (int)strlen(header), line + at);
	assert_string_equal(header, expected);
	at += (int)strlen(header);
	for (int i = 0; i < 14; i++, at += used) {
		const double is = i < 9     ? sums.real[i]
		                  : i == 9  ? (double)sums.pdg
		                  : i == 10 ? (double)sums.flags
		                            : sums.polarisation[i - 11];
		double should;

		assert_int_equal(sscanf(line + at, "%lf%n", &should, &used), 1);
		assert_near(name, is, should);
	}
}

TEST(files_are_read_as_by_the_reference)
{
	char line[1024];
	FILE *reference = fopen(reference_path("reference.txt"), "r");
	int n = 0;

	assert_non_null(reference);
	for (; fgets(line, sizeof(line), reference); n += line[0] != '#')
		if (line[0] != '#')
			check_line(line);
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

/* Version 2 maps directions to an octahedron (Meyer et al. 2010). */
TEST(directions_of_version_2_are_read)
{
	static const double packed[][2] = {{0, 0}, {1, 0}, {0, -1}, {0.5, 0.5}, {-1, -1}, {1, 1}};
	const double r = sqrt(0.5);
	const double expected[][3] = {
		{0, 0, 1}, {1, 0, 0}, {0, -1, 0}, {r, r, 0}, {0, 0, -1}, {0, 0, -1}};
	size_t bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);

	file[6] = '2';
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		struct sl_mcpl_stream s;
		struct sl_mcpl_particle p;

		memcpy(file + 59 + 24, packed[i], sizeof(packed[i]));
		assert_ok(sl_mcpl_open(&s, file, bytes));
		assert_ok(sl_mcpl_skip_head(&s));
		assert_ok(sl_mcpl_next(&s, &p));
		sl_mcpl_close(&s);
		for (int k = 0; k < 3; k++)
			assert_near("direction", p.direction[k], expected[i][k]);
	}
	free(file);
}

/* --- damaged files ---------------------------------------------------------------------------- */

/* Returns a file as a gzip member, which the caller frees. */
static uint8_t *in_gzip(const char *file, size_t bytes, size_t *made_bytes)
{
	uint8_t *made = (uint8_t *)malloc(sl_gzip_stored_bytes(bytes));

	*made_bytes = sl_gzip_store(file, bytes, made);
	return made;
}

/* A writer that did not finish: counted in a plain file; in gzip, all would be decompressed first. */
TEST(unfinished_files)
{
	struct sl_mcpl_header h;
	struct sl_mcpl_head head;
	struct sums sums;
	bool recovered = false;
	size_t bytes, made_bytes;
	char *file = reference_list("reffile_crash.mcpl", &bytes);
	uint8_t *made = in_gzip(file, bytes, &made_bytes);

	assert_ok(read_all(file, bytes, &h, &recovered, &sums));
	assert_true(recovered);
	assert_int_equal(sums.particles, 4); /* and a part of one */
	recovered = false;
	assert_ok(sl_mcpl_head_read(file, bytes, &head, &recovered));
	assert_true(recovered);
	assert_int_equal(head.fixed.particles, 4);
	sl_mcpl_head_free(&head);
	assert_fails(sl_mcpl_head_read(file, 60, &head, &recovered), SL_BAD_INPUT, "cut short");
	assert_fails(read_sums(made, made_bytes, &sums), SL_BAD_INPUT, "gunzip");
	free(made);
	made = in_gzip(file, 155, &made_bytes); /* the header alone: none, and right */
	assert_ok(read_sums(made, made_bytes, &sums));
	assert_int_equal(sums.particles, 0);
	free(made);
	free(file);
	file = reference_list("reffile_truncated.mcpl", &bytes);
	assert_fails(read_sums(file, bytes, &sums), SL_BAD_INPUT, "mcpltool --repair");
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
		assert_fails(read_sums(file, bytes, &sums), SL_BAD_INPUT, changes[i].says);
		file[changes[i].at] = was;
	}
	assert_ok(read_sums(file, bytes, &sums));
	file[44] = 1; /* a weight of all, which is 0 */
	memset(file + 48, 0, 8);
	assert_fails(read_sums(file, bytes, &sums), SL_BAD_INPUT, "weight");
	free(file);
}

/* Opens a file with another number of particles, before any of them is read. */
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

/* A gzip file shows its end only when it is reached; the message counts the particles before it. */
TEST(more_particles_than_records_are_refused)
{
	enum { N = 5, RECORD_BYTES = 68 }; /* of reffile_1.mcpl */
	static const uint64_t too_many[] = {
		N + 2, UINT32_MAX, UINT64_MAX / RECORD_BYTES + 2, UINT64_MAX, N + 1};
	struct sums sums;
	size_t bytes, made_bytes;
	char *file = reference_list("reffile_1.mcpl", &bytes);
	uint8_t *made;

	for (uint64_t n = 0; n <= N; n++)
		assert_ok(begin_with_count(file, bytes, n));
	assert_ok(begin_with_count(file, bytes - RECORD_BYTES, N - 1));
	assert_fails(
		begin_with_count(file, bytes - RECORD_BYTES, N), SL_BAD_INPUT, "header states");
	assert_fails(begin_with_count(file, bytes - 1, N), SL_BAD_INPUT, "header states");
	for (size_t i = 0; i < sizeof(too_many) / sizeof(*too_many); i++)
		assert_fails(
			begin_with_count(file, bytes, too_many[i]), SL_BAD_INPUT, "header states");
	made = in_gzip(file, bytes, &made_bytes);
	assert_fails(read_sums(made, made_bytes, &sums), SL_BAD_INPUT, "particle 5 of 6");
	assert_int_equal(sums.particles, N);
	free(made);
	free(file);
}

/* --- files of Sluice -------------------------------------------------------------------------- */

enum { ROWS = 40 };

/* Returns a file, which the caller frees. Its columns are listed in a comment. */
static char *file_of_ours(enum sl_column flags, struct sl_table *t, size_t *bytes)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);

	sl_mcpl_set_facts(&run, &(struct sl_mcpl_facts){.pdg = 22, .energy = 2, .flags = flags});
	return file_of(&sl_format_mcpl, &run, &batch, t, 0, bytes);
}

/* What joined files and other programs read: property/tables.c only compares numbers. */
TEST(headers_have_the_documented_text)
{
	static const char *const expected[] = {"Sluice 1.2.3",
		"stat:sum:sluice_generated:                 1048576",
		"Survivors of run demo, seed 42, rules version 0, species photons",
		NULL /* the meaning of the flags */, "sluice:columns:x,y,z,u,v,w,weight,time,fate",
		"sluice_config", "run: {name: demo, seed: 42}\n"};
	struct sl_table t = make_table(ROWS, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0, SORTED);
	struct sl_mcpl_stream s;
	size_t bytes;
	char *file = file_of_ours(SL_COLUMN_fate, &t, &bytes), text[128];
	uint32_t length;

	assert_memory_equal(file, "MCPL003L", 8);
	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_true(s.header.comments == 4 && s.header.blobs == 1);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_ok(sl_mcpl_text(&s, text, sizeof(text), &length));
		if (expected[i])
			assert_string_equal(text, expected[i]);
	}
	sl_mcpl_close(&s);
	free(file);
	free_table(&t);
}

TEST(missing_columns_are_reported)
{
	const sl_column_set all =
		SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pixel);
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);

	sl_mcpl_set_facts(
		&run, &(struct sl_mcpl_facts){
			      .pdg = 22, .energy = (double)NAN, .flags = SL_COLUMN_pixel});
	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		struct sl_table t = make_table(10, all & ~SL_BIT(i), 0, RANDOM);
		struct packed k = lay_out_for(&sl_format_mcpl, &run, &t);
		char says[64];

		snprintf(says, sizeof(says), "has the column %s, and", sl_column_facts[i].name);
		if (SL_HAS(all, i))
			assert_fails(pack_into(&k, &sl_format_mcpl, &run, &t), SL_USAGE, says);
		else
			assert_ok(pack_into(&k, &sl_format_mcpl, &run, &t));
		free_packed(&k);
		free_table(&t);
	}
}

/* A NaN is converted as on x86: quiet, with its sign and payload. */
TEST(nans_keep_sign_and_payload)
{
	static const uint32_t nan[] = {0x7f812345, 0xffc00001}, quiet[] = {0x7fc12345, 0xffc00001};
	static const uint64_t wide[] = {0x7ff82468a0000000, 0xfff8000020000000};

	for (int i = 0; i < 4; i++) {
		struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
		struct sl_table t =
			make_table(1, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy), 0, SAME);
		const uint32_t number = i / 2 ? 8 : 4;
		const float w = i % 2 ? -1 : 1,
			    zero = 0; /* z is left out, and has the sign of the NaN */
		size_t bytes;
		char *file;

		sl_mcpl_set_facts(&run, &(struct sl_mcpl_facts){.wide = i / 2,
						.pdg = 22,
						.energy = (double)NAN,
						.flags = SL_COLUMN_COUNT});
		for (uint32_t k = 0; k < t.n_columns; k++) {
			enum sl_column c = t.column[k].column;

			if (c == SL_COLUMN_x || c == SL_COLUMN_time || c == SL_COLUMN_energy)
				memcpy(t.column[k].data, &nan[i % 2], 4);
			if (c >= SL_COLUMN_u && c <= SL_COLUMN_w)
				memcpy(t.column[k].data, c == SL_COLUMN_w ? &w : &zero, 4);
		}
		file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
		for (uint32_t place = 0; place < 7; place += place == 0 ? 5 : 1)
			assert_memory_equal(file + bytes - (8 - place) * number,
				i / 2 ? (const void *)&wide[i % 2] : &quiet[i % 2], number);
		free(file);
		free_table(&t);
	}
}

/* The comment that lists the columns names other columns; n + 2^31 blobs: twice this is 2 n in 32 bits. */
TEST(other_columns_are_refused)
{
	static const char was[] = "columns:x,y,z,u,v,w,weight,time,fate";
	static const char *const others[] = {"columns:y,x,z,u,v,w,weight,time,fate",
		"columns:x,y,z,u,v,v,weight,time,fate", "columns:x,y,z,u,v,w,weight,time,hate",
		"columns:x,y,z,u,v,w,time,weight,fate", "columns:x,y,z,u,v,w,weight,time,,,,,",
		"columns:x,y,z,u,v,w,weight,steps,,,,", "Columns:x,y,z,u,v,w,weight,time,fate"};
	struct sl_table t = make_table(ROWS, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0, RANDOM),
			back;
	struct sl_arena a = {0};
	size_t bytes;
	char *file = file_of_ours(SL_COLUMN_fate, &t, &bytes);
	char *at = (char *)memmem(file, bytes, was, sizeof(was) - 1);

	assert_non_null(at);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(strlen(others[i]), sizeof(was) - 1);
		memcpy(at, others[i], sizeof(was) - 1);
		assert_fails(sl_format_mcpl.read(file, bytes, &a, &back), SL_BAD_INPUT, "columns");
	}
	memcpy(at, was, sizeof(was) - 1);
	assert_ok(sl_format_mcpl.read(file, bytes, &a, &back));
	file[23] ^= (char)0x80;
	assert_fails(sl_format_mcpl.read(file, bytes, &a, &back), SL_BAD_INPUT, "header states");
	free(file);
	free_table(&t);
}

/* Reads into memory of exactly the measured size, which is freed: *t has no data afterwards. */
static enum sl_status read_whole(
	const char *file, size_t bytes, struct sl_table *t, struct sl_mcpl_lost *lost)
{
	struct sl_table measured;
	struct sl_arena a = {0};
	enum sl_status s;

	SL_TRY(sl_mcpl_table(file, bytes, &a, &measured, lost));
	a = arena_of(a.used);
	s = sl_mcpl_table(file, bytes, &a, t, lost);
	if (s == SL_OK)
		assert_int_equal(t->n_columns, measured.n_columns);
	free(a.base);
	return s;
}

/* Bytes after the rows are an error in files of Sluice, and ignored in other files. */
TEST(header_decides_the_columns)
{
	struct sl_table t = make_table(ROWS, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0, SORTED),
			back;
	struct sl_mcpl_lost lost;
	size_t bytes;
	char *file = file_of_ours(SL_COLUMN_fate, &t, &bytes), *at;

	file = (char *)realloc(file, bytes + 1);
	file[bytes] = 0;
	assert_ok(read_whole(file, bytes, &back, &lost));
	assert_int_equal(back.n_columns, 9);
	assert_fails(read_whole(file, bytes + 1, &back, &lost), SL_BAD_INPUT,
		"bytes follow its last particle");
	at = (char *)memmem(file, bytes, SL_MCPL_COLUMNS, strlen(SL_MCPL_COLUMNS));
	*at = 'S'; /* so that it is somebody's */
	assert_ok(read_whole(file, bytes + 1, &back, &lost));
	assert_true(lost.trailing);
	assert_int_equal(back.n_columns, 11); /* energy, PDG code and user flags, no fate */
	free(file);
	free_table(&t);
}
