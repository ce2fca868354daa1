/*
 * mcpl.c - MCPL files of the reference implementation and its dump of them, NaNs, and the rules and
 * limits by which headers are merged. tests/property tests random tables and lists, text/mcpl.txt
 * damaged files.
 *
 * Expected sums are computed by hand. tests/scripts/readers.py compares joined files with those of
 * mcpltool --merge.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/tables.h"

/* --- files of the reference ------------------------------------------------------------------- */

enum { SUMS = 14 };

/* Adds up the particles of a file in the order of reference.txt, and prints its header as there. */
static void read_all(const char *name, char header[128], double sum[SUMS])
{
	struct sl_mcpl_stream s;
	size_t bytes;
	bool trailing;
	char *file = reference_list(name, &bytes);

	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_ok(sl_mcpl_skip_head(&s));
	snprintf(header, 128, " %u %llu %u %u %d %d %d %d %.1f", s.header.version,
		(unsigned long long)s.header.particles, s.header.comments, s.header.blobs,
		s.header.flags, s.header.polarised, s.header.single, s.header.pdg, s.header.weight);
	for (uint64_t i = 0; i < s.header.particles; i++) {
		struct sl_mcpl_particle p;

		assert_ok(sl_mcpl_next(&s, &p));
		const double number[SUMS] = {p.position[0], p.position[1], p.position[2],
			p.direction[0], p.direction[1], p.direction[2], p.energy, p.time, p.weight,
			p.pdg, p.flags, p.polarisation[0], p.polarisation[1], p.polarisation[2]};

		for (int k = 0; k < SUMS; k++)
			sum[k] += number[k];
	}
	assert_ok(sl_mcpl_end(&s, &trailing));
	assert_true(!trailing || s.recovered);
	sl_mcpl_close(&s);
	free(file);
}

TEST(files_are_read_as_by_the_reference)
{
	char line[1024], name[64], header[128];
	FILE *reference = fopen(reference_path("reference.txt"), "r");
	int n = 0, at, used;

	assert_non_null(reference);
	while (fgets(line, sizeof(line), reference)) {
		double sum[SUMS] = {0}, should;

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%63s%n", name, &at), 1);
		read_all(name, header, sum);
		if (strncmp(line + at, header, strlen(header)) != 0)
			fail_msg("%s: the header is%s", name, header);
		at += (int)strlen(header);
		for (int i = 0; i < SUMS; i++, at += used) {
			assert_int_equal(sscanf(line + at, "%lf%n", &should, &used), 1);
			if (!(fabs(sum[i] - should) <= 1e-9 * (1 + fabs(should))))
				fail_msg("%s: sum %d is %.17g, expected %.17g", name, i, sum[i],
					should);
		}
		n++;
	}
	fclose(reference);
	assert_int_equal(n, 14);
}

static const struct sl_batch_facts batch = {.number = 3};

/* A NaN is converted as on x86: quiet, with its sign and payload. */
TEST(nans_keep_sign_and_payload)
{
	static const uint32_t nan[] = {0x7fa12345, 0xffc00001}, quiet[] = {0x7fe12345, 0xffc00001};
	static const uint64_t wide[] = {0x7ffc2468a0000000, 0xfff8000020000000};

	for (int i = 0; i < 4; i++) {
		struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
		struct sl_table t =
			make_table(1, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy), 0, SAME);
		const struct sl_mcpl_facts facts = {
			.wide = i / 2, .pdg = 22, .energy = (double)NAN, .flags = SL_COLUMN_COUNT};
		const size_t number = i / 2 ? 8 : 4;
		const float along_z[] = {0, 0, i % 2 ? -1 : 1}; /* z has the sign of the energy */
		size_t bytes;
		char *file;

		run.mcpl = facts;
		for (int k = 0; k < 3; k++) {
			static const enum sl_column nans[] = {
				SL_COLUMN_x, SL_COLUMN_energy, SL_COLUMN_time};

			memcpy(sl_table_find(&t, nans[k])->data, &nan[i % 2], 4);
			memcpy(sl_table_find(&t, (enum sl_column)(SL_COLUMN_u + k))->data,
				&along_z[k], 4);
		}
		file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
		for (size_t place = 0; place < 7; place += place == 0 ? 5 : 1)
			assert_memory_equal(file + bytes - (8 - place) * number,
				i / 2 ? (const void *)&wide[i % 2] : &quiet[i % 2], number);
		free(file);
		free_table(&t);
	}
}

