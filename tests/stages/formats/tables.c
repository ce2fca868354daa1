/*
 * tables.c - exact text of csv files, and messages about tables that other programs wrote or that were changed.
 * tests/property/tables.c tests random tables; readback.c lets numpy and csv read them.
 */
#include <math.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "stages/formats/common/decimal.h"
#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/common/inflate.h"
#include "stages/formats/formats.h"
#include "tests/support/formats/tables.h"

static const struct sl_batch_facts batch = {.number = 3};

TEST(known_floats_print_as_expected)
{
	static const struct {
		float v;
		const char *text;
	} known[] = {{0.0f, "0"}, {-0.0f, "-0"}, {1, "1"}, {-1.5f, "-1.5"}, {0.1f, "0.1"},
		{100000, "100000"}, {1e8f, "100000000"}, {1e9f, "1e9"}, {123456789.0f, "123456790"},
		{0.0001f, "0.0001"}, {0.00012345678f, "0.00012345678"}, {0.00001f, "1e-5"},
		{0.000099f, "9.9e-5"}, {3.14159274f, "3.1415927"}, {3.40282347e38f, "3.4028235e38"},
		{-1.17549435e-38f, "-1.1754944e-38"}, {1.4e-45f, "1e-45"}, {INFINITY, "inf"},
		{-INFINITY, "-inf"}, {NAN, "nan"}};
	static const char *const refused[] = {"", "infinity", "-nan", "nan(1)", "0x1"};
	struct sl_powers powers;
	uint64_t u;
	float v;

	sl_powers_make(&powers);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		char text[SL_F32_TEXT_BYTES + 1];

		text[sl_print_f32(&powers, known[i].v, text)] = '\0';
		assert_string_equal(text, known[i].text);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (sl_parse_f32(&powers, refused[i], strlen(refused[i]), &v))
			fail_msg("'%s' is read as %a", refused[i], (double)v);
	assert_true(sl_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
	assert_false(sl_parse_u64("18446744073709551616", 20, &u));
}

/* --- csv -------------------------------------------------------------------------------------- */

TEST(text_is_plain)
{
	static const char expected[] = "id,x,fate\n0,2.5,7\n3,2.5,7\n6,2.5,7\n";
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(
		3, SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_fate), 0, SAME);
	size_t bytes;
	char *file;

	for (uint64_t i = 0; i < 3; i++)
		((uint64_t *)t.column[0].data)[i] = 3 * i;
	file = file_of(&sl_format_csv, &run, &batch, &t, 0, &bytes);
	assert_int_equal(bytes, strlen(expected));
	assert_memory_equal(file, expected, bytes);
	free(file);
	free_table(&t);
}

/* A text as a member of gzip. The caller frees it. */
static uint8_t *gzip(const char *text, size_t *bytes)
{
	uint8_t *file = (uint8_t *)malloc(sl_gzip_stored_bytes(strlen(text)));

	assert_non_null(file);
	*bytes = sl_gzip_store(text, strlen(text), file);
	return file;
}

static enum sl_status read_text(const char *text)
{
	size_t bytes;
	uint8_t *file = gzip(text, &bytes);
	struct sl_arena a;
	struct sl_table t;
	enum sl_status status = read_back(&sl_format_csv_gz, file, bytes, &a, &t);

	free(a.base);
	free(file);
	return status;
}

