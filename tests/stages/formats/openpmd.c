/*
 * openpmd.c - the layout of openPMD files and of images in HDF5, and the messages about files with other contents.
 * tests/property/tables.c tests random tables; readback.c lets h5py read them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "primitives/primitives.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/images/image_file_read.h"
#include "stages/formats/openpmd/openpmd.h"
#include "tests/support/formats/tables.h"
#include "tests/support/program/process.h"

static const struct sl_format *const openpmd = &sl_format_openpmd;
static const struct sl_batch_facts batch = {.number = 17, .first_id = 1700, .generated = 100};
static const sl_column_set few = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_w) |
                                 SL_BIT(SL_COLUMN_fate) | SL_BIT(SL_COLUMN_pixel);

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* --- layout ----------------------------------------------------------------------------------- */

/* The columns of the table have another order than those of files. */
TEST(columns_may_have_any_order)
{
	struct sl_file_facts run = run_facts(&sl_deflate_zlib, 1);
	struct sl_table t = make_table(50, few, 0, RANDOM), turned = t, back;
	struct sl_arena a;
	size_t bytes;
	char *file;

	for (uint32_t k = 0; k < t.n_columns; k++)
		turned.column[k] = t.column[(k + 2) % t.n_columns];
	file = file_of(openpmd, &run, &batch, &turned, 0, &bytes);
	assert_ok(read_back(openpmd, file, bytes, &a, &back));
	assert_same_table(&t, &back, false);
	free(a.base);
	free(file);
	free_table(&t);
}

/* The last chunk is padded with zeros, which compress to a few bytes. */
TEST(last_chunk_is_padded_with_zeros)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(262145, SL_BIT(SL_COLUMN_x), 0, RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &t);
	const struct sl_openpmd_pieces *pieces = (const struct sl_openpmd_pieces *)k.p.pieces;

	assert_ok(pack_into(&k, openpmd, &run, &t));
	assert_int_equal(pieces->n_chunks, 2);
	assert_true(pieces->chunk[0].bytes > 800000);
	assert_true(pieces->chunk[1].bytes < 8000);
	free_packed(&k);
	free_table(&t);
}

/* All chunks of a column skip the same filters: 1 is shuffle, 2 is deflate. */
TEST(few_values_are_not_shuffled)
{
	static const struct {
		const struct sl_backend *deflate;
		enum sl_column column;
		uint32_t n;
		enum kind kind;
		uint32_t mask;
	} rows[] = {{&sl_deflate_zlib, SL_COLUMN_energy, 300000, FEW, 1},
		{&sl_deflate_libdeflate, SL_COLUMN_energy, 300000, FEW, 1},
		{&sl_deflate_libdeflate, SL_COLUMN_energy, 100, FEW, 1},
		{&sl_deflate_zlib, SL_COLUMN_energy, 300000, RANDOM, 0},
		/* a device shuffles all chunks, and so does a host encoder that must write the same bytes */
		{&sl_deflate_cpu, SL_COLUMN_energy, 3000, FEW, 0},
		/* incompressible: shuffled and stored; items of one byte are not shuffled */
		{&sl_deflate_libdeflate, SL_COLUMN_pixel, 3000, RANDOM, 2},
		{&sl_deflate_libdeflate, SL_COLUMN_fate, 3000, RANDOM, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_file_facts run = run_facts(rows[i].deflate, 6);
		struct sl_table t = make_table(rows[i].n, SL_BIT(rows[i].column), 0, rows[i].kind);
		struct packed k = lay_out_for(openpmd, &run, &t);
		const struct sl_openpmd_pieces *pieces =
			(const struct sl_openpmd_pieces *)k.p.pieces;

		assert_ok(pack_into(&k, openpmd, &run, &t));
		for (size_t c = 0; c < pieces->n_chunks; c++)
			if (pieces->chunk[c].skipped != rows[i].mask)
				fail_msg("row %zu: chunk %zu has the mask %u", i, c,
					(unsigned)pieces->chunk[c].skipped);
		free_packed(&k);
		free_table(&t);
	}
}

/* The packed bytes are a piece of the file without a copy; all other bytes are in the image. */
TEST(packed_bytes_are_not_copied)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(70000, few, 0, RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &t);
	struct sl_arena image = arena_of(openpmd->image_bytes(&t, &run));
	struct sl_pieces pieces;

	assert_ok(pack_into(&k, openpmd, &run, &t));
	assert_ok(openpmd->assemble(&run, &batch, &k.p, image.base, image.size, &pieces));
	assert_int_equal(pieces.n, 3);
	assert_ptr_equal(pieces.piece[1].at, k.p.bytes);
	assert_int_equal(pieces.piece[1].bytes, k.p.used);
	assert_ptr_equal(pieces.piece[0].at, image.base);
	assert_true(pieces.bytes - k.p.used <= image.size && image.size < (1 << 18));
	free(image.base);
	free_packed(&k);
	free_table(&t);
}

