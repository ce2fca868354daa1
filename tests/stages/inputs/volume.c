/*
 * volume.c - one volume in each format (tests/fuzz/corpus/volume, written by numpy and nibabel):
 * labels 1 + i + 3j + 12k. Misses of a byte order, an order of axes or a check show here.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/inputs/volume.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

static const struct sl_volume_request none = {{0}, NULL, false},
				      shaped = {{3, 4, 5}, "uint8", false};

static const char *file_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/volume/%s", source_root(), name);
	return path;
}

static void expect_labels(struct sl_volume *v, uint32_t nx, uint32_t ny, uint32_t nz)
{
	assert_true(v->size[0] == nx && v->size[1] == ny && v->size[2] == nz);
	assert_int_equal(v->largest, nx * ny * nz);
	for (uint32_t n = 0; n < nx * ny * nz; n++)
		assert_int_equal(v->labels[n], n + 1);
	sl_volume_free(v);
}

TEST(all_formats_have_the_same_labels)
{
	static const struct {
		const char *name;
		double edge; /* in x; in y and z twice and three times as long */
	} rows[] = {{"c_u1.npy", 0}, {"c_i4_big.npy", 0}, {"f_f8.npy", 0}, {"v2_i2.npy", 0},
		{"v3_f4_big.npy", 0}, {"one.npz", 0}, {"named.npz", 0}, {"u1.bin", 0},
		{"u1.nii", 0.5}, {"i2_big.nii", 0.5}, {"f4.nii.gz", 0.5}};
	struct sl_volume v;

	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		assert_ok(sl_volume_read(file_of(rows[r].name), &shaped, &v));
		for (int d = 0; d < 3; d++)
			assert_true(v.edge_mm[d] == rows[r].edge * (d + 1));
		expect_labels(&v, 3, 4, 5);
	}
	assert_fails(sl_volume_read("/none.npy", &none, &v), SL_DISK, "/none.npy");
	assert_null(v.labels);
}

/* More planes than are transposed at a time. */
TEST(order_c_is_transposed)
{
	enum { NX = 70, NY = 3, NZ = 37, HEAD = 128 };
	static uint8_t file[HEAD + 2 * NX * NY * NZ] = "\x93NUMPY\1\0v"; /* 'v' is HEAD - 10 */
	struct sl_volume v;
	size_t at = (size_t)snprintf((char *)file + 10, HEAD - 10,
		"{'descr': '<u2', 'fortran_order': False, 'shape': (%d, %d, %d), }", NX, NY, NZ);

	memset(file + 10 + at, ' ', HEAD - 10 - at);
	at = HEAD;
	for (uint32_t i = 0; i < NX; i++)
		for (uint32_t j = 0; j < NY; j++)
			for (uint32_t k = 0; k < NZ; k++, at += 2) {
				uint32_t label = 1 + i + NX * (j + NY * k);

				file[at] = (uint8_t)label;
				file[at + 1] = (uint8_t)(label >> 8);
			}
	assert_ok(sl_volume_parse("a", file, sizeof(file), &none, &v));
	expect_labels(&v, NX, NY, NZ);
}

