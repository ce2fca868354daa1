/*
 * mcpl_head.c - tests that headers of MCPL files are read completely and merged by the rules of
 * the reference implementation.
 *
 * Expected sums are computed by hand. tests/scripts/readers.py compares joined files with those of
 * mcpltool --merge.
 */
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"

static struct sl_mcpl_head head_of(const void *file, size_t bytes)
{
	struct sl_mcpl_head h;
	bool recovered;

	assert_ok(sl_mcpl_head_read(file, bytes, &h, &recovered));
	assert_false(recovered);
	return h;
}

/* The header of a plain file is the bytes before the first particle. */
TEST(header_is_kept_byte_for_byte)
{
	for (int i = 1; i <= 8; i++) {
		char name[64];
		size_t bytes;
		char *file;
		struct sl_mcpl_head h;

		snprintf(name, sizeof(name), "reffile_%d.mcpl", i);
		file = reference_list(name, &bytes);
		h = head_of(file, bytes);
		assert_int_equal(h.fixed.particles, 5);
		assert_int_equal(h.size + (size_t)5 * h.fixed.record_bytes, bytes);
		assert_memory_equal(h.bytes, file, h.size);
		h.fixed.particles = 0x0102030405060708;
		sl_mcpl_head_finish(&h);
		assert_memory_equal(h.bytes + 8, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
		assert_memory_equal(h.bytes + 16, file + 16, h.size - 16);
		sl_mcpl_head_free(&h);
		free(file);
	}
}

TEST(unfinished_file_is_reported)
{
	struct sl_mcpl_head h;
	bool recovered = false;
	size_t bytes;
	char *file = reference_list("reffile_crash.mcpl", &bytes);

	assert_ok(sl_mcpl_head_read(file, bytes, &h, &recovered));
	assert_true(recovered);
	assert_int_equal(h.fixed.particles, 4);
	sl_mcpl_head_free(&h);
	assert_fails(sl_mcpl_head_read(file, 60, &h, &recovered), SL_BAD_INPUT, "cut short");
	free(file);
}

/* --- headers made here -------------------------------------------------------------------------
 */

/* A list without particles: two comments and a blob. */
struct made {
	uint8_t bytes[512];
	size_t size;
};

static void put_text(struct made *m, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);

	memcpy(m->bytes + m->size, &length, 4);
	memcpy(m->bytes + m->size + 4, text, length);
	m->size += 4 + length;
}

static struct made make(struct sl_mcpl_header h, const char *const texts[5])
{
	struct made m = {.size = 0};

	h.comments = 2;
	h.blobs = 1;
	h.record_bytes = sl_mcpl_record_bytes(&h);
	m.size = sl_mcpl_put_fixed(m.bytes, &h);
	for (int i = 0; i < 5; i++)
		put_text(&m, texts[i]);
	return m;
}

static const struct sl_mcpl_header plain = {.version = 3, .single = true, .pdg = 22};

/* Joins two headers with these second comments. Returns the joined comment, or NULL if refused. */
static const char *joined(const char *a, const char *b)
{
	static char comment[256];
	const char *const of_a[] = {"me", "first", a, "key", "blob"};
	const char *const of_b[] = {"me", "first", b, "key", "blob"};
	struct made x = make(plain, of_a), y = make(plain, of_b);
	struct sl_mcpl_head h = head_of(x.bytes, x.size), more = head_of(y.bytes, y.size);
	enum sl_status s = sl_mcpl_head_join(&h, &more);
	size_t at = 48 + 4 + 2 + 4 + 5 + 4;

	if (s != SL_OK)
		assert_fails(s, SL_BAD_INPUT, "its comment 2 is not that of the first file");
	assert_int_equal(h.size, x.size);
	snprintf(comment, sizeof(comment), "%.*s", (int)strlen(a), (const char *)h.bytes + at);
	sl_mcpl_head_free(&h);
	sl_mcpl_head_free(&more);
	return s == SL_OK ? comment : NULL;
}

