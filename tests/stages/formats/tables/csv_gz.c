/* csv_gz.c - tests tables written as compressed CSV, and the decimal digits of floats. */
#include <math.h>
#include <stdio.h>
#include <zlib.h>

#include "stages/formats/common/decimal.h"
#include "tests/stages/formats/format_check.h"
#include "stages/formats/formats.h"

static const struct sl_format *const csv = &sl_format_csv_gz;
static const struct sl_batch_facts batch = {.number = 3};

/* --- digits -------------------------------------------------------------------------------- */

static struct sl_powers powers;

static float float_of(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static bool same_bits(float a, float b)
{
	return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

static void assert_prints(float v, const char *expected)
{
	char text[SL_F32_TEXT_BYTES + 1];

	text[sl_print_f32(&powers, v, text)] = '\0';
	assert_string_equal(text, expected);
}

TEST(known_floats_print_as_expected)
{
	assert_prints(0.0f, "0");
	assert_prints(-0.0f, "-0");
	assert_prints(1.0f, "1");
	assert_prints(-1.5f, "-1.5");
	assert_prints(0.1f, "0.1");
	assert_prints(100000.0f, "100000");
	assert_prints(1e8f, "100000000");
	assert_prints(1e9f, "1e9");
	assert_prints(123456789.0f, "123456790");
	assert_prints(0.0001f, "0.0001");
	assert_prints(0.00012345678f, "0.00012345678");
	assert_prints(0.00001f, "1e-5");
	assert_prints(0.000099f, "9.9e-5");
	assert_prints(3.14159274f, "3.1415927");
	assert_prints(3.40282347e38f, "3.4028235e38");
	assert_prints(-1.17549435e-38f, "-1.1754944e-38");
	assert_prints(1.17549421e-38f, "1.1754942e-38");
	assert_prints(1.4e-45f, "1e-45");
	assert_prints(INFINITY, "inf");
	assert_prints(-INFINITY, "-inf");
	assert_prints(NAN, "nan");
}

/* Returns whether a number is nearer to v than to the neighbours of v, ties excluded. */
static bool is_nearest(double text, float v)
{
	double below = ((double)v + (double)nextafterf(v, 0)) / 2;
	float next = nextafterf(v, INFINITY);
	double above = isfinite(next) ? ((double)v + (double)next) / 2 : 0x1.ffffffp127;

	return below < text && text < above;
}

/* Returns the smallest number of digits from which strtof() reads v > 0 again. */
static int fewest(float v)
{
	char text[32];
	int digits = 0;

	do
		snprintf(text, sizeof(text), "%.*e", digits++, (double)v);
	while (!is_nearest(strtod(text, NULL), v));
	return digits;
}

/* The digits of a text from the first that is not 0 to the last that is not. */
static int digits_in(const char *text)
{
	int n = 0, used = 0;

	for (; *text && *text != 'e'; text++)
		if (*text >= '0' && *text <= '9' && (n || *text != '0')) {
			n++;
			used = *text == '0' ? used : n;
		}
	return used;
}

static void check_float(uint32_t bits)
{
	char text[SL_F32_TEXT_BYTES + 1];
	float v = float_of(bits), back = 0;
	size_t n = sl_print_f32(&powers, v, text);

	assert_true(n <= SL_F32_TEXT_BYTES);
	text[n] = '\0';
	if (!sl_parse_f32(&powers, text, n, &back) || !same_bits(back, v) ||
		!same_bits(strtof(text, NULL), v) || !same_bits((float)strtod(text, NULL), v))
		fail_msg("%08x prints as %s", bits, text);
}

TEST(a_million_floats_are_read_back)
{
	for (uint32_t i = 0; i < 1000000; i++)
		check_float((uint32_t)mixed(i));
	for (uint32_t i = 0; i < 20000; i++) {
		check_float(i);               /* denormals */
		check_float(0x7f800000u - i); /* up to infinity */
		check_float(0x00800000u - 10000 + i);
	}
}

static void check_fewest(uint32_t bits)
{
	char text[SL_F32_TEXT_BYTES + 1];
	float v = float_of(bits & 0x7fffffffu);

	if (v == 0 || !isfinite(v))
		return;
	text[sl_print_f32(&powers, v, text)] = '\0';
	if (digits_in(text) != fewest(v))
		fail_msg("%s has %d digits, expected %d", text, digits_in(text), fewest(v));
}

TEST(floats_have_the_fewest_digits)
{
	for (uint32_t i = 0; i < 100000; i++)
		check_fewest((uint32_t)mixed(i));
	for (uint32_t power = 0; power < 255; power++)
		for (uint32_t near = 0; near < 5; near++)
			check_fewest((power << 23) + near - 2);
	for (uint32_t i = 1; i < 20000; i++) {
		float v = (float)i / 1000.0f;
		uint32_t bits;

		memcpy(&bits, &v, sizeof(bits));
		check_fewest(bits);
	}
}

TEST(other_spellings_are_refused)
{
	static const char *const bad[] = {"", "-", "+1", "1.", ".5", "01", "1.0", "1e", "1e+5",
		"1e05", "1E9", "1e9 ", " 1", "0x1", "infinity", "INF", "-nan", "nan(1)", "1e39",
		"1e-46", "1e99", "1e-99", "1e100", "100000000000", "0.1000000014901161", "1..2",
		"1,5", "--1", "1e--5", "12345678901234567890", "0.00001", "1000000000", "e5",
		"0.10000001"};
	static const char *const bad_counts[] = {
		"", "-1", "+1", "01", "1.0", "18446744073709551616", "99999999999999999999", "a"};
	uint64_t u;
	float v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad) - 1; i++)
		if (sl_parse_f32(&powers, bad[i], strlen(bad[i]), &v))
			fail_msg("'%s' is read as %a", bad[i], (double)v);
	for (size_t i = 0; i < sizeof(bad_counts) / sizeof(*bad_counts); i++)
		assert_false(sl_parse_u64(bad_counts[i], strlen(bad_counts[i]), &u));
	assert_true(sl_parse_u64("18446744073709551615", 20, &u));
	assert_true(u == UINT64_MAX);
}

