/*
 * streams.c - properties of what files are made of: decimal digits of floats, zip archives of any
 * size, joined DEFLATE streams.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "stages/formats/common/common.h"
#include "stages/formats/tables/tables.h"
#include "tests/support/formats/tables.h"
#include "tests/support/formats/zlib_inflate.h"
#include "tests/support/property/property.h"

/* --- digits ----------------------------------------------------------------------------------- */

static struct sl_powers powers;

BEFORE_TESTS()
{
	sl_powers_make(&powers);
}

static bool same_bits(float a, float b)
{
	return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

/* Returns whether a number is nearer to v than to the neighbours of v, ties excluded. */
static bool is_nearest(double number, float v)
{
	double below = ((double)v + (double)nextafterf(v, 0)) / 2;
	float next = nextafterf(v, INFINITY);
	double above = isfinite(next) ? ((double)v + (double)next) / 2 : 0x1.ffffffp127;

	return below < number && number < above;
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

/* Any float; of three decimals; next to a power of two. */
static float a_number(struct rnd *g)
{
	if (rnd_one_in(g, 4))
		return (float)rnd_below(g, 100000) / 1000;
	if (rnd_one_in(g, 3))
		return ldexpf(1 + 0x1p-23f * (float)rnd_below(g, 3), (int)rnd_below(g, 277) - 149);
	return rnd_float(g);
}

PROPERTY(floats_have_the_fewest_digits_that_are_read_back, 3000)
{
	for (int i = 0; i < 300; i++) {
		char text[SL_F32_TEXT_BYTES + 1];
		float v = a_number(g), back = 0;
		size_t n = sl_print_f32(&powers, v, text);

		assert_true(n <= SL_F32_TEXT_BYTES);
		text[n] = '\0';
		if (!sl_parse_f32(&powers, text, n, &back) || !same_bits(back, v) ||
			!same_bits(strtof(text, NULL), v) ||
			!same_bits((float)strtod(text, NULL), v))
			fail_msg("%a prints as %s", (double)v, text);
		if (i < 100 && isfinite(v) && v != 0 && digits_in(text) != fewest(fabsf(v)))
			fail_msg("%s has %d digits, expected %d", text, digits_in(text),
				fewest(fabsf(v)));
	}
}

/* Appends one of the letters, or none, to a text. */
static void append(struct rnd *g, char *text, const char *letters, uint32_t most)
{
	size_t n = strlen(text);

	for (uint32_t i = rnd_below(g, most + 1); i > 0; i--)
		text[n++] = letters[rnd_below(g, (uint32_t)strlen(letters))];
	text[n] = '\0';
}

/*
 * A text that may be a number: any in the notation of other programs, or one printed here and
 * changed in a place.
 */
static void a_text(struct rnd *g, char text[80])
{
	size_t n, at;

	text[0] = '\0';
	if (rnd_one_in(g, 2)) {
		append(g, text, "-+ ", 1);
		append(g, text, "0123456789", rnd_one_in(g, 4) ? 21 : 2);
		append(g, text, ".", 1);
		append(g, text, "00123456789", 9);
		append(g, text, "e", 1);
		append(g, text, "-+E", 1);
		append(g, text, "0123456789", 2);
		return;
	}
	n = sl_print_f32(&powers, a_number(g), text);
	at = rnd_below(g, (uint32_t)n + 1);
	text[n] = text[n + 1] = '\0';
	if (rnd_one_in(g, 2))
		memmove(text + at + 1, text + at, n - at + 1);
	text[at] = "0123456789+-.eE nif"[rnd_below(g, 19)];
}

/* Each number has one spelling: what is accepted is what is printed. */
PROPERTY(other_spellings_are_refused, 3000)
{
	for (int i = 0; i < 100; i++) {
		char text[80], printed[80];
		uint64_t u;
		size_t n;
		float v;

		a_text(g, text);
		n = strlen(text);
		if (sl_parse_f32(&powers, text, n, &v)) {
			printed[sl_print_f32(&powers, v, printed)] = '\0';
			if (strcmp(printed, text) != 0)
				fail_msg("'%s' is read as %s", text, printed);
		}
		if (sl_parse_u64(text, n, &u)) {
			snprintf(printed, sizeof(printed), "%llu", (unsigned long long)u);
			if (strcmp(printed, text) != 0)
				fail_msg("'%s' is read as %s", text, printed);
		}
	}
}

/* --- zip -------------------------------------------------------------------------------------- */

static const uint64_t in_zip64 = UINT32_MAX;

/* A field of a header, as APPNOTE.TXT describes it. */
struct field {
	size_t at, bytes;
	uint64_t value;
};

static void check_fields(const char *what, const uint8_t *header, const struct field *f, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		uint64_t value = 0;

		for (size_t i = f[k].bytes; i-- > 0;)
			value = value << 8 | header[f[k].at + i];
		if (value != f[k].value)
			fail_msg("%s: the field at %zu is %llx, not %llx", what, f[k].at,
				(unsigned long long)value, (unsigned long long)f[k].value);
	}
}
#define CHECK(what, header, fields) \
	check_fields(what, header, fields, sizeof(fields) / sizeof(fields[0]))

/* A size next to 2^32, or any. */
static uint64_t zip_size(struct rnd *g)
{
	return rnd_one_in(g, 2) ? in_zip64 + rnd_below(g, 5) - 2 : rnd_bits(g) >> rnd_below(g, 64);
}

/* The value of a field of 32 bits whose value may be in zip64. */
static uint64_t narrow(uint64_t value)
{
	return value < in_zip64 ? value : in_zip64;
}

/* Sections 4.3.7 and 4.5.3: a local header has both sizes in zip64, or none. */
static void check_local(const struct sl_zip_member *m)
{
	const bool large = m->size >= in_zip64 || m->packed >= in_zip64;
	const size_t extra = 30 + m->name_bytes;
	const struct field f[] = {{0, 4, 0x04034b50}, {4, 2, large ? 45 : 20}, {6, 2, 0},
		{8, 2, m->method}, {10, 2, 0}, {12, 2, 33 /* 1980-01-01 */}, {14, 4, m->crc},
		{18, 4, large ? in_zip64 : m->packed}, {22, 4, large ? in_zip64 : m->size},
		{26, 2, m->name_bytes}, {28, 2, large ? 20 : 0}};
	const struct field more[] = {{extra, 2, 1}, {extra + 2, 2, 16}, {extra + 4, 8, m->size},
		{extra + 12, 8, m->packed}};
	uint8_t header[SL_ZIP_HEADER_BYTES];

	assert_int_equal(sl_zip_local(m, header), extra + (large ? 20 : 0));
	CHECK("local", header, f);
	if (large)
		CHECK("local zip64", header, more);
	assert_memory_equal(header + 30, m->name, m->name_bytes);
}

/*
 * Sections 4.3.12 and 4.5.3: zip64 has only the fields that do not fit: size, packed size, offset.
 */
static void check_entry(const struct sl_zip_member *m)
{
	const uint64_t value[] = {m->size, m->packed, m->at};
	const size_t extra = 46 + m->name_bytes + 4;
	uint8_t header[SL_ZIP_HEADER_BYTES];
	size_t bytes = sl_zip_entry(m, header), n = 0;

	for (int i = 0; i < 3; i++)
		if (value[i] >= in_zip64) {
			const struct field wide = {extra + 8 * n++, 8, value[i]};

			check_fields("entry zip64", header, &wide, 1);
		}
	const struct field f[] = {{0, 4, 0x02014b50}, {6, 2, n ? 45 : 20}, {10, 2, m->method},
		{14, 2, 33}, {16, 4, m->crc}, {20, 4, narrow(m->packed)}, {24, 4, narrow(m->size)},
		{28, 2, m->name_bytes}, {30, 2, n ? 4 + 8 * n : 0}, {32, 8, 0}, {40, 2, 0},
		{42, 4, narrow(m->at)}};
	const struct field more[] = {{extra - 4, 2, 1}, {extra - 2, 2, 8 * n}};

	CHECK("entry", header, f);
	assert_memory_equal(header + 46, m->name, m->name_bytes);
	assert_int_equal(bytes, n ? extra + 8 * n : extra - 4);
	if (n > 0)
		CHECK("entry zip64", header, more);
}

/* Sections 4.3.14 to 4.3.16. */
static void check_end(uint64_t n, uint64_t at, uint64_t bytes)
{
	const bool large = n >= 65535 || at >= in_zip64 || bytes >= in_zip64;
	const size_t old = large ? 76 : 0;
	const uint64_t few = n < 65535 ? n : 65535;
	const struct field f[] = {{old, 8, 0x06054b50}, {old + 8, 2, few}, {old + 10, 2, few},
		{old + 12, 4, narrow(bytes)}, {old + 16, 4, narrow(at)}, {old + 20, 2, 0}};
	const struct field more[] = {{0, 4, 0x06064b50}, {4, 8, 44}, {12, 2, 45}, {14, 2, 45},
		{16, 8, 0}, {24, 8, n}, {32, 8, n}, {40, 8, bytes}, {48, 8, at},
		{56, 8, 0x07064b50}, {64, 8, at + bytes}, {72, 4, 1}};
	uint8_t end[SL_ZIP_END_BYTES];

	assert_int_equal(sl_zip_end(n, at, bytes, end), large ? 98 : 22);
	CHECK("end", end, f);
	if (large)
		CHECK("end zip64", end, more);
}

PROPERTY(zip_headers_store_any_size, 4000)
{
	const struct sl_zip_member m = {.name = "energy.npy",
		.name_bytes = 1 + rnd_below(g, 10),
		.method = rnd_one_in(g, 2) ? SL_ZIP_STORED : SL_ZIP_DEFLATED,
		.crc = (uint32_t)rnd_bits(g),
		.size = zip_size(g),
		.packed = zip_size(g),
		.at = zip_size(g)};

	check_local(&m);
	check_entry(&m);
	check_end(rnd_one_in(g, 2) ? 65534 + rnd_below(g, 3) : rnd_bits(g) >> rnd_below(g, 64),
		zip_size(g), zip_size(g));
}

/*
 * Returns an archive of n members of one byte, which the caller frees. The first one claims to have
 * so many bytes.
 */
static uint8_t *make_archive(uint32_t n, uint64_t claim, size_t *bytes)
{
	uint8_t *file = (uint8_t *)malloc((size_t)n * 256 + SL_ZIP_END_BYTES);
	struct sl_zip_member m = {.name = "m.npy",
		.name_bytes = 5,
		.packed = claim,
		.size = 1,
		.crc = (uint32_t)crc32(0, (const Bytef *)"d", 1)};
	size_t used = 0, directory;

	assert_non_null(file);
	for (uint32_t i = 0; i < n; i++, m.packed = 1) {
		used += sl_zip_local(&m, file + used);
		file[used++] = 'd';
	}
	directory = used;
	m.packed = claim;
	for (uint32_t i = 0; i < n; i++, m.packed = 1) {
		used += sl_zip_entry(&m, file + used);
		m.at += directory / n;
	}
	used += sl_zip_end(n, directory, used - directory, file + used);
	*bytes = used;
	return file;
}

/* Reads all members by number; the one after the last is the end. */
static bool reads(const uint8_t *file, size_t bytes, uint64_t n)
{
	struct sl_zip_member m;
	const uint8_t *data;
	struct sl_zip z;

	if (!sl_zip_open(&z, file, bytes) || z.n != n)
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!sl_zip_next(&z, &m, &data) || m.size != 1 || *data != 'd')
			return false;
	return sl_zip_ends(&z);
}