/* Some bytes of a file are replaced, or it is cut. */
TEST(wrong_files_are_refused)
{
	static const struct {
		const char *name;
		int at; /* of the change; its end if negative: so many bytes are cut */
		const char *by;
		int n;
		const char *message;
	} rows[] = {{"c_u1.npy", -1, "", 0, "its shape does not agree with its size"},
		{"c_u1.npy", 0, "x", 1, "it is none of .npy"},
		{"c_u1.npy", 22, "c", 1, "its items are not numbers"},
		{"c_u1.npy", 61, "60)    ", 7, "the array has 1 dimensions"},
		{"c_u1.npy", 61, "4, 3, 5", 7, "has the shape 4 x 3 x 5, not 3 x 4 x 5"},
		{"c_i4_big.npy", 128 + 4 * 59, "\xff", 1, "voxel (2, 3, 4) is -16777156; labels"},
		{"f_f8.npy", 128 + 8 * 59, "\1", 1, "voxel (2, 3, 4) is 60; labels"},
		{"v3_f4_big.npy", 128 + 4, "\x7f\xc0", 2, "voxel (1, 0, 0) is nan; labels"},
		{"one.npz", 200, "\1", 1, "member arr_0.npy: its data does not match its checksum"},
		{"named.npz", 300, "xyzv", 4, "member vol.npy"},
		{"one.npz", -1, "", 0, "it does not end as a zip archive"},
		{"u1.bin", -1, "", 0, "the file has 59 bytes, not those of 3 x 4 x 5 items of 1"},
		{"u1.nii", 0, "\x1c\2", 2, "NIfTI-2"}, {"u1.nii", 344, "ni1", 3, "pairs of files"},
		{"u1.nii", 70, "\x80", 1, "its datatype"},
		{"u1.nii", 72, "\x10", 1, "its datatype"},
		{"u1.nii", 41, "\1", 1, "its field dim is not a shape"},
		{"u1.nii", 46, "\0", 1, "its field dim is not a shape"},
		{"u1.nii", 40, "\4\0\3\0\4\0\1\0\5", 9, "the array has 4 dimensions"},
		{"u1.nii", 115, "\x40", 1, "its values are scaled (scl_slope"},
		{"u1.nii", 108, "\0\0\0\0", 4, "its field vox_offset"},
		{"u1.nii", -1, "", 0, "its shape does not agree with its size"},
		{"f4.nii.gz", 218, "\1", 1, "wrong checksum or length"},
		{"f4.nii.gz", -20, "", 0, "in the middle of a stream"}};

	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		uint8_t file[1024];
		FILE *in = fopen(file_of(rows[r].name), "rb");
		size_t bytes = fread(file, 1, sizeof(file), in);
		struct sl_volume v;

		fclose(in);
		if (rows[r].at < 0)
			bytes -= (size_t)-rows[r].at;
		else
			memcpy(file + rows[r].at, rows[r].by, (size_t)rows[r].n);
		assert_fails(sl_volume_parse(rows[r].name, file, bytes, &shaped, &v), SL_BAD_INPUT,
			rows[r].message);
		assert_null(v.labels);
	}
}

TEST(raw_files_need_a_shape_and_a_type)
{
	static const struct sl_volume_request wrong = {{3, 4, 5}, "c16", false};
	struct sl_volume v;

	assert_fails(sl_volume_parse("a.RAW", "", 0, &none, &v), SL_USAGE, "give both");
	assert_fails(sl_volume_parse("a.vol", "", 0, &wrong, &v), SL_USAGE, "c16 is not a type");
}

/* A kept volume is not read again, unless its file or what is stated of it differs. */
TEST(kept_volumes_are_read_once)
{
	static const struct sl_volume_request flat = {{3, 20, 1}, "uint8", false};
	struct sl_volume v, again;
	const uint16_t *labels;

	assert_ok(sl_volume_read(file_of("u1.bin"), &shaped, &v));
	labels = v.labels;
	sl_volume_keep(&v);
	assert_null(v.labels);
	assert_ok(sl_volume_read(file_of("u1.bin"), &shaped, &v));
	assert_ptr_equal(labels, v.labels);
	assert_ok(sl_volume_read(file_of("u1.bin"), &shaped, &again)); /* taken */
	assert_ptr_not_equal(labels, again.labels);
	sl_volume_keep(&v);
	expect_labels(&again, 3, 4, 5);
	assert_ok(sl_volume_read(file_of("u1.bin"), &flat, &v));
	expect_labels(&v, 3, 20, 1);
	assert_ok(sl_volume_read(file_of("u1.nii"), &none, &v));
	expect_labels(&v, 3, 4, 5);
}
