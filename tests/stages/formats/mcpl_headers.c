/*
 * mcpl_headers.c - headers of MCPL files are merged by the rules of the reference implementation, and have limits.
 *
 * Expected sums are computed by hand. tests/scripts/readers.py compares joined files with those of mcpltool --merge.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_metadata.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/property/property.h"

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

/* --- merging ---------------------------------------------------------------------------------- */

/* A list that is being made in memory. */
struct list {
	uint8_t *bytes;
	size_t size;
};

static const struct sl_mcpl_header plain = {
	.version = 3, .comments = 2, .blobs = 1, .single = true, .pdg = 22};

/* The fixed part of a header, and room for more. */
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

/* The source, two comments, the name of a blob and a blob; no particles. */
static struct list list_of(struct sl_mcpl_header h, const char *const texts[5])
{
	struct list l = begin_list(h, 512);

	for (int i = 0; i < 5; i++)
		put_string(&l, texts[i]);
	return l;
}

static const char *const usual[] = {"me", "first", "second", "key", "blob"};

/* Merges two headers: SL_OK, or a message about the second one. Sets text to the second comment. */
static enum sl_status join(const struct list *x, const struct list *y, char text[64])
{
	struct sl_mcpl_head h = head_of(x->bytes, x->size), more = head_of(y->bytes, y->size);
	enum sl_status s = sl_mcpl_head_join(&h, &more);
	const uint8_t *at = h.bytes + 48;
	struct sl_mcpl_string comment;

	assert_int_equal(h.size, x->size);
	for (int i = 0; i < 3; i++)
		comment = sl_mcpl_next_string(&at);
	snprintf(text, 64, "%.*s", (int)comment.length, (const char *)comment.at);
	sl_mcpl_head_free(&h);
	sl_mcpl_head_free(&more);
	return s;
}

TEST(statistics_add_up)
{
	static const struct {
		const char *a, *b, *sum; /* NULL: refused */
	} rows[] = {{"stat:sum:n:                    1000", "stat:sum:n:                      24",
			    "stat:sum:n:                    1024"},
		{"stat:sum:n:5                       ", "stat:sum:n:5                       ",
			"stat:sum:n:                      10"},
		{"stat:sum:n:                     0.1", "stat:sum:n:                     0.2",
			"stat:sum:n:     0.30000000000000004"},
		{"stat:sum:n:                   1e300", "stat:sum:n:                       0",
			"stat:sum:n:                  1e+300"},
		{"stat:sum:n:                      -1", "stat:sum:n:                       7",
			"stat:sum:n:                      -1"},
		{"stat:sum:n:                       7", "stat:sum:n:                      -1",
			"stat:sum:n:                      -1"},
		{"stat:sum:n:                 1.7e308", "stat:sum:n:                 1.7e308",
			"stat:sum:n:                      -1"},
		{"not a sum", "not a sum", "not a sum"}, {"one", "two", NULL}, {"one", "on", NULL},
		{"stat:sum:a:                       1", "stat:sum:b:                       1",
			NULL},
		{"stat:sum:a:1", "stat:sum:a:2", NULL},
		{"stat:sum:a:1", "stat:sum:a:1", "stat:sum:a:1"},
		{"stat:sum:a:                     nan", "stat:sum:a:                       1",
			NULL},
		{"stat:sum:a:                      -2", "stat:sum:a:                       1",
			NULL},
		{"stat:sum:a:                     1 1", "stat:sum:a:                       1",
			NULL},
		{"stat:sum::                       1", "stat:sum::                       2", NULL},
		{"stat:sum:a b:                       1", "stat:sum:a b:                       2",
			NULL}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const of_a[] = {"me", "first", rows[i].a, "key", "blob"};
		const char *const of_b[] = {"me", "first", rows[i].b, "key", "blob"};
		struct list x = list_of(plain, of_a), y = list_of(plain, of_b);
		char text[64];

		print_message("%s\n", rows[i].a);
		if (rows[i].sum) {
			assert_ok(join(&x, &y, text));
			assert_string_equal(text, rows[i].sum);
		} else {
			assert_fails(join(&x, &y, text), SL_BAD_INPUT,
				"its comment 2 is not that of the first file");
		}
		free(x.bytes);
		free(y.bytes);
	}
}