PROPERTY(archives_are_read, 36)
{
	uint32_t n = g->most > 1000 ? 65534 + rnd_below(g, 3) : rnd_size(g);
	size_t bytes;
	uint8_t *file = make_archive(n, 1, &bytes);

	assert_true(reads(file, bytes, n));
	free(file);
}

/* A change of any bit of a header, another length and false sizes are refused. */
PROPERTY(other_archives_are_refused, 200)
{
	static const uint64_t claims[] = {
		0, 2, 100, UINT32_MAX - 1, UINT32_MAX, UINT64_MAX - 50, UINT64_MAX};
	const uint32_t n = 1 + rnd_below(g, 3);
	size_t bytes, cut;
	uint8_t *file = make_archive(n, 1, &bytes), *copy;

	for (int i = 0; i < 100; i++) {
		size_t at = rnd_below(g, (uint32_t)bytes);
		uint8_t bit = (uint8_t)(1 << rnd_below(g, 8));

		file[at] ^= bit;
		assert_false(reads(file, bytes, n));
		file[at] ^= bit;
	}
	cut = rnd_below(g, (uint32_t)bytes);
	copy = (uint8_t *)malloc(cut + (cut == 0));
	memcpy(copy, file, cut);
	assert_false(reads(copy, cut, n));
	free(copy);
	free(file);
	file = make_archive(n, rnd_of(g, claims), &bytes);
	assert_false(reads(file, bytes, n));
	free(file);
}