/* --- files --------------------------------------------------------------------------------- */

static void round_trip(const struct sl_backend *deflate, int level, uint32_t n,
	sl_column_set columns, sl_column_set constants, enum kind kind)
{
	struct sl_file_facts run = run_facts(deflate, level);
	struct sl_table t = make_table(n, columns, constants, kind), back;
	struct sl_arena a;
	size_t bytes;
	char *file = file_of(csv, &run, &batch, &t, 0, &bytes);

	assert_ok(read_back(csv, file, bytes, &a, &back));
	assert_same_table(&t, &back);
	free(a.base);
	free(file);
	free_table(&t);
}

TEST(every_table_is_read_back)
{
	static const uint32_t sizes[] = {0, 1, 2, 1000, 30000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			round_trip(&sl_deflate_libdeflate, 1, sizes[i], all_columns, 0,
				(enum kind)kind);
			round_trip(&sl_deflate_zlib, 1, sizes[i], all_columns,
				SL_BIT(SL_COLUMN_w) | SL_BIT(SL_COLUMN_fate), (enum kind)kind);
		}
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		round_trip(&sl_deflate_libdeflate, 9, 100, SL_BIT(i), 0, HARD);
	round_trip(&sl_deflate_libdeflate, 1, 0, 0, 0, RANDOM);
	round_trip(&sl_deflate_libdeflate, 1, 5, 0, 0, RANDOM);
}

TEST(text_is_plain)
{
	static const char expected[] = "id,x,fate\n0,2.5,7\n3,2.5,7\n6,2.5,7\n";
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(
		3, SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_fate), 0, SAME);
	char text[256];
	size_t bytes;
	z_stream z = {0};

	for (uint64_t i = 0; i < 3; i++)
		((uint64_t *)t.column[0].data)[i] = 3 * i;
	char *file = file_of(csv, &run, &batch, &t, 0, &bytes);
	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	z.next_in = (Bytef *)file;
	z.avail_in = (uInt)bytes;
	z.next_out = (Bytef *)text;
	z.avail_out = sizeof(text);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, strlen(expected));
	assert_memory_equal(text, expected, strlen(expected));
	inflateEnd(&z);
	free(file);
	free_table(&t);
}