TEST(headers_must_agree)
{
	static const struct {
		const char *says, *texts[5];
	} other_texts[] = {{"its source is not", {"you", "first", "second", "key", "blob"}},
		{"its comment 1 is not", {"me", "First", "second", "key", "blob"}},
		{"its blob 1 is not", {"me", "first", "second", "kez", "blob"}},
		{"its blob 1 is not", {"me", "first", "second", "key", "blobs"}}};
	static const char *const says[] = {"its version is not", "user flags", "polarisation",
		"its precision is not", "its PDG code of all particles is not",
		"its weight of all particles is not"};
	struct list x = list_of(plain, usual), y;
	char text[64];

	for (size_t i = 0; i < sizeof(other_texts) / sizeof(other_texts[0]); i++) {
		y = list_of(plain, other_texts[i].texts);
		assert_fails(join(&x, &y, text), SL_BAD_INPUT, other_texts[i].says);
		free(y.bytes);
	}
	for (int i = 0; i < 6; i++) {
		struct sl_mcpl_header h = plain;

		h.version = i == 0 ? 2 : 3;
		h.flags = i == 1;
		h.polarised = i == 2;
		h.single = i != 3;
		h.pdg = i == 4 ? 11 : 22;
		h.weight = i == 5 ? 2 : 0;
		y = list_of(h, usual);
		assert_fails(join(&x, &y, text), SL_BAD_INPUT, says[i]);
		free(y.bytes);
	}
	free(x.bytes);
}

TEST(particles_of_merged_lists_are_counted)
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
	const char *texts[] = {"me", "stat:sum:n:                       1",
		"stat:sum:n:                       2", "key", "blob"};
	struct list l = list_of(plain, texts);

	assert_fails(sl_mcpl_head_check(l.bytes, l.size), SL_BAD_INPUT,
		"its comment stat:sum:n is repeated");
	free(l.bytes);
	texts[2] = "stat:sum:nn:                       2";
	l = list_of(plain, texts);
	assert_ok(sl_mcpl_head_check(l.bytes, l.size));
	free(l.bytes);
}

/* --- limits ----------------------------------------------------------------------------------- */

static struct list empty_strings(uint32_t comments, uint32_t blobs, size_t room)
{
	struct sl_mcpl_header h = plain;

	h.comments = comments;
	h.blobs = blobs;
	return begin_list(h, room);
}

/* Each is refused from the header alone, also if the file could contain the strings. */
TEST(headers_beyond_the_limits_are_refused)
{
	const uint32_t most = SL_MCPL_STRINGS_MOST - 1;
	const size_t space = 4 * (size_t)SL_MCPL_STRINGS_MOST,
		     bytes = (size_t)SL_MCPL_STRING_BYTES_MOST;
	struct list l = empty_strings(most, 0, space + 8);
	uint32_t length = SL_MCPL_STRING_BYTES_MOST - 8;

	assert_ok(sl_mcpl_head_check(l.bytes, 48 + space));
	memcpy(l.bytes + 16, &(uint32_t){most + 1}, 4);
	assert_fails(
		sl_mcpl_head_check(l.bytes, 48 + space + 8), SL_BAD_INPUT, "but at most 1048576");
	memcpy(l.bytes + 16, &(uint32_t){UINT32_MAX}, 4);
	assert_fails(sl_mcpl_head_check(l.bytes, 48 + space + 8), SL_BAD_INPUT, "header states");
	free(l.bytes);
	l = empty_strings(1, 0, bytes + 16);
	memcpy(l.bytes + 52, &length, 4);
	assert_ok(sl_mcpl_head_check(l.bytes, 48 + bytes));
	length++;
	memcpy(l.bytes + 52, &length, 4);
	assert_fails(
		sl_mcpl_head_check(l.bytes, 48 + bytes + 16), SL_BAD_INPUT, "more than 64 MiB");
	free(l.bytes);
}