TEST(other_tables_are_refused)
{
	static const char *const good[] = {
		"id,x\n1,2\n", "id,x\n", "\n", "id,foo,bar,half,x2\n1,2,3,4,5\n"};
	static const struct {
		const char *text, *says;
	} bad[] = {{"", "empty"}, {"id,x", "no end"}, {"id,x\n1,2", "no end"},
		{"id,a,b,c,d,e\n1,2,3,4,5,6\n", "not known"}, {"id,foo,foo\n1,2,3\n", "twice"},
		{"id,2x\n1,2\n", "not known"}, {"id,a-b\n1,2\n", "not known"},
		{"id,a_name_that_has_32_characters_in_it\n1,2\n", "not known"},
		{"id,\n1,2\n", "not known"}, {"id,id\n1,2\n", "twice"}, {"id,x\n1\n", "row 0: "},
		{"id,x\n1,2\n3,4,5\n", "row 1"}, {"id,x\n1,2,\n", "more fields"},
		{"id,x\n\n", "row 0: "}, {"id,x\r\n1,2\r\n", "not known"},
		{"fate\n256\n", "column fate"}, {"pixel\n4294967296\n", "column pixel"},
		{"x\n2.50\n", "column x"}, {"\n\n1\n", "row 1"}};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_ok(read_text(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_fails(read_text(bad[i].text), SL_BAD_INPUT, bad[i].says);
}

/* A thousand newlines take one byte of a file, so the first invalid row must end the reading. */
TEST(long_texts_are_refused)
{
	enum { N = 200000 };
	char *text = (char *)calloc(N + 1, 1);

	memset(text, '\n', N);
	assert_fails(read_text(text), SL_BAD_INPUT, "no columns, but more than 65536 rows");
	memcpy(text, "id\n1\n", 5);
	assert_fails(read_text(text), SL_BAD_INPUT, "row 1: it has fewer values than columns");
	memset(text, '1', N);
	assert_fails(read_text(text), SL_BAD_INPUT, "longer");
	free(text);
}

/* A file of a whole run has several members. Other bytes, or the first line again, are refused. */
TEST(members_are_read_and_other_bytes_refused)
{
	uint8_t two[256];
	size_t bytes, more;
	uint8_t *file = gzip("id\n1\n", &bytes), *rows = gzip("2\n3\n", &more);
	struct sl_arena a = {0};
	struct sl_table t;

	memcpy(two, file, bytes);
	memcpy(two + bytes, rows, more);
	assert_ok(read_back(&sl_format_csv_gz, two, bytes + more, &a, &t));
	assert_int_equal(t.n, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(((const uint64_t *)t.column[0].data)[i], i + 1);
	free(a.base);
	for (size_t cut = bytes + 1; cut < bytes + more; cut++)
		assert_fails(read_back(&sl_format_csv_gz, two, cut, &a, &t), SL_BAD_INPUT,
			"cannot be inflated");
	memcpy(two + bytes, file, bytes);
	assert_fails(read_back(&sl_format_csv_gz, two, 2 * bytes, &a, &t), SL_BAD_INPUT,
		"is not a number");
	free(a.base);
	assert_fails(read_back(&sl_format_csv, two, bytes, &a, &t), SL_BAD_INPUT, "damaged");
	free(rows);
	free(file);
}

/* A member with a reserved flag, alone and after another member (RFC 1952, 2.3.1.2). */
TEST(reserved_flags_of_gzip_are_refused)
{
	static const uint8_t empty[] = {
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	uint8_t file[2 * sizeof(empty)], out[1];
	struct sl_inflate s;
	size_t got;

	for (unsigned flag = 0; flag < 256; flag += 32)
		for (size_t member = 0; member < 2; member++) {
			memcpy(file, empty, sizeof(empty));
			memcpy(file + sizeof(empty), empty, sizeof(empty));
			file[member * sizeof(empty) + 3] = (uint8_t)flag;
			assert_ok(sl_inflate_begin(&s, SL_GZIP, file, sizeof(file)));
			s.members = true;
			if (flag > 0)
				assert_fails(sl_inflate_next(&s, out, sizeof(out), &got),
					SL_BAD_INPUT, "wrong header");
			else
				assert_ok(sl_inflate_next(&s, out, sizeof(out), &got));
			assert_int_equal(got, 0);
			sl_inflate_end(&s);
		}
}

/* A compressor whose stream is too long, as if sl_deflate_most() were too small for it. */
static enum sl_status too_long(struct sl_exec *x, const struct sl_deflate_job *job)
{
	(void)x;
	*job->out_bytes = 0;
	return SL_OK;
}

TEST(text_that_does_not_fit_is_an_error)
{
	struct sl_backend lengthens = sl_deflate_store;
	struct sl_file_facts run = run_facts(&lengthens, 1);
	struct sl_table t = make_table(10, SL_BIT(SL_COLUMN_x), 0, RANDOM);
	struct packed k = lay_out_for(&sl_format_csv_gz, &run, &t);

	lengthens.deflate = too_long;
	assert_fails(pack_into(&k, &sl_format_csv_gz, &run, &t), SL_INTERNAL, "store compresses");
	free_packed(&k);
	free_table(&t);
}

/* --- npz -------------------------------------------------------------------------------------- */

/* Renamed members with valid checksums: a column twice, an unknown column, no metadata. */
TEST(other_archives_are_refused)
{
	static const struct {
		const char *name, *other, *says;
	} changes[] = {{"y.npy", "x.npy", "two of it"}, {"y.npy", "-.npy", "no column"},
		{"y.npy", "q.npy", "no unit of a column"},
		{"about.npy", "About.npy", "in the place of about.npy"}};
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sl_table t = make_table(40, SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y), 0, RANDOM);
	struct sl_table back;
	struct sl_arena a = {0};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		size_t bytes, n = strlen(changes[i].name);
		char *file = file_of(&sl_format_npz, &run, &batch, &t, 0, &bytes), *at;

		while ((at = (char *)memmem(file, bytes, changes[i].name, n)) != NULL)
			memcpy(at, changes[i].other, n);
		assert_fails(
			sl_format_npz.read(file, bytes, &a, &back), SL_BAD_INPUT, changes[i].says);
		free(file);
	}
	free_table(&t);
}