TEST(too_small_image_is_refused)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table small = make_table(10, all_columns, 0, RANDOM);
	struct sl_table large = make_table(10000, all_columns, 0, RANDOM);
	struct packed k = lay_out_for(csv, &run, &small);
	struct packed roomy = lay_out_for(csv, &run, &large);

	roomy.scratch.size = 4096;
	assert_fails(pack_into(&k, csv, &run, &large), SL_USAGE, "laid out for");
	assert_fails(pack_into(&roomy, csv, &run, &large), SL_USAGE, "scratch");
	free_packed(&roomy);
	free_packed(&k);
	free_table(&small);
	free_table(&large);
}

/* --- damage -------------------------------------------------------------------------------- */

/* Returns the text as one gzip member, which the caller frees. */
static unsigned char *gzip(const char *text, size_t *bytes)
{
	z_stream z = {0};
	unsigned char *out = (unsigned char *)malloc(strlen(text) + 1000);

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text;
	z.avail_in = (uInt)strlen(text);
	z.next_out = out;
	z.avail_out = (uInt)(strlen(text) + 1000);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*bytes = z.total_out;
	deflateEnd(&z);
	return out;
}

static enum sl_status read_text(const char *text)
{
	size_t bytes;
	unsigned char *file = gzip(text, &bytes);
	struct sl_arena a;
	struct sl_table t;
	enum sl_status status = read_back(csv, file, bytes, &a, &t);

	free(a.base);
	free(file);
	return status;
}

TEST(other_tables_are_refused)
{
	assert_ok(read_text("id,x\n1,2\n"));
	assert_ok(read_text("id,x\n"));
	assert_ok(read_text("\n"));
	assert_fails(read_text(""), SL_BAD_INPUT, "empty");
	assert_fails(read_text("id,x"), SL_BAD_INPUT, "no end");
	assert_fails(read_text("id,x\n1,2"), SL_BAD_INPUT, "no end");
	assert_ok(read_text("id,foo,bar,half,x2\n1,2,3,4,5\n"));
	assert_fails(read_text("id,a,b,c,d,e\n1,2,3,4,5,6\n"), SL_BAD_INPUT, "not known");
	assert_fails(read_text("id,foo,foo\n1,2,3\n"), SL_BAD_INPUT, "twice");
	assert_fails(read_text("id,2x\n1,2\n"), SL_BAD_INPUT, "not known");
	assert_fails(read_text("id,a-b\n1,2\n"), SL_BAD_INPUT, "not known");
	assert_fails(read_text("id,a_name_that_has_32_characters_in_it\n1,2\n"), SL_BAD_INPUT,
		"not known");
	assert_fails(read_text("id,\n1,2\n"), SL_BAD_INPUT, "not known");
	assert_fails(read_text("id,id\n1,2\n"), SL_BAD_INPUT, "twice");
	assert_fails(read_text("id,x\n1\n"), SL_BAD_INPUT, "row 0: ");
	assert_fails(read_text("id,x\n1,2\n3,4,5\n"), SL_BAD_INPUT, "row 1");
	assert_fails(read_text("id,x\n1,2,\n"), SL_BAD_INPUT, "more fields");
	assert_fails(read_text("id,x\n\n"), SL_BAD_INPUT, "row 0: ");
	assert_fails(read_text("id,x\r\n1,2\r\n"), SL_BAD_INPUT, "not known");
	assert_fails(read_text("fate\n256\n"), SL_BAD_INPUT, "column fate");
	assert_fails(read_text("pixel\n4294967296\n"), SL_BAD_INPUT, "column pixel");
	assert_fails(read_text("x\n2.50\n"), SL_BAD_INPUT, "column x");
	assert_fails(read_text("\n\n1\n"), SL_BAD_INPUT, "row 1");
}

/* A thousand newlines take one byte of a file, so the first invalid row must end the reading. */
TEST(empty_rows_are_refused)
{
	size_t n = 100000;
	char *text = (char *)malloc(n + 1);

	memset(text, '\n', n);
	text[n] = '\0';
	assert_fails(read_text(text), SL_BAD_INPUT, "no columns, but more than 65536 rows");
	memcpy(text, "id\n1\n", 5);
	assert_fails(read_text(text), SL_BAD_INPUT, "row 1: it has fewer values than columns");
	free(text);
}

