/*
 * zip.c - tests headers of zip archives of any size with a separate decoder written from
 * APPNOTE.TXT.
 */
#include "stages/formats/tables/zip.h"

#include <stdlib.h>
#include <zlib.h>

#include "tests/support/basic/check.h"

static uint64_t number(const uint8_t *from, size_t at, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | from[at + (size_t)i];
	return value;
}

/* Sizes around 2^32 and far above it. */
static const uint64_t sizes[] = {
	0, 1, 4294967293u, 4294967294u, 4294967295u, 4294967296u, 4294967297u, (uint64_t)1 << 40};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t in_zip64 = 4294967295u;

/* Section 4.3.7: all fields of a local header. */
static void check_local(const struct sl_zip_member *m)
{
	uint8_t header[SL_ZIP_HEADER_BYTES];
	size_t bytes = sl_zip_local(m, header);
	bool large = m->size >= in_zip64 || m->packed >= in_zip64;

	assert_memory_equal(header, "PK\x03\x04", 4);
	assert_int_equal(number(header, 4, 2), large ? 45 : 20);
	assert_int_equal(number(header, 6, 2), 0);
	assert_int_equal(number(header, 8, 2), m->method);
	assert_int_equal(number(header, 10, 2), 0);
	assert_int_equal(number(header, 12, 2), 33); /* 1980-01-01 */
	assert_int_equal(number(header, 14, 4), m->crc);
	assert_int_equal(number(header, 26, 2), m->name_bytes);
	assert_memory_equal(header + 30, m->name, m->name_bytes);
	if (!large) {
		assert_int_equal(number(header, 18, 4), m->packed);
		assert_int_equal(number(header, 22, 4), m->size);
		assert_int_equal(number(header, 28, 2), 0);
		assert_int_equal(bytes, 30 + m->name_bytes);
		return;
	}
	/* section 4.5.3: both sizes are required */
	assert_int_equal(number(header, 18, 4), in_zip64);
	assert_int_equal(number(header, 22, 4), in_zip64);
	assert_int_equal(number(header, 28, 2), 20);
	assert_int_equal(number(header, 30 + m->name_bytes, 2), 1);
	assert_int_equal(number(header, 32 + m->name_bytes, 2), 16);
	assert_true(number(header, 34 + m->name_bytes, 8) == m->size);
	assert_true(number(header, 42 + m->name_bytes, 8) == m->packed);
	assert_int_equal(bytes, 50 + m->name_bytes);
}

/* Sections 4.3.12 and 4.5.3: zip64 has only the fields that do not fit: size, packed size, offset. */
static void check_entry(const struct sl_zip_member *m)
{
	const uint64_t value[] = {m->size, m->packed, m->at};
	static const size_t field[] = {24, 20, 42};
	uint8_t header[SL_ZIP_HEADER_BYTES];
	size_t bytes = sl_zip_entry(m, header), extra = 46 + m->name_bytes + 4, n = 0;

	assert_memory_equal(header, "PK\x01\x02", 4);
	assert_int_equal(number(header, 10, 2), m->method);
	assert_int_equal(number(header, 14, 2), 33);
	assert_int_equal(number(header, 16, 4), m->crc);
	assert_int_equal(number(header, 28, 2), m->name_bytes);
	assert_true(number(header, 32, 8) == 0);
	assert_int_equal(number(header, 40, 2), 0);
	assert_memory_equal(header + 46, m->name, m->name_bytes);
	for (int i = 0; i < 3; i++) {
		uint64_t said = number(header, field[i], 4);

		if (value[i] < in_zip64) {
			assert_true(said == value[i]);
			continue;
		}
		assert_true(said == in_zip64);
		assert_true(number(header, extra + 8 * n++, 8) == value[i]);
	}
	assert_int_equal(number(header, 6, 2), n ? 45 : 20);
	assert_int_equal(number(header, 30, 2), n ? 4 + 8 * n : 0);
	assert_int_equal(bytes, n ? extra + 8 * n : extra - 4);
	if (n) {
		assert_int_equal(number(header, extra - 4, 2), 1);
		assert_int_equal(number(header, extra - 2, 2), 8 * n);
	}
}

TEST(headers_store_any_size)
{
	struct sl_zip_member m = {
		.name = "energy.npy", .name_bytes = 10, .method = 8, .crc = 0xdeadbeef};

	for (int i = 0; i < SIZES * SIZES * SIZES; i++) {
		m.size = sizes[i % SIZES];
		m.packed = sizes[i / SIZES % SIZES];
		m.at = sizes[i / SIZES / SIZES];
		check_local(&m);
		check_entry(&m);
	}
}