/* A configuration longer than an HDF5 attribute can be, or empty; and the same bytes a second later. */
TEST(configurations_of_any_length_fit)
{
	static char text[300000];
	const char *const configs[] = {text, "", ""};
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(10, few, SL_BIT(SL_COLUMN_w), RANDOM), back;
	char *file[3];
	size_t bytes[3];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 3; i++) {
		struct sl_arena a;

		if (i == 2)
			sleep(1);
		run.config = configs[i];
		file[i] = file_of(openpmd, &run, &batch, &t, 0, &bytes[i]);
		assert_ok(read_back(openpmd, file[i], bytes[i], &a, &back));
		assert_same_table(&t, &back, false);
		free(a.base);
	}
	assert_true(bytes[0] > sizeof(text) && bytes[1] < sizeof(text));
	assert_int_equal(bytes[1], bytes[2]);
	assert_memory_equal(file[1], file[2], bytes[1]);
	for (int i = 0; i < 3; i++)
		free(file[i]);
	free_table(&t);
}

/* Writes more than an image of that size holds. Returns 0 if the error was reported. */
static int fill(void *of)
{
	static const uint64_t many[2000] = {1};
	size_t size = *(const size_t *)of;
	struct sl_h5 h;
	hid_t file;

	sl_h5_begin(&h, malloc(size + 1), size);
	file = sl_h5_create_file(&h);
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%d", i);
		sl_h5_close(&h, sl_h5_values(&h, file, name, H5T_STD_U64LE, 2000, many));
	}
	sl_h5_close(&h, file);
	return h.failed && h.full && strlen(h.why) > 10 ? 0 : 1;
}

/* A full file image is reported. Runs in a child process, because HDF5 cannot close such a file. */
TEST(full_image_is_reported)
{
	for (size_t size = 0; size < 1 << 18; size += 10000)
		assert_int_equal(in_child(fill, &size), 0);
}

TEST(files_are_named_by_batch)
{
	char name[64];

	assert_int_equal(sl_file_name(name, sizeof(name), "demo", 17, ".h5"), 14);
	assert_string_equal(name, "demo_000017.h5");
	sl_file_name(name, sizeof(name), "demo", 12345678, ".csv.gz");
	assert_string_equal(name, "demo_12345678.csv.gz");
	sl_file_pattern(name, sizeof(name), "demo", ".h5");
	assert_string_equal(name, "demo_%06T.h5");
	assert_true(sl_file_name(name, 8, "demo", 17, ".h5") >= 8);
	assert_ptr_equal(sl_format_find("openpmd"), openpmd);
	assert_null(sl_format_find("hdf"));
}

/* --- files with other contents ---------------------------------------------------------------- */

static uint8_t file_image[1 << 19];

static hid_t begin(struct sl_h5 *h)
{
	sl_h5_begin(h, file_image, sizeof(file_image) - SL_CRC_TRAILER_BYTES);
	return sl_h5_create_file(h);
}

/* Ends the file with a valid checksum. Returns its size. */
static size_t end(struct sl_h5 *h, hid_t file)
{
	size_t bytes = sl_h5_finish_file(h, file);

	if (h->failed)
		fail_msg("the file cannot be made: %s", h->why);
	sl_crc_trailer_add(file_image, bytes);
	return bytes + SL_CRC_TRAILER_BYTES;
}

enum { NO_TYPE, U8, U32, U64 };

static hid_t type_of(int type)
{
	return type == U8 ? H5T_STD_U8LE : type == U32 ? H5T_STD_U32LE : H5T_STD_U64LE;
}

/* What stands for the column id of 10 rows, and why it is refused. */
struct claim {
	const char *why;
	int type;          /* NO_TYPE: an empty group */
	uint64_t n, chunk; /* chunk 0: a constant of n rows */
	bool no_digest;
	uint64_t digest;
	size_t stored, packed; /* bytes of the first chunk: as they are, or before compression */
	uint64_t fates;        /* rows of a constant column fate; 0: there is none */
};

