/*
 * image_file.c - tests that the values of an image file are read in place, and that files with
 * other metadata are refused.
 */
#include "stages/formats/images/image_file.h"

#include <stdlib.h>

#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/image_file_read.h"
#include "tests/support/basic/check.h"

enum { ROWS = 5, COLUMNS = 7, N = ROWS * COLUMNS, ROOM = 1 << 19 };

static uint8_t image[ROOM];
static uint64_t whole[N], rays[N];
static double real[N];

BEFORE_TESTS()
{
	for (int i = 0; i < N; i++) {
		whole[i] = (uint64_t)i * 1000003;
		rays[i] = 50 + (uint64_t)i;
		real[i] = 1.0 / (i + 1);
	}
	assert_ok(sl_formats_start());
}

static void check_read(const char *what, bool with_rays)
{
	const struct sl_image p = {.what = what, .width = COLUMNS, .height = ROWS};
	const struct sl_file_facts facts = {.software_version = "1", .config = "a: 1\n"};
	const struct sl_image_values v = {.image = &p,
		.particles = 77,
		.value = real,
		.sum = whole,
		.rays = with_rays ? rays : NULL};
	struct sl_image_found f;
	size_t bytes;

	assert_true(sl_image_bytes(&p, &facts) <= ROOM);
	assert_ok(sl_image_make(&facts, &v, image, sl_image_bytes(&p, &facts), &bytes));
	assert_ok(sl_image_read(image, bytes, &f));
	assert_string_equal(f.what, what);
	assert_int_equal(f.width, COLUMNS);
	assert_int_equal(f.height, ROWS);
	assert_int_equal(f.particles, 77);
	assert_memory_equal(f.value, real, sizeof(real));
	assert_memory_equal(f.sum, whole, sizeof(whole));
	assert_int_equal(f.rays != NULL, with_rays);
	if (with_rays)
		assert_memory_equal(f.rays, rays, sizeof(rays));
	for (size_t cut = 1; cut <= bytes; cut += cut < 64 ? 1 : 997)
		assert_fails(sl_image_read(image, bytes - cut, &f), SL_BAD_INPUT, "checksum line");
}

TEST(written_images_are_read)
{
	check_read("radiance", true);
	check_read("weight", false);
	check_read("a name before rays", true);
}

/* --- files of other claims -------------------------------------------------------------------- */

static void put_f64(struct sl_h5 *h, hid_t file, const char *name, uint64_t rows)
{
	const uint64_t size[] = {rows, COLUMNS};

	sl_h5_close(h, sl_h5_grid(h, file, name, H5T_IEEE_F64LE, 2, size, real));
}

static void put_u64(struct sl_h5 *h, hid_t file, const char *name, uint64_t rows)
{
	const uint64_t size[] = {rows, COLUMNS};

	sl_h5_close(h, sl_h5_grid(h, file, name, H5T_STD_U64LE, 2, size, whole));
}

static void put_good(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_f64(h, file, "radiance", ROWS);
	put_u64(h, file, "sum", ROWS);
}

static void put_no_particles(struct sl_h5 *h, hid_t file)
{
	put_f64(h, file, "radiance", ROWS);
	put_u64(h, file, "sum", ROWS);
}

static void put_no_value(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_u64(h, file, "sum", ROWS);
}

static void put_no_sum(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_f64(h, file, "radiance", ROWS);
}

static void put_two_values(struct sl_h5 *h, hid_t file)
{
	put_good(h, file);
	put_f64(h, file, "weight", ROWS);
}

static void put_long_name(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_f64(h, file, "a name that is longer than any that this program has", ROWS);
}

static void put_integers(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_u64(h, file, "radiance", ROWS);
	put_u64(h, file, "sum", ROWS);
}

static void put_line(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	sl_h5_close(h, sl_h5_values(h, file, "radiance", H5T_IEEE_F64LE, N, real));
	put_u64(h, file, "sum", ROWS);
}

static void put_nothing_in_it(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_f64(h, file, "radiance", 0);
	put_u64(h, file, "sum", 0);
}

static void put_other_rows(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	put_f64(h, file, "radiance", ROWS);
	put_u64(h, file, "sum", ROWS - 1);
}

static void put_other_rays(struct sl_h5 *h, hid_t file)
{
	const uint64_t size[] = {ROWS, COLUMNS - 1};

	put_good(h, file);
	sl_h5_close(h, sl_h5_grid(h, file, "rays", H5T_STD_U64LE, 2, size, whole));
}

static void put_group(struct sl_h5 *h, hid_t file)
{
	sl_h5_put_u64(h, file, "particles", 7);
	sl_h5_close(h, sl_h5_group(h, file, "radiance"));
}

/* Makes a file with a valid checksum from the entries that put writes; returns its size. */
static size_t make(void (*put)(struct sl_h5 *h, hid_t file))
{
	struct sl_h5 h;
	size_t bytes;
	hid_t file;

	sl_h5_begin(&h, image, sizeof(image) - SL_CRC_TRAILER_BYTES);
	file = sl_h5_create_file(&h);
	put(&h, file);
	bytes = sl_h5_finish_file(&h, file);
	if (h.failed)
		fail_msg("the file cannot be made: %s", h.why);
	sl_crc_trailer_add(image, bytes);
	return bytes + SL_CRC_TRAILER_BYTES;
}

TEST(invalid_attributes_are_refused)
{
	static const struct {
		void (*put)(struct sl_h5 *h, hid_t file);
		const char *why;
	} claims[] = {
		{put_no_particles, "number of particles are missing"},
		{put_no_value, "its pixels or"},
		{put_two_values, "its pixels or"},
		{put_no_sum, "is missing or of another type"},
		{put_long_name, "is missing or of another type"},
		{put_integers, "is missing or of another type"},
		{put_line, "is missing or of another type"},
		{put_nothing_in_it, "is missing or of another type"},
		{put_other_rows, "differ in their pixels"},
		{put_other_rays, "differ in their pixels"},
		{put_group, "HDF5 cannot read the file"},
	};
	struct sl_image_found f;

	assert_ok(sl_image_read(image, make(put_good), &f));
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		print_message("%s\n", claims[i].why);
		assert_fails(
			sl_image_read(image, make(claims[i].put), &f), SL_BAD_INPUT, claims[i].why);
	}
}

/* Changes the number of rows that the file states. */
TEST(more_pixels_than_bytes_are_refused)
{
	const uint64_t size[] = {ROWS, COLUMNS}, good = make(put_good);
	const uint64_t rows[] = {0, good / (8 * COLUMNS), (uint64_t)1 << 40, UINT64_MAX / 2};
	struct sl_image_found f;

	for (int k = 0; k < 4; k++) {
		size_t bytes = make(put_good);
		int changed = 0;

		for (size_t at = 0; at + sizeof(size) <= bytes; at++)
			if (memcmp(image + at, size, sizeof(size)) == 0) {
				memcpy(image + at, &rows[k], sizeof(rows[k]));
				changed++;
			}
		assert_true(changed >= 2);
		sl_crc_trailer_add(image, bytes - SL_CRC_TRAILER_BYTES);
		/* HDF5 detects this itself from version 1.14 */
		assert_fails(sl_image_read(image, bytes, &f), SL_BAD_INPUT,
			H5_VERSION_GE(1, 14, 0) ? "HDF5 cannot read the file" : "more pixels than");
	}
}
