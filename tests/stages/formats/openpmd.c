/*
 * openpmd.c - the chunks of openPMD files, and the messages about openPMD files and images in HDF5
 * with other contents. tests/property/tables.c tests random tables; text/openpmd.txt lets h5py read
 * them.
 */
#include <stdlib.h>
#include <zlib.h>

#include "primitives/primitives.h"
#include "stages/formats/common/common.h"
#include "stages/formats/formats.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/images/images.h"
#include "stages/formats/openpmd/openpmd.h"
#include "tests/support/formats/tables.h"

static const struct sl_format *const openpmd = &sl_format_openpmd;
static const struct sl_batch_facts batch = {.number = 17, .first_id = 1700, .generated = 100};

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* --- layout ----------------------------------------------------------------------------------- */

/*
 * All chunks of a column skip the same filters: 1 is shuffle, 2 is deflate. The last one is padded
 * with zeros, which compress to a few bytes. The packed bytes are a piece of the file without a
 * copy; all other bytes are in the image.
 */
TEST(chunks_are_filtered_and_not_copied)
{
	static const struct {
		const struct sl_backend *deflate;
		enum sl_column column;
		uint32_t n;
		enum kind kind;
		uint32_t mask;
	} rows[] = {{&sl_deflate_zlib, SL_COLUMN_energy, 262145, FEW, 1},
		{&sl_deflate_libdeflate, SL_COLUMN_energy, 262145, FEW, 1},
		{&sl_deflate_libdeflate, SL_COLUMN_energy, 100, FEW, 1},
		{&sl_deflate_zlib, SL_COLUMN_energy, 262145, RANDOM, 0},
		/*
		 * a device shuffles all chunks, and so does a host encoder that must write the same
		 * bytes
		 */
		{&sl_deflate_cpu, SL_COLUMN_energy, 3000, FEW, 0},
		/* incompressible: shuffled and stored; items of one byte are not shuffled */
		{&sl_deflate_libdeflate, SL_COLUMN_pixel, 3000, RANDOM, 2},
		{&sl_deflate_libdeflate, SL_COLUMN_fate, 3000, RANDOM, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_file_facts run = run_facts(rows[i].deflate, 6);
		struct sl_table t = make_table(rows[i].n, SL_BIT(rows[i].column), 0, rows[i].kind);
		struct packed k = lay_out_for(openpmd, &run, &t);
		struct sl_arena image = arena_of(openpmd->sizes(&t, &run).image);
		const struct sl_openpmd_pieces *packed =
			(const struct sl_openpmd_pieces *)k.p.pieces;
		struct sl_pieces file;

		print_message("row %zu\n", i);
		assert_ok(pack_into(&k, openpmd, &run, &t));
		assert_int_equal(packed->n_chunks, rows[i].n > 262144 ? 2 : 1);
		for (size_t c = 0; c < packed->n_chunks; c++) {
			assert_int_equal(packed->chunk[c].skipped, rows[i].mask);
			assert_true(c == 0 || packed->chunk[c].bytes < 8000);
		}
		assert_ok(sl_format_assemble(
			openpmd, &run, &batch, &k.p, image.base, image.size, &file));
		assert_int_equal(file.n, 3);
		assert_ptr_equal(file.piece[1].at, k.p.bytes);
		assert_int_equal(file.piece[1].bytes, k.p.used);
		assert_ptr_equal(file.piece[0].at, image.base);
		assert_true(file.bytes - k.p.used <= image.size && image.size < (1 << 18));
		free(image.base);
		free_packed(&k);
		free_table(&t);
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
	bool checksum;         /* a filter in the place of shuffle */
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
	{"not those that were written", U64, 10, .chunk = 10, .digest = 1, .stored = 80},
	{"not in chunks", U64, 10, .chunk = 10, .checksum = true}};

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

/* A file of one species with a valid checksum. */
static size_t make_file(const struct claim *c)
{
	static const char *const groups[] = {"data", "0", "particles", "photons"};
	hid_t at[5], made;
	struct sl_h5 h;

	at[0] = begin(&h);
	for (int i = 0; i < 4; i++)
		at[i + 1] = sl_h5_group(&h, at[i], groups[i]);
	made = c->checksum    ? add_other_filter(&h, at[4])
	       : c->chunk > 0 ? add_chunks(&h, at[4], c)
	                      : add_constant(&h, at[4], "id", c->type, c->n);
	if (!c->no_digest && c->type != NO_TYPE)
		sl_h5_put_u64(&h, made, "sluiceDigest", c->digest);
	sl_h5_close(&h, made);
	if (c->fates > 0) {
		made = add_constant(&h, at[4], "fate", U8, c->fates);
		sl_h5_put_u64(&h, made, "sluiceDigest", 0);
		sl_h5_close(&h, made);
	}
	for (int i = 4; i > 0; i--)
		sl_h5_close(&h, at[i]);
	return end(&h, at[0]);
}

TEST(invalid_columns_are_refused)
{
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		size_t bytes = make_file(&claims[i]);
		struct sl_arena a;
		struct sl_table t;

		assert_fails(
			read_back(openpmd, file_image, bytes, &a, &t), SL_BAD_INPUT, claims[i].why);
		free(a.base);
	}
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

#define VALUE "radiance", F64, ROWS, COLUMNS
#define SUM   "sum", INTEGER, ROWS, COLUMNS

TEST(invalid_images_are_refused)
{
	static const struct {
		const char *why; /* NULL: it is read */
		bool particles;
		struct entry entry[4];
	} rows[] = {{NULL, true, {{VALUE}, {SUM}}},
		{"number of particles are missing", false, {{VALUE}, {SUM}}},
		{"its pixels or", true, {{SUM}}},
		{"its pixels or", true, {{VALUE}, {SUM}, {"weight", F64, ROWS, COLUMNS}}},
		{"is missing or of another type", true, {{VALUE}}},
		{"is missing or of another type", true,
			{{"a name that is longer than any that this program has", F64, ROWS,
				COLUMNS}}},
		{"is missing or of another type", true,
			{{"radiance", INTEGER, ROWS, COLUMNS}, {SUM}}},
		{"is missing or of another type", true, {{"radiance", LINE, ROWS, COLUMNS}, {SUM}}},
		{"is missing or of another type", true,
			{{"radiance", F64, 0, COLUMNS}, {"sum", INTEGER, 0, COLUMNS}}},
		{"differ in their pixels", true, {{VALUE}, {"sum", INTEGER, ROWS - 1, COLUMNS}}},
		{"differ in their pixels", true,
			{{VALUE}, {SUM}, {"rays", INTEGER, ROWS, COLUMNS - 1}}},
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
	static const struct entry good[] = {{VALUE}, {SUM}, {NULL, F64, 0, 0}};
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