static const struct claim claims[] = {{"number of rows", U64, (uint64_t)1 << 60, .chunk = 131072},
	{"more rows than the file can hold", U64, 1u << 30, .chunk = 131072},
	{"wrong type", U32, 10, .chunk = 10},
	{"number of rows", U64, (uint64_t)1 << 32, .no_digest = true},
	{"value or shape", .type = NO_TYPE}, {"number of rows", U64, 10, .fates = 11},
	{"digest is missing", U64, 0, .chunk = 10, .no_digest = true},
	{"chunk is missing", U64, 10, .chunk = 10}, {"not in chunks", U64, 10, .chunk = 5},
	{"other filters", U64, 10, .chunk = 10, .stored = 79},
	{"less than the 80 bytes", U64, 10, .chunk = 10, .packed = 79},
	{"more than the 80 bytes", U64, 10, .chunk = 10, .packed = 81},
	{"value or shape", U32, .n = 10},
	{"not those that were written", U64, 10, .chunk = 10, .digest = 1, .stored = 80}};

static hid_t add_constant(struct sl_h5 *h, hid_t species, const char *name, int type, uint64_t n)
{
	hid_t made = sl_h5_group(h, species, name);
	const uint64_t one = 1;

	if (type == NO_TYPE)
		return made;
	sl_h5_put(h, made, "value", type_of(type), &one);
	sl_h5_put_list(h, made, "shape", H5T_STD_U64LE, 1, &n);
	return made;
}

static hid_t add_chunks(struct sl_h5 *h, hid_t species, const struct claim *c)
{
	static const uint8_t zeros[128] = {0};
	hid_t made = sl_h5_dataset(h, species, "id", type_of(c->type), c->n, c->chunk, true);
	uint8_t packed[256];
	uLongf bytes = sizeof(packed);
	const hsize_t first = 0;

	assert_int_equal(compress(packed, &bytes, zeros, c->packed), Z_OK);
	if (c->stored > 0)
		sl_h5_ok(h, H5Dwrite_chunk(made, H5P_DEFAULT, 2, &first, c->stored, zeros));
	if (c->packed > 0)
		sl_h5_ok(h, H5Dwrite_chunk(made, H5P_DEFAULT, 0, &first, bytes, packed));
	return made;
}

/* The same number of filters as in files of Sluice, but a checksum in place of shuffle. */
static hid_t add_other_filter(struct sl_h5 *h, hid_t species)
{
	const hsize_t n = 10;
	hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL), made;

	sl_h5_ok(h, H5Pset_chunk(how, 1, &n));
	sl_h5_ok(h, H5Pset_fletcher32(how));
	sl_h5_ok(h, H5Pset_deflate(how, 1));
	made = H5Dcreate2(species, "id", H5T_STD_U64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
	sl_h5_close(h, space);
	sl_h5_close(h, how);
	return made;
}

/* A file of one species with a valid checksum; claim NULL: with the other filter. */
static void expect_refused(const struct claim *c)
{
	static const char *const groups[] = {"data", "0", "particles", "photons"};
	hid_t at[5], made;
	struct sl_arena a;
	struct sl_table t;
	struct sl_h5 h;
	size_t bytes;

	at[0] = begin(&h);
	for (int i = 0; i < 4; i++)
		at[i + 1] = sl_h5_group(&h, at[i], groups[i]);
	made = !c             ? add_other_filter(&h, at[4])
	       : c->chunk > 0 ? add_chunks(&h, at[4], c)
	                      : add_constant(&h, at[4], "id", c->type, c->n);
	if (!c || !(c->no_digest || c->type == NO_TYPE))
		sl_h5_put_u64(&h, made, "sluiceDigest", c ? c->digest : 0);
	sl_h5_close(&h, made);
	if (c && c->fates > 0) {
		made = add_constant(&h, at[4], "fate", U8, c->fates);
		sl_h5_put_u64(&h, made, "sluiceDigest", 0);
		sl_h5_close(&h, made);
	}
	for (int i = 4; i > 0; i--)
		sl_h5_close(&h, at[i]);
	bytes = end(&h, at[0]);
	assert_fails(read_back(openpmd, file_image, bytes, &a, &t), SL_BAD_INPUT,
		c ? c->why : "not in chunks");
	free(a.base);
}

TEST(invalid_columns_are_refused)
{
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++)
		expect_refused(&claims[i]);
	expect_refused(NULL);
}