/* Sections 4.3.14 to 4.3.16. */
static void check_end(uint64_t n, uint64_t at, uint64_t bytes)
{
	uint8_t end[SL_ZIP_END_BYTES];
	size_t used = sl_zip_end(n, at, bytes, end), old = used - 22;
	bool large = n >= 65535 || at >= in_zip64 || bytes >= in_zip64;

	assert_int_equal(used, large ? 98 : 22);
	assert_memory_equal(end + old, "PK\x05\x06\0\0\0\0", 8);
	assert_int_equal(number(end, old + 8, 2), n < 65535 ? n : 65535);
	assert_int_equal(number(end, old + 10, 2), n < 65535 ? n : 65535);
	assert_int_equal(number(end, old + 12, 4), bytes < in_zip64 ? bytes : in_zip64);
	assert_int_equal(number(end, old + 16, 4), at < in_zip64 ? at : in_zip64);
	assert_int_equal(number(end, old + 20, 2), 0);
	if (!large)
		return;
	assert_memory_equal(end, "PK\x06\x06", 4);
	assert_int_equal(number(end, 4, 8), 44);
	assert_int_equal(number(end, 12, 2), 45);
	assert_int_equal(number(end, 14, 2), 45);
	assert_int_equal(number(end, 16, 8), 0);
	assert_true(number(end, 24, 8) == n && number(end, 32, 8) == n);
	assert_true(number(end, 40, 8) == bytes && number(end, 48, 8) == at);
	assert_memory_equal(end + 56, "PK\x06\x07\0\0\0\0", 8);
	assert_true(number(end, 64, 8) == at + bytes);
	assert_int_equal(number(end, 72, 4), 1);
}

TEST(end_records_store_any_size)
{
	static const uint64_t counts[] = {0, 1, 65534, 65535, 65536, 1000000};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (int i = 0; i < SIZES * SIZES; i++)
			check_end(counts[c], sizes[i % SIZES], sizes[i / SIZES]);
}

/* Returns an archive of n members of one byte, which the caller frees. */
static uint8_t *make_archive(uint32_t n, size_t *bytes)
{
	static const uint8_t data[] = {'d'};
	uint8_t *file = (uint8_t *)malloc((size_t)n * 256 + SL_ZIP_END_BYTES);
	struct sl_zip_member m = {
		.name = "m.npy", .name_bytes = 5, .packed = 1, .size = 1, .crc = 0x98dd4acc};
	size_t used = 0, member, directory;

	assert_non_null(file);
	assert_int_equal(crc32(0, data, 1), m.crc);
	for (uint32_t i = 0; i < n; i++) {
		used += sl_zip_local(&m, file + used);
		file[used++] = data[0];
	}
	directory = used;
	member = n ? directory / n : 0;
	for (uint32_t i = 0; i < n; i++) {
		m.at = i * member;
		used += sl_zip_entry(&m, file + used);
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

TEST(archives_are_read)
{
	static const uint32_t counts[] = {0, 1, 2, 65534, 65535, 65536, 70000};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		size_t bytes;
		uint8_t *file = make_archive(counts[c], &bytes);

		assert_true(reads(file, bytes, counts[c]));
		free(file);
	}
}

/* A change of any bit of a header, or of the length, is refused. */
TEST(other_archives_are_refused)
{
	size_t bytes;
	uint8_t *file = make_archive(2, &bytes);

	for (size_t at = 0; at < bytes; at++)
		for (int bit = 0; bit < 8; bit++) {
			file[at] ^= (uint8_t)(1 << bit);
			assert_false(reads(file, bytes, 2));
			file[at] ^= (uint8_t)(1 << bit);
		}
	for (size_t n = 0; n < bytes; n++) {
		uint8_t *cut = (uint8_t *)malloc(n + (n == 0));

		memcpy(cut, file, n);
		assert_false(reads(cut, n, 2));
		free(cut);
	}
	free(file);
}

/* An end record with any false offset, with or without zip64, is refused before the offset is used. */
TEST(false_end_records_are_refused)
{
	static const uint64_t lies[] = {0, 1, 21, 22, 97, 98, 99, 4294967294u, 4294967295u,
		UINT64_MAX - 98, UINT64_MAX - 22, UINT64_MAX};
	enum { LIES = sizeof(lies) / sizeof(lies[0]) };
	uint8_t *file = (uint8_t *)malloc(SL_ZIP_END_BYTES);
	struct sl_zip z;

	for (int i = 0; i < LIES * LIES; i++) {
		uint64_t at = lies[i % LIES], bytes = lies[i / LIES];
		size_t used = sl_zip_end(1, at, bytes, file);

		assert_int_equal(sl_zip_open(&z, file, used), at == 0 && bytes == 0);
	}
	free(file);
}

/* A member whose stated size exceeds the space before the directory. */
TEST(false_member_sizes_are_refused)
{
	static const uint64_t claims[] = {
		0, 1, 2, 100, 4294967294u, 4294967295u, UINT64_MAX - 50, UINT64_MAX};

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		uint8_t *file = (uint8_t *)malloc(2 * SL_ZIP_HEADER_BYTES + SL_ZIP_END_BYTES + 1);
		struct sl_zip_member m = {.name = "m.npy",
					     .name_bytes = 5,
					     .packed = claims[i],
					     .size = 1},
				     found;
		size_t used = sl_zip_local(&m, file) + 1, directory = used;
		const uint8_t *data;
		struct sl_zip z;

		file[used - 1] = 'd';
		used += sl_zip_entry(&m, file + used);
		used += sl_zip_end(1, directory, used - directory, file + used);
		assert_true(sl_zip_open(&z, file, used));
		assert_int_equal(sl_zip_next(&z, &found, &data), claims[i] <= 1);
		assert_int_equal(claims[i] <= 1 && sl_zip_ends(&z), claims[i] == 1);
		free(file);
	}
}