TEST(sums_add_up)
{
	assert_string_equal(joined("stat:sum:n:                    1000",
				    "stat:sum:n:                      24"),
		"stat:sum:n:                    1024");
	assert_string_equal(joined("stat:sum:n:5                       ",
				    "stat:sum:n:5                       "),
		"stat:sum:n:                      10");
	assert_string_equal(joined("stat:sum:n:                     0.1",
				    "stat:sum:n:                     0.2"),
		"stat:sum:n:     0.30000000000000004");
	assert_string_equal(joined("stat:sum:n:                   1e300",
				    "stat:sum:n:                       0"),
		"stat:sum:n:                  1e+300");
	assert_string_equal(joined("stat:sum:n:                      -1",
				    "stat:sum:n:                       7"),
		"stat:sum:n:                      -1");
	assert_string_equal(joined("stat:sum:n:                       7",
				    "stat:sum:n:                      -1"),
		"stat:sum:n:                      -1");
	assert_string_equal(joined("stat:sum:n:                 1.7e308",
				    "stat:sum:n:                 1.7e308"),
		"stat:sum:n:                      -1");
	assert_string_equal(joined("not a sum", "not a sum"), "not a sum");
}

TEST(other_statistics_must_be_equal)
{
	assert_null(joined("one", "two"));
	assert_null(joined("one", "on"));
	assert_null(joined(
		"stat:sum:a:                       1", "stat:sum:b:                       1"));
	assert_null(joined("stat:sum:a:1", "stat:sum:a:2"));
	assert_null(joined(
		"stat:sum:a:                     nan", "stat:sum:a:                       1"));
	assert_null(joined(
		"stat:sum:a:                      -2", "stat:sum:a:                       1"));
	assert_null(joined(
		"stat:sum:a:                     1 1", "stat:sum:a:                       1"));
	assert_null(
		joined("stat:sum::                       1", "stat:sum::                       2"));
	assert_null(joined(
		"stat:sum:a b:                       1", "stat:sum:a b:                       2"));
	assert_string_equal(joined("stat:sum:a:1", "stat:sum:a:1"), "stat:sum:a:1");
}

static void expect_refused(
	struct sl_mcpl_header fixed, const char *const texts[5], const char *says)
{
	static const char *const usual[] = {"me", "first", "second", "key", "blob"};
	struct made x = make(plain, usual), y = make(fixed, texts ? texts : usual);
	struct sl_mcpl_head h = head_of(x.bytes, x.size), more = head_of(y.bytes, y.size);

	assert_fails(sl_mcpl_head_join(&h, &more), SL_BAD_INPUT, says);
	sl_mcpl_head_free(&h);
	sl_mcpl_head_free(&more);
}

TEST(headers_must_agree)
{
	static const char *const texts[][5] = {{"you", "first", "second", "key", "blob"},
		{"me", "First", "second", "key", "blob"}, {"me", "first", "second", "kez", "blob"},
		{"me", "first", "second", "key", "blobs"}};
	struct sl_mcpl_header h = plain;

	expect_refused(plain, texts[0], "its source is not");
	expect_refused(plain, texts[1], "its comment 1 is not");
	expect_refused(plain, texts[2], "its blob 1 is not");
	expect_refused(plain, texts[3], "its blob 1 is not");
	h.version = 2;
	expect_refused(h, NULL, "its version is not");
	h = plain;
	h.flags = true;
	expect_refused(h, NULL, "user flags");
	h = plain;
	h.polarised = true;
	expect_refused(h, NULL, "polarisation");
	h = plain;
	h.single = false;
	expect_refused(h, NULL, "its precision is not");
	h = plain;
	h.pdg = 11;
	expect_refused(h, NULL, "its PDG code of all particles is not");
	h = plain;
	h.weight = 2;
	expect_refused(h, NULL, "its weight of all particles is not");
}