/* The metadata of one list. */
static struct sl_mcpl_metadata *metadata_of(const struct list *l)
{
	const struct sl_mcpl_part part = {.file = l->bytes, .bytes = l->size, .particles = 1};
	struct sl_mcpl_metadata *c;

	assert_ok(sl_mcpl_metadata_add(&part, 1, &c));
	return c;
}

/* Comments of statistics and blobs of one name: so many that comparing each with each takes minutes. */
TEST(many_strings_are_added_up)
{
	enum { COMMENTS = 200000, BLOBS = 50000 };
	struct list l = empty_strings(COMMENTS, BLOBS, (size_t)COMMENTS * 64 + BLOBS * 32);
	struct sl_mcpl_metadata *c;
	char text[64];

	put_string(&l, "me");
	for (int i = 0; i < COMMENTS; i++) {
		if (i % 3 == 0)
			snprintf(text, sizeof(text), "stat:sum:k%d:%24d", i, i);
		else
			snprintf(text, sizeof(text), "comment %d", i % 3 == 1 ? i : i / 1000);
		put_string(&l, text);
	}
	for (int i = 0; i < BLOBS; i++)
		put_string(&l, "name");
	for (int i = 0; i < BLOBS; i++) {
		snprintf(text, sizeof(text), "%d", i);
		put_string(&l, text);
	}
	c = metadata_of(&l);
	assert_int_equal(c->sums.n, (COMMENTS + 2) / 3);
	assert_int_equal(c->blobs.n, BLOBS);
	assert_int_equal(c->blobs.at[BLOBS - 1].number, BLOBS);
	for (uint32_t k = 0; k < c->sums.n; k++)
		assert_true(sl_mcpl_metadata_sum(c, k, 0, 1) == 3.0 * k);
	sl_mcpl_metadata_free(c);
	free(l.bytes);
}

/* --- names of blobs --------------------------------------------------------------------------- */

enum { NAME_BYTES = 16, NUMBERED_BYTES = NAME_BYTES + 16, NAMES = 40 };

/* Prints the name that a blob has with that number. */
static void print_numbered(char *text, const char *name, uint32_t number)
{
	snprintf(text, NUMBERED_BYTES, number > 1 ? "%.*s_%u" : "%.*s", NAME_BYTES, name, number);
}

/* Returns the number of blob i by the rule of mcpl_metadata.h, with the simplest algorithm. */
static uint32_t expected_number(const char *const *names, const uint32_t *number, uint32_t i)
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
PROPERTY(blobs_get_the_first_free_name, 300)
{
	static const char *const parts[] = {"a", "a_2", "a_3", "a_2_2", "b", "sluice_config", ""};
	struct list l = empty_strings(0, NAMES, NAMES * 40 + 64);
	struct sl_mcpl_metadata *c;
	const char *names[NAMES];
	uint32_t number[NAMES];
	char text[16];

	put_string(&l, "me");
	for (uint32_t i = 0; i < NAMES; i++) {
		names[i] = rnd_of(g, parts);
		put_string(&l, names[i]);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "%u", i);
		put_string(&l, text);
		number[i] = expected_number(names, number, i);
	}
	c = metadata_of(&l);
	assert_int_equal(c->blobs.n, NAMES);
	for (uint32_t i = 0; i < NAMES; i++)
		assert_int_equal(c->blobs.at[i].number, number[i]);
	sl_mcpl_metadata_free(c);
	free(l.bytes);
}

PROPERTY_FILE()
