/* iaea.c - reads IAEA phase spaces: headers with all contents, records of both byte orders, damage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/phase_space/iaea.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/phase_space_files.h"

enum { N = 60 };

/* --- valid files ------------------------------------------------------------------------------ */

static const struct iaea_facts valid[] = {{.n = N}, {.n = N, .big_endian = true},
	{.n = N, .constant = {false, false, true}},
	{.n = N, .constant = {true, true, true, true, true, true, true}},
	{.n = N, .constant = {false, false, false, false, false, true, true}, .big_endian = true},
	{.n = N, .constant = {false, false, false, true}}, {.n = N, .floats = 2, .longs = 3},
	{.n = N, .floats = 1, .longs = 2, .latch = true, .big_endian = true},
	{.n = N, .constant = {false, true}, .longs = 1, .latch = true}, {.n = 0}};
enum { N_VALID = sizeof(valid) / sizeof(valid[0]) };

static void open_header(const char *text, uint64_t records, struct sl_iaea *h)
{
	assert_ok(sl_iaea_open(text, strlen(text), records, h));
}

TEST(every_record_is_read)
{
	uint8_t record[128];

	for (int k = 0; k < N_VALID; k++) {
		uint32_t bytes = iaea_record_bytes(&valid[k]);
		struct sl_iaea h;

		open_header(iaea_header(&valid[k]), (uint64_t)valid[k].n * bytes, &h);
		assert_int_equal(h.record_bytes, bytes);
		assert_int_equal(h.particles, valid[k].n);
		assert_string_equal(h.title, "a test");
		assert_true(h.histories == 1e6);
		for (uint32_t i = 0; i < valid[k].n; i++) {
			struct sl_mcpl_particle found, expected = iaea_expected(&valid[k], i);

			iaea_record(&valid[k], i, record);
			assert_ok(sl_iaea_particle(&h, record, &found));
			expect_particle(&found, &expected);
		}
	}
}

/* A record of the description, written by hand: an electron of 6 MeV downwards, first of its history. */
TEST(record_written_by_hand)
{
	static const uint8_t record[] = {0xfe, 0, 0, 0xc0, 0xc0,       /* -2; -6 MeV */
		0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0xc8, 0x42,     /* 1, -2, 100 cm */
		0x9a, 0x99, 0x19, 0x3f, 0, 0, 0, 0, 0, 0, 0x80, 0x3e}; /* 0.6, 0; 0.25 */
	static const struct iaea_facts facts = {.n = 1};
	struct sl_mcpl_particle p;
	struct sl_iaea h;

	open_header(iaea_header(&facts), sizeof(record), &h);
	assert_ok(sl_iaea_particle(&h, record, &p));
	assert_int_equal(p.pdg, 11);
	assert_true(p.energy == 6 && p.weight == 0.25 && p.time == 0 && p.flags == 1);
	assert_true(p.position[0] == 1 && p.position[1] == -2 && p.position[2] == 100);
	assert_true(fabs(p.direction[0] - 0.6) < 1e-7 && p.direction[1] == 0);
	assert_true(fabs(p.direction[2] + 0.8) < 1e-7);
}

/* Headers of other writers: no blank lines, no comments, tabs, sections in another order. */
TEST(other_ways_of_writing)
{
	static const char text[] =
		"$PARTICLES:\n2.0e0\n$BYTE_ORDER: // of the machine\n\t1234\n$RECORD_LENGTH:\r\n33\r\n"
		"$RECORD_CONTENTS:\n1\n1\n// a comment\n1\n1\n1\n1\n1\n0\n1\n$ORIG_HISTORIES:\n"
		"18446744073709551615\n$PARTICLES:\n7";
	struct sl_iaea h;

	open_header(text, 66, &h);
	assert_int_equal(h.particles, 2);
	assert_int_equal(h.record_bytes, 33);
	assert_int_equal(h.extra_longs, 1);
	assert_int_equal(h.latch_at, 0);
	assert_true(h.histories == -1);
	assert_string_equal(h.title, "");
}

/* --- refusals --------------------------------------------------------------------------------- */

/* Replaces the first occurrence of a text in a valid header, or a tail that begins with it. */
static const char *replaced(const char *old, const char *by)
{
	static const struct iaea_facts facts = {
		.n = 10, .constant = {false, false, true}, .longs = 2, .latch = true};
	static char text[8192];
	const char *valid_text = iaea_header(&facts), *at = strstr(valid_text, old);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - valid_text), valid_text, by,
		at + strlen(old));
	return text;
}

TEST(wrong_headers_are_refused)
{
	static const struct {
		const char *old, *by, *message;
	} wrong[] = {
		{"$FILE_TYPE:\n0", "$FILE_TYPE:\n1", "file type 1 (an event generator)"},
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
		{"$CHECKSUM:\n330", "$CHECKSUM:\n331", "the $CHECKSUM: of the header is 331"},
		{"$ORIG_HISTORIES:\n1000000", "$ORIG_HISTORIES:\nmany", "'many', not a number"},
	};
	struct sl_iaea h;

	for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		const char *text = replaced(wrong[k].old, wrong[k].by);

		assert_fails(
			sl_iaea_open(text, strlen(text), 330, &h), SL_BAD_INPUT, wrong[k].message);
	}
	assert_fails(sl_iaea_open("", 0, 330, &h), SL_BAD_INPUT, "$RECORD_CONTENTS");
	assert_fails(sl_iaea_open(replaced("", ""), strlen(replaced("", "")), 331, &h),
		SL_BAD_INPUT, "has 331 bytes: it is damaged, was cut short");
}

/* Every prefix of a header, in memory of exactly its size. */
TEST(cut_headers_are_refused)
{
	const char *text = replaced("", "");
	size_t bytes = strlen(text), end = (size_t)(strstr(text, "$PARTICLES:\n10") - text) + 14;
	struct sl_iaea h;

	for (size_t n = 0; n <= bytes; n++) {
		char *copy = (char *)malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, text, n);
		assert_int_equal(sl_iaea_open(copy, n, 330, &h), n < end ? SL_BAD_INPUT : SL_OK);
		free(copy);
	}
}

TEST(unknown_types_are_refused)
{
	static const struct iaea_facts facts = {.n = 1};
	static const int8_t types[] = {0, 6, -6, 127, -128};
	struct sl_mcpl_particle p;
	uint8_t record[64];
	struct sl_iaea h;

	open_header(iaea_header(&facts), iaea_record_bytes(&facts), &h);
	iaea_record(&facts, 0, record);
	for (size_t k = 0; k < sizeof(types); k++) {
		record[0] = (uint8_t)types[k];
		assert_fails(
			sl_iaea_particle(&h, record, &p), SL_BAD_INPUT, "only 1 to 5 are defined");
	}
}