TEST(lists_with_other_counts_are_refused)
{
	size_t bytes_a, bytes_b;
	char *a = reference_list("reffile_1.mcpl", &bytes_a),
	     *b = reference_list("reffile_6.mcpl", &bytes_b);
	struct sl_mcpl_head h = head_of(a, bytes_a), more = head_of(b, bytes_b);

	assert_int_equal(sl_mcpl_head_join(&h, &more), SL_BAD_INPUT);
	sl_mcpl_head_free(&more);
	more = head_of(a, bytes_a);
	assert_ok(sl_mcpl_head_join(&h, &more));
	assert_int_equal(h.fixed.particles, 10);
	sl_mcpl_head_free(&h);
	sl_mcpl_head_free(&more);
	free(a);
	free(b);
}

/* The reference implementation refuses such a file too. */
TEST(repeated_keys_are_refused)
{
	static const char *const texts[] = {"me", "stat:sum:n:                       1",
		"stat:sum:n:                       2", "key", "blob"};
	static const char *const others[] = {"me", "stat:sum:n:                       1",
		"stat:sum:nn:                       2", "key", "blob"};
	struct made m = make(plain, texts), other = make(plain, others);
	struct sl_mcpl_head h;
	bool recovered;

	assert_fails(sl_mcpl_head_read(m.bytes, m.size, &h, &recovered), SL_BAD_INPUT,
		"its comment stat:sum:n is repeated");
	assert_fails(sl_mcpl_head_check(m.bytes, m.size), SL_BAD_INPUT, "is repeated");
	assert_ok(sl_mcpl_head_check(other.bytes, other.size));
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A file of a header with so many comments and blobs, and space for bytes of empty strings. */
static uint8_t *empty_strings(uint32_t comments, uint32_t blobs, size_t bytes)
{
	struct sl_mcpl_header h = plain;
	uint8_t *file = (uint8_t *)calloc(48 + bytes, 1);

	h.comments = comments;
	h.blobs = blobs;
	h.record_bytes = sl_mcpl_record_bytes(&h);
	sl_mcpl_put_fixed(file, &h);
	return file;
}

/* Each is refused from the header alone, also if the file could contain the strings. */
TEST(headers_beyond_the_limits_are_refused)
{
	const uint32_t most = SL_MCPL_STRINGS_MOST - 1;
	const uint32_t large = SL_MCPL_STRING_BYTES_MOST - 8;
	size_t space = 4 * (size_t)SL_MCPL_STRINGS_MOST, bytes = (size_t)SL_MCPL_STRING_BYTES_MOST;
	uint8_t *file = empty_strings(most, 0, space + 8);
	uint32_t length = large;

	assert_ok(sl_mcpl_head_check(file, 48 + space));
	memcpy(file + 16, &(uint32_t){most + 1}, 4);
	assert_fails(sl_mcpl_head_check(file, 48 + space + 8), SL_BAD_INPUT, "but at most 1048576");
	memcpy(file + 16, &(uint32_t){UINT32_MAX}, 4);
	assert_fails(sl_mcpl_head_check(file, 48 + space + 8), SL_BAD_INPUT, "header states");
	free(file);
	file = empty_strings(1, 0, bytes + 16);
	memcpy(file + 52, &length, 4);
	assert_ok(sl_mcpl_head_check(file, 48 + bytes));
	length++;
	memcpy(file + 52, &length, 4);
	assert_fails(sl_mcpl_head_check(file, 48 + bytes + 16), SL_BAD_INPUT, "more than 64 MiB");
	free(file);
}

/* --- metadata of many strings ----------------------------------------------------------------- */

/* Appends a string to a file that is long enough. */
static void put_string(uint8_t *file, size_t *at, const char *text, uint32_t length)
{
	memcpy(file + *at, &length, 4);
	memcpy(file + *at + 4, text, length);
	*at += 4 + length;
}

/* The metadata of one list. */
static struct sl_mcpl_metadata *metadata_of(const uint8_t *file, size_t bytes)
{
	const struct sl_mcpl_part part = {.file = file, .bytes = bytes, .particles = 1};
	struct sl_mcpl_metadata *c;

	assert_ok(sl_mcpl_metadata_add(&part, 1, &c));
	return c;
}

enum { COMMENTS = 200000, BLOBS = 50000 };

/*
 * Many comments of statistics and blobs of one name. A join in quadratic time takes minutes; this one
 * takes less than 1 s. The limit of 20 s also holds with a sanitizer.
 */
TEST(many_strings_take_little_time)
{
	uint8_t *file = empty_strings(COMMENTS, BLOBS, (size_t)COMMENTS * 64 + BLOBS * 32);
	double begin = (double)clock() / CLOCKS_PER_SEC;
	struct sl_mcpl_metadata *c;
	char text[64];
	size_t at = 48;

	put_string(file, &at, "me", 2);
	for (int i = 0; i < COMMENTS; i++) {
		if (i % 3 == 0)
			snprintf(text, sizeof(text), "stat:sum:k%d:%24d", i, i);
		else
			snprintf(text, sizeof(text), "comment %d", i % 3 == 1 ? i : i / 1000);
		put_string(file, &at, text, (uint32_t)strlen(text));
	}
	for (int i = 0; i < BLOBS; i++)
		put_string(file, &at, "name", 4);
	for (int i = 0; i < BLOBS; i++) {
		snprintf(text, sizeof(text), "%d", i);
		put_string(file, &at, text, (uint32_t)strlen(text));
	}
	c = metadata_of(file, at);
	assert_int_equal(c->sums.n, (COMMENTS + 2) / 3);
	assert_int_equal(c->blobs.n, BLOBS);
	assert_int_equal(c->blobs.at[BLOBS - 1].number, BLOBS);
	for (uint32_t k = 0; k < c->sums.n; k++)
		assert_true(sl_mcpl_metadata_sum(c, k, 0, 1) == 3.0 * k);
	sl_mcpl_metadata_free(c);
	assert_true((double)clock() / CLOCKS_PER_SEC - begin < 20);
	free(file);
}

/* Bytes of a short name, and of one with a number added. */
enum { NAME_BYTES = 16, NUMBERED_BYTES = NAME_BYTES + 16 };

/* Prints the name that a blob has with that number. */
static void print_numbered(char *text, const char *name, uint32_t number)
{
	snprintf(text, NUMBERED_BYTES, number > 1 ? "%.*s_%u" : "%.*s", NAME_BYTES, name, number);
}

/* Returns the number of blob i by the rule of mcpl_metadata.h, with the simplest algorithm. */
static uint32_t expected_number(char names[][NAME_BYTES], const uint32_t *number, uint32_t i)
{
	for (uint32_t k = 1;; k++) {
		char name[NUMBERED_BYTES], other[NUMBERED_BYTES];
		bool taken;

		print_numbered(name, names[i], k);
		taken = strcmp(name, "sluice_config") == 0;
		for (uint32_t j = 0; j < i; j++) {
			print_numbered(other, names[j], number[j]);
			taken = taken || strcmp(name, other) == 0;
		}
		if (!taken)
			return k;
	}
}

/* Names that equal those that other blobs get. */
TEST(blobs_get_the_first_free_name)
{
	static const char *const parts[] = {"a", "a_2", "a_3", "a_2_2", "b", "sluice_config", ""};
	enum { N = 40 };
	char names[N][NAME_BYTES];
	uint32_t random = 1, number[N];

	for (int round = 0; round < 300; round++) {
		uint8_t *file = empty_strings(0, N, N * 40 + 64);
		struct sl_mcpl_metadata *c;
		char text[16];
		size_t at = 48;

		put_string(file, &at, "me", 2);
		for (uint32_t i = 0; i < N; i++) {
			snprintf(names[i], sizeof(names[i]), "%s",
				parts[(size_t)(next_random(&random) * 7)]);
			put_string(file, &at, names[i], (uint32_t)strlen(names[i]));
		}
		for (uint32_t i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "%u", i);
			put_string(file, &at, text, (uint32_t)strlen(text));
			number[i] = expected_number(names, number, i);
		}
		c = metadata_of(file, at);
		assert_int_equal(c->blobs.n, N);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(c->blobs.at[i].number, number[i]);
		sl_mcpl_metadata_free(c);
		free(file);
	}
}