/* The comment that lists the columns names other columns. */
TEST(other_columns_are_refused)
{
	static const char was[] = "columns:x,y,z,u,v,w,weight,time,fate";
	static const char *const others[] = {"columns:y,x,z,u,v,w,weight,time,fate",
		"columns:x,y,z,u,v,v,weight,time,fate", "columns:x,y,z,u,v,w,weight,time,hate",
		"columns:x,y,z,u,v,w,time,weight,fate", "columns:x,y,z,u,v,w,weight,time,,,,,",
		"columns:x,y,z,u,v,w,weight,steps,,,,", "Columns:x,y,z,u,v,w,weight,time,fate"};
	const struct sl_mcpl_facts facts = {.pdg = 22, .energy = 2, .flags = SL_COLUMN_fate};
	struct sl_table t = make_table(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0, RANDOM);
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_arena a = {0};
	size_t bytes;
	char *file, *at;

	run.mcpl = facts;
	file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
	free_table(&t);
	at = (char *)memmem(file, bytes, was, sizeof(was) - 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		memcpy(at, others[i], sizeof(was) - 1);
		assert_fails(sl_format_mcpl.read(file, bytes, &a, &t), SL_BAD_INPUT, "columns");
	}
	free(file);
}

/* --- merging ---------------------------------------------------------------------------------- */

/* A list that is being made in memory; no particles. */
struct list {
	uint8_t *bytes;
	size_t size;
};

static const struct sl_mcpl_header plain = {
	.version = 3, .comments = 2, .blobs = 1, .single = true, .pdg = 22};

/* The fixed part of a header, and room for strings. */
static struct list begin_list(struct sl_mcpl_header h, size_t room)
{
	struct list l = {.bytes = (uint8_t *)calloc(56 + room, 1)};

	assert_non_null(l.bytes);
	h.record_bytes = sl_mcpl_record_bytes(&h);
	l.size = sl_mcpl_put_fixed(l.bytes, &h);
	return l;
}

static void put_string(struct list *l, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);

	memcpy(l->bytes + l->size, &length, 4);
	memcpy(l->bytes + l->size + 4, text, length);
	l->size += 4 + length;
}

/* The source, two comments, the name of a blob and a blob. */
static struct list list_of(struct sl_mcpl_header h, const char *const texts[5])
{
	struct list l = begin_list(h, 512);

	for (int i = 0; i < 5; i++)
		put_string(&l, texts[i]);
	return l;
}

/*
 * Merges two lists and frees them: SL_OK, or a message about the second one. Sets text to the
 * second comment.
 */
static enum sl_status join(struct list x, struct list y, char text[64])
{
	struct sl_mcpl_head h, more;
	struct sl_mcpl_string comment;
	const uint8_t *at;
	enum sl_status s;
	bool recovered;

	assert_ok(sl_mcpl_head_read(x.bytes, x.size, &h, &recovered));
	assert_ok(sl_mcpl_head_read(y.bytes, y.size, &more, &recovered));
	s = sl_mcpl_head_join(&h, &more, false);
	assert_int_equal(h.size, x.size);
	at = h.bytes + 48;
	for (int i = 0; i < 3; i++)
		comment = sl_mcpl_next_string(&at);
	snprintf(text, 64, "%.*s", (int)comment.length, (const char *)comment.at);
	sl_mcpl_head_free(&h);
	free(x.bytes);
	free(y.bytes);
	return s;
}

/* The comment "stat:sum:n:VALUE", whose value has 24 places; other comments begin with '='. */
static const char *comment_of(const char *value, char text[64])
{
	snprintf(text, 64, value[0] == '=' ? "%s" : "stat:sum:n:%24s", value + (value[0] == '='));
	return text;
}

TEST(statistics_add_up)
{
	static const struct {
		const char *a, *b, *sum; /* NULL: refused */
	} rows[] = {{"1000", "24", "1024"},
		{"=stat:sum:n:5                       ", "=stat:sum:n:5                       ",
			"10"},
		{"0.1", "0.2", "0.30000000000000004"}, {"1e300", "0", "1e+300"}, {"-1", "7", "-1"},
		{"7", "-1", "-1"}, {"1.7e308", "1.7e308", "-1"},
		{"=not a sum", "=not a sum", "=not a sum"}, {"=one", "=two", NULL},
		{"=one", "=on", NULL},
		{"=stat:sum:a:                       1", "=stat:sum:b:                       1",
			NULL},
		{"=stat:sum:a:1", "=stat:sum:a:2", NULL},
		{"=stat:sum:a:1", "=stat:sum:a:1", "=stat:sum:a:1"}, {"nan", "1", NULL},
		{"-2", "1", NULL}, {"1 1", "1", NULL},
		{"=stat:sum::                       1", "=stat:sum::                       2",
			NULL},
		{"=stat:sum:a b:                       1", "=stat:sum:a b:                       2",
			NULL}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char a[64], b[64], sum[64], text[64];
		const char *const of_a[] = {"me", "first", comment_of(rows[i].a, a), "key", "blob"};
		const char *const of_b[] = {"me", "first", comment_of(rows[i].b, b), "key", "blob"};
		enum sl_status s = join(list_of(plain, of_a), list_of(plain, of_b), text);

		print_message("%s and %s\n", a, b);
		if (rows[i].sum) {
			assert_ok(s);
			assert_string_equal(text, comment_of(rows[i].sum, sum));
		} else {
			assert_fails(
				s, SL_BAD_INPUT, "its comment 2 is not that of the first file");
		}
	}
}