TEST(an_endless_line_is_refused)
{
	size_t n = 200000;
	char *text = (char *)malloc(n + 1);

	memset(text, '1', n);
	text[n] = '\0';
	assert_fails(read_text(text), SL_BAD_INPUT, "longer");
	free(text);
}

/* A small file with one change. */
TEST(every_damage_is_found)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sl_table t = make_table(40, all_columns, 0, RANDOM), back;
	struct sl_arena a = {0};
	size_t bytes;
	char *file = file_of(csv, &run, &batch, &t, 0, &bytes);

	assert_cuts_are_refused(csv, file, bytes, 1);
	for (uint64_t i = 0; i < 2000; i++) {
		size_t at = (size_t)(mixed(i) % bytes);
		char bit = (char)(1 << (mixed(i) >> 61));
		enum sl_status status;

		file[at] ^= bit;
		status = read_back(csv, file, bytes, &a, &back);
		if (status == SL_OK)
			assert_same_table(&t, &back); /* a flag or time that gzip ignores */
		else
			assert_int_equal(status, SL_BAD_INPUT);
		free(a.base);
		file[at] ^= bit;
	}
	free(file);
	free_table(&t);
}

/* Without gzip, the text is the same, and each cut of the text is refused. */
TEST(plain_text_is_that_of_csv_gz)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(3000, all_columns, 0, HARD), back;
	struct sl_arena a;
	size_t bytes, packed;
	char *file = file_of(&sl_format_csv, &run, &batch, &t, 0, &bytes);
	char *gz = file_of(csv, &run, &batch, &t, 0, &packed);
	char *text = (char *)malloc(bytes + 1);
	z_stream z = {.next_in = (Bytef *)gz,
		.avail_in = (uInt)packed,
		.next_out = (Bytef *)text,
		.avail_out = (uInt)bytes + 1};

	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, bytes);
	assert_memory_equal(text, file, bytes);
	inflateEnd(&z);
	assert_ok(read_back(&sl_format_csv, file, bytes, &a, &back));
	assert_same_table(&t, &back);
	free(a.base);
	assert_fails(read_back(&sl_format_csv, file, bytes - 1, &a, &back), SL_BAD_INPUT, "no end");
	assert_fails(read_back(&sl_format_csv, gz, packed, &a, &back), SL_BAD_INPUT, "damaged");
	free(text);
	free(gz);
	free(file);
	free_table(&t);
}

/* A file of a whole run has several members. Other bytes, or the first line again, are refused. */
TEST(members_are_read_and_other_bytes_refused)
{
	size_t bytes, more;
	unsigned char *file = gzip("id\n1\n", &bytes), *rows = gzip("2\n3\n", &more);
	unsigned char *two = (unsigned char *)malloc(2 * bytes + more);
	struct sl_arena a = {0};
	struct sl_table t;

	memcpy(two, file, bytes);
	memcpy(two + bytes, rows, more);
	assert_ok(read_back(csv, two, bytes + more, &a, &t));
	assert_int_equal(t.n, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(((const uint64_t *)t.column[0].data)[i], i + 1);
	free(a.base);
	assert_fails(read_back(csv, two, bytes + 1, &a, &t), SL_BAD_INPUT, "cannot be inflated");
	assert_fails(
		read_back(csv, two, bytes + more - 1, &a, &t), SL_BAD_INPUT, "cannot be inflated");
	memcpy(two + bytes, file, bytes);
	assert_fails(read_back(csv, two, 2 * bytes, &a, &t), SL_BAD_INPUT, "is not a number");
	free(a.base);
	assert_ok(read_back(csv, two, bytes, &a, &t));
	free(a.base);
	free(two);
	free(rows);
	free(file);
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
	struct packed k = lay_out_for(csv, &run, &t);

	lengthens.deflate = too_long;
	assert_fails(pack_into(&k, csv, &run, &t), SL_INTERNAL, "store compresses");
	free_packed(&k);
	free_table(&t);
}

BEFORE_TESTS()
{
	sl_powers_make(&powers);
}