/* --- images ----------------------------------------------------------------------------------- */

enum { ROWS = 5, COLUMNS = 7 };

/* Datasets of a file of an image; LINE has one dimension. */
enum form { F64, INTEGER, LINE, GROUP };

struct entry {
	const char *name;
	enum form form;
	uint64_t rows, columns;
};

/* Makes the image file from its entries, which a NULL ends; returns its size. */
static size_t make_image(bool particles, const struct entry *entries)
{
	static const uint64_t values[ROWS * COLUMNS] = {1, 2, 3};
	struct sl_h5 h;
	hid_t file = begin(&h);

	if (particles)
		sl_h5_put_u64(&h, file, "particles", 7);
	for (const struct entry *e = entries; e->name; e++) {
		const uint64_t size[] = {e->rows, e->columns};
		hid_t type = e->form == INTEGER ? H5T_STD_U64LE : H5T_IEEE_F64LE;

		sl_h5_close(&h, e->form == GROUP ? sl_h5_group(&h, file, e->name)
				: e->form == LINE
					? sl_h5_values(&h, file, e->name, type,
						  e->rows * e->columns, values)
					: sl_h5_grid(&h, file, e->name, type, 2, size, values));
	}
	return end(&h, file);
}

#define VALUE                                  \
	{                                      \
		"radiance", F64, ROWS, COLUMNS \
	}
#define SUM                                   \
	{                                     \
		"sum", INTEGER, ROWS, COLUMNS \
	}

TEST(invalid_images_are_refused)
{
	static const struct {
		const char *why; /* NULL: it is read */
		bool particles;
		struct entry entry[4];
	} rows[] = {{NULL, true, {VALUE, SUM}},
		{"number of particles are missing", false, {VALUE, SUM}},
		{"its pixels or", true, {SUM}},
		{"its pixels or", true, {VALUE, SUM, {"weight", F64, ROWS, COLUMNS}}},
		{"is missing or of another type", true, {VALUE}},
		{"is missing or of another type", true,
			{{"a name that is longer than any that this program has", F64, ROWS,
				COLUMNS}}},
		{"is missing or of another type", true,
			{{"radiance", INTEGER, ROWS, COLUMNS}, SUM}},
		{"is missing or of another type", true, {{"radiance", LINE, ROWS, COLUMNS}, SUM}},
		{"is missing or of another type", true,
			{{"radiance", F64, 0, COLUMNS}, {"sum", INTEGER, 0, COLUMNS}}},
		{"differ in their pixels", true, {VALUE, {"sum", INTEGER, ROWS - 1, COLUMNS}}},
		{"differ in their pixels", true,
			{VALUE, SUM, {"rays", INTEGER, ROWS, COLUMNS - 1}}},
		{"HDF5 cannot read the file", true, {{"radiance", GROUP, 0, 0}}}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t bytes = make_image(rows[i].particles, rows[i].entry);
		struct sl_image_found f;

		print_message("%s\n", rows[i].why ? rows[i].why : "valid");
		if (rows[i].why)
			assert_fails(
				sl_image_read(file_image, bytes, &f), SL_BAD_INPUT, rows[i].why);
		else
			assert_ok(sl_image_read(file_image, bytes, &f));
	}
}

/* Changes the number of rows that the file states. */
TEST(more_pixels_than_bytes_are_refused)
{
	static const struct entry good[] = {VALUE, SUM, {NULL, F64, 0, 0}};
	const uint64_t size[] = {ROWS, COLUMNS}, all = make_image(true, good);
	const uint64_t rows[] = {0, all / (8 * COLUMNS), (uint64_t)1 << 40, UINT64_MAX / 2};
	struct sl_image_found f;

	for (int k = 0; k < 4; k++) {
		size_t bytes = make_image(true, good);
		int changed = 0;
		uint8_t *at;

		while ((at = (uint8_t *)memmem(file_image, bytes, size, sizeof(size))) != NULL) {
			memcpy(at, &rows[k], sizeof(rows[k]));
			changed++;
		}
		assert_true(changed >= 2);
		sl_crc_trailer_add(file_image, bytes - SL_CRC_TRAILER_BYTES);
		/* HDF5 detects this itself from version 1.14 */
		assert_fails(sl_image_read(file_image, bytes, &f), SL_BAD_INPUT,
			H5_VERSION_GE(1, 14, 0) ? "HDF5 cannot read the file" : "more pixels than");
	}
}