TEST(headers_must_agree)
{
	static const struct {
		const char *says, *texts[5];
		struct sl_mcpl_header h; /* all 0: that of the other list */
	} rows[] = {{"its source is not", {"you", "first", "second", "key", "blob"}, {0}},
		{"its comment 1 is not", {"me", "First", "second", "key", "blob"}, {0}},
		{"its blob 1 is not", {"me", "first", "second", "kez", "blob"}, {0}},
		{"its blob 1 is not", {"me", "first", "second", "key", "blobs"}, {0}},
		{"its version is not", {NULL}, {.version = 2, .single = true, .pdg = 22}},
		{"user flags", {NULL}, {.version = 3, .flags = true, .single = true, .pdg = 22}},
		{"polarisation", {NULL},
			{.version = 3, .polarised = true, .single = true, .pdg = 22}},
		{"its precision is not", {NULL}, {.version = 3, .pdg = 22}},
		{"its PDG code of all particles is not", {NULL},
			{.version = 3, .single = true, .pdg = 11}},
		{"its weight of all particles is not", {NULL},
			{.version = 3, .single = true, .pdg = 22, .weight = 2}}};
	static const char *const usual[] = {"me", "first", "second", "key", "blob"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_mcpl_header h = rows[i].h.version ? rows[i].h : plain;
		char text[64];

		h.comments = plain.comments;
		h.blobs = plain.blobs;
		assert_fails(join(list_of(plain, usual),
				     list_of(h, rows[i].texts[0] ? rows[i].texts : usual), text),
			SL_BAD_INPUT, rows[i].says);
	}
}

/* The reference implementation refuses such a file too. */
TEST(repeated_keys_are_refused)
{
	const char *texts[] = {"me", "stat:sum:n:                       1",
		"stat:sum:n:                       2", "key", "blob"};
	struct list l = list_of(plain, texts);

	assert_fails(sl_mcpl_head_check(l.bytes, l.size), SL_BAD_INPUT,
		"its comment stat:sum:n is repeated");
	free(l.bytes);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Each is refused from the header alone, also if the file could contain the strings. */
TEST(headers_beyond_the_limits_are_refused)
{
	static const struct {
		uint32_t comments, length; /* of the first one */
		size_t bytes;              /* after the header */
		const char *says;          /* NULL: SL_OK */
	} rows[] = {{SL_MCPL_STRINGS_MOST - 1, 0, 4 * (size_t)SL_MCPL_STRINGS_MOST, NULL},
		{SL_MCPL_STRINGS_MOST, 0, 4 * (size_t)SL_MCPL_STRINGS_MOST + 8,
			"but at most 1048576"},
		{UINT32_MAX, 0, 4 * (size_t)SL_MCPL_STRINGS_MOST + 8, "header states"},
		{1, SL_MCPL_STRING_BYTES_MOST - 8, SL_MCPL_STRING_BYTES_MOST, NULL},
		{1, SL_MCPL_STRING_BYTES_MOST - 7, SL_MCPL_STRING_BYTES_MOST + 16,
			"more than 64 MiB"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_mcpl_header h = {.version = 3, .comments = rows[i].comments};
		struct list l = begin_list(h, rows[i].bytes);

		memcpy(l.bytes + 52, &rows[i].length, 4);
		if (rows[i].says)
			assert_fails(sl_mcpl_head_check(l.bytes, 48 + rows[i].bytes), SL_BAD_INPUT,
				rows[i].says);
		else
			assert_ok(sl_mcpl_head_check(l.bytes, 48 + rows[i].bytes));
		free(l.bytes);
	}
}

/*
 * Comments of statistics and blobs of one name: so many that comparing each with each takes
 * minutes.
 */
TEST(many_strings_are_added_up)
{
	enum { COMMENTS = 200000, BLOBS = 50000 };
	const struct sl_mcpl_header h = {.version = 3, .comments = COMMENTS, .blobs = BLOBS};
	struct list l = begin_list(h, (size_t)COMMENTS * 64 + BLOBS * 32);
	struct sl_mcpl_metadata *c;
	char text[64];

	put_string(&l, "me");
	for (int i = 0; i < COMMENTS; i++) {
		snprintf(text, sizeof(text), i % 3 ? "comment %d" : "stat:sum:k%d:%24d",
			i % 3 == 2 ? i / 1000 : i, i);
		put_string(&l, text);
	}
	for (int i = 0; i < 2 * BLOBS; i++) {
		snprintf(text, sizeof(text), i < BLOBS ? "name" : "%d", i);
		put_string(&l, text);
	}
	assert_ok(sl_mcpl_metadata_add(
		&(struct sl_mcpl_part){.file = l.bytes, .bytes = l.size, .particles = 1}, 1, true,
		&c));
	assert_int_equal(c->sums.n, (COMMENTS + 2) / 3);
	assert_int_equal(c->blobs.n, BLOBS);
	assert_int_equal(c->blobs.at[BLOBS - 1].number, BLOBS);
	for (uint32_t k = 0; k < c->sums.n; k++)
		assert_true(sl_mcpl_metadata_sum(c, k, 0, 1) == 3.0 * k);
	sl_mcpl_metadata_free(c);
	free(l.bytes);
}