/* --- joined streams --------------------------------------------------------------------------- */

enum { PIECE = 1 << 17, ROOM = 12 * PIECE };

/* Noise, which is stored, text of few letters, or one value. */
static void fill(struct rnd *g, uint8_t *to, size_t n)
{
	int how = (int)rnd_below(g, 3);

	for (size_t i = 0; i < n; i++) {
		uint64_t bits = how < 2 ? rnd_bits(g) : 7;

		to[i] = (uint8_t)(how == 0 ? bits : how == 1 ? 'a' + bits % 8 : bits);
	}
}

/*
 * Streams of all encoders are joined to one. Its join with another expected size is an internal
 * error.
 */
PROPERTY(joined_streams_expand_to_all_data, 150)
{
	static const struct sl_backend *const encoders[] = {&sl_deflate_zlib,
		&sl_deflate_libdeflate, &sl_deflate_isal, &sl_deflate_cpu, &sl_deflate_cpu_fast,
		&sl_deflate_store};
	static uint8_t data[ROOM], back[ROOM + 1], stream[2 * ROOM];
	struct sl_arena memory = arena_of((size_t)1 << 24);
	uint32_t pieces = 1 + rnd_below(g, 12);
	size_t all = 0, used = 0, got = 0;

	for (uint32_t p = 0; p < pieces; p++) {
		struct sl_exec x = {.space = SL_HOST, .scratch = memory};
		size_t n = 1 + (rnd_one_in(g, 6) ? rnd_below(g, PIECE) : rnd_size(g));
		const struct sl_deflate_job job = {.in = data + all,
			.in_bytes = n,
			.out = stream + used,
			.out_size = sl_deflate_most(n, 0, 1),
			.out_bytes = &got,
			.level = 1,
			.wrapper = SL_RAW};
		struct sl_arena scratch = {memory.base, 0, sl_deflate_join_scratch(n)};

		fill(g, data + all, n);
		assert_ok(sl_deflate(rnd_of(g, encoders), &x, &job));
		if (p + 1 == pieces && rnd_one_in(g, 4)) {
			assert_int_equal(
				sl_deflate_join(scratch, stream + used, &got, n - 1), SL_INTERNAL);
			break;
		}
		assert_ok(sl_deflate_join(scratch, stream + used, &got, n));
		used += got;
		all += n;
	}
	memcpy(stream + used, sl_deflate_end, sizeof(sl_deflate_end));
	used += sizeof(sl_deflate_end);
	assert_int_equal(zlib_inflate(SL_RAW, false, stream, used, back, sizeof(back)), all);
	assert_memory_equal(back, data, all);
	assert_ok(sl_inflate_whole(SL_RAW, stream, used, back, all));
	assert_memory_equal(back, data, all);
	free(memory.base);
}

PROPERTY_FILE()
