/*
 * openpmd_wrong.c - tests that openPMD files that are damaged or contain invalid attributes are
 * refused.
 */
#include <zlib.h>

#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/common/crc_trailer.h"
#include "tests/cases/sampling.h"
#include "tests/stages/formats/openpmd/openpmd_check.h"
#include "stages/formats/formats.h"

/* --- damage -------------------------------------------------------------------------------- */

/* Bytes to the version number of HDF5's superblock; the signature stands before it. */
enum { SUPERBLOCK_VERSION = 8 };

/* A small file, and the table in it. */
struct sample {
	struct sl_table t;
	char *file;
	size_t bytes;
};

static struct sample make_sample(void)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sample s = {.t = make_table(300, few, SL_BIT(SL_COLUMN_w), RANDOM)};

	s.file = file_of(openpmd, &run, &batch, &s.t, 0, &s.bytes);
	return s;
}

static void free_sample(struct sample *s)
{
	free(s->file);
	free_table(&s->t);
}

TEST(every_prefix_is_refused)
{
	struct sample s = make_sample();

	assert_cuts_are_refused(openpmd, s.file, s.bytes, 7);
	free_sample(&s);
}

TEST(every_flipped_bit_is_found)
{
	struct sample s = make_sample();

	for (uint64_t i = 0; i < 2000; i++) {
		size_t at = (size_t)(mixed(i) % s.bytes);
		char bit = (char)(1 << (mixed(i) >> 61));
		struct sl_arena a = {0};
		struct sl_table back;

		s.file[at] ^= bit;
		assert_fails(
			openpmd->read(s.file, s.bytes, &a, &back), SL_BAD_INPUT, "checksum line");
		s.file[at] ^= bit;
	}
	free_sample(&s);
}

/*
 * A changed file can have a valid checksum. A flipped bit of HDF5's metadata then makes HDF5 fail, crash
 * or ask for much memory, which is reported as damage and does not end the process of the test. Most flips hit
 * bytes that HDF5 does not check; the first one changes the version of the superblock, which it always refuses.
 */
TEST(a_flipped_bit_below_a_valid_checksum_does_no_harm)
{
	struct sample s = make_sample();
	uint64_t flips = 1 + 999 / sl_sampling_step(1), refused = 0;

	for (uint64_t i = 0; i < flips; i++) {
		size_t at = i == 0 ? SUPERBLOCK_VERSION
		                   : (size_t)(mixed(i) % (s.bytes - SL_CRC_TRAILER_BYTES));
		char bit = (char)(1 << (mixed(i) >> 61));
		struct sl_arena a = {0};
		struct sl_table back;
		enum sl_status status;

		s.file[at] ^= bit;
		sl_crc_trailer_add(s.file, s.bytes - SL_CRC_TRAILER_BYTES);
		status = openpmd->read(s.file, s.bytes, &a, &back);
		if (status != SL_OK && status != SL_BAD_INPUT)
			fail_msg("bit flipped in byte %zu: status %s, not OK or BAD_INPUT: %s", at,
				sl_status_name(status), sl_last_error());
		refused += status == SL_BAD_INPUT;
		s.file[at] ^= bit;
	}
	print_message("%llu of %llu flipped bits were refused\n", (unsigned long long)refused,
		(unsigned long long)flips);
	assert_true(refused > 0);
	free_sample(&s);
}

/* Each chunk has a checksum, so a changed chunk is found even if the checksum of the file is valid. */
TEST(every_flipped_bit_of_a_chunk_is_found)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sl_table t = make_table(300, few, SL_BIT(SL_COLUMN_w), RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &t);
	const struct sl_openpmd_pieces *pieces = (const struct sl_openpmd_pieces *)k.p.pieces;
	size_t bytes;
	char *file = file_of(openpmd, &run, &batch, &t, 0, &bytes);

	assert_ok(pack_into(&k, openpmd, &run, &t));
	for (size_t c = 0; c < pieces->n_chunks; c++) {
		const struct sl_openpmd_chunk *chunk = &pieces->chunk[c];
		char *at = (char *)memmem(file, bytes, k.p.bytes + chunk->at, chunk->bytes);

		assert_non_null(at);
		for (size_t bit = 0; bit < 8 * chunk->bytes; bit += sl_sampling_step(37)) {
			struct sl_arena a;
			struct sl_table back;
			enum sl_status status;

			at[bit / 8] ^= (char)(1 << bit % 8);
			sl_crc_trailer_add(file, bytes - SL_CRC_TRAILER_BYTES);
			status = read_back(openpmd, file, bytes, &a, &back);
			if (status == SL_OK)
				assert_same_table(&t, &back); /* a hint in the zlib header */
			else
				assert_int_equal(status, SL_BAD_INPUT);
			free(a.base);
			at[bit / 8] ^= (char)(1 << bit % 8);
		}
	}
	free(file);
	free_packed(&k);
	free_table(&t);
}

/* --- files of other claims ----------------------------------------------------------------- */

/* A file of one species with a valid checksum, to which add makes an invalid change. */
static void assert_refused(void (*add)(struct sl_h5 *h, hid_t species), const char *why)
{
	struct sl_arena image = arena_of(1 << 20), a;
	struct sl_table t;
	struct sl_h5 h;

	sl_h5_begin(&h, image.base, image.size - SL_CRC_TRAILER_BYTES);
	hid_t file = sl_h5_create_file(&h);
	hid_t data = sl_h5_group(&h, file, "data");
	hid_t number = sl_h5_group(&h, data, "0");
	hid_t particles = sl_h5_group(&h, number, "particles");
	hid_t species = sl_h5_group(&h, particles, "photons");
	add(&h, species);
	sl_h5_close(&h, species);
	sl_h5_close(&h, particles);
	sl_h5_close(&h, number);
	sl_h5_close(&h, data);
	assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
	ssize_t bytes = H5Fget_file_image(file, NULL, 0);
	sl_h5_close(&h, file);
	if (h.failed)
		fail_msg("the file cannot be made: %s", h.why);
	sl_crc_trailer_add(image.base, (size_t)bytes);
	assert_fails(read_back(openpmd, image.base, (size_t)bytes + SL_CRC_TRAILER_BYTES, &a, &t),
		SL_BAD_INPUT, why);
	free(a.base);
	free(image.base);
}

static void add_ids(struct sl_h5 *h, hid_t species, hid_t type, uint64_t n, uint64_t chunk)
{
	hid_t made = sl_h5_dataset(h, species, "id", type, n, chunk, true);

	sl_h5_put_u64(h, made, "sluiceDigest", 0);
	sl_h5_close(h, made);
}

static void add_many_rows(struct sl_h5 *h, hid_t species)
{
	add_ids(h, species, H5T_STD_U64LE, (uint64_t)1 << 60, 131072);
}

static void add_rows_beyond_the_file(struct sl_h5 *h, hid_t species)
{
	add_ids(h, species, H5T_STD_U64LE, 1u << 30, 131072);
}

static void add_other_type(struct sl_h5 *h, hid_t species)
{
	add_ids(h, species, H5T_STD_U32LE, 10, 10);
}

static void add_large_constant(struct sl_h5 *h, hid_t species)
{
	const uint64_t value = 1, n = (uint64_t)1 << 32;
	hid_t made = sl_h5_group(h, species, "id");

	sl_h5_put(h, made, "value", H5T_STD_U64LE, &value);
	sl_h5_put_list(h, made, "shape", H5T_STD_U64LE, 1, &n);
	sl_h5_close(h, made);
}

static void add_empty_group(struct sl_h5 *h, hid_t species)
{
	sl_h5_close(h, sl_h5_group(h, species, "id"));
}

static void add_constant(
	struct sl_h5 *h, hid_t species, const char *name, hid_t type, const void *value, uint64_t n)
{
	hid_t made = sl_h5_group(h, species, name);

	sl_h5_put(h, made, "value", type, value);
	sl_h5_put_list(h, made, "shape", H5T_STD_U64LE, 1, &n);
	sl_h5_put_u64(h, made, "sluiceDigest", 0);
	sl_h5_close(h, made);
}

static void add_two_lengths(struct sl_h5 *h, hid_t species)
{
	const uint64_t id = 1;
	const uint8_t fate = 1;

	add_constant(h, species, "id", H5T_STD_U64LE, &id, 10);
	add_constant(h, species, "fate", H5T_STD_U8LE, &fate, 11);
}

static void add_no_digest(struct sl_h5 *h, hid_t species)
{
	sl_h5_close(h, sl_h5_dataset(h, species, "id", H5T_STD_U64LE, 0, 10, true));
}

static void add_no_chunks(struct sl_h5 *h, hid_t species)
{
	add_ids(h, species, H5T_STD_U64LE, 10, 10);
}

static void add_other_chunks(struct sl_h5 *h, hid_t species)
{
	add_ids(h, species, H5T_STD_U64LE, 10, 5);
}

static void add_short_chunk(struct sl_h5 *h, hid_t species)
{
	const hsize_t first = 0;
	hid_t made = sl_h5_dataset(h, species, "id", H5T_STD_U64LE, 10, 10, true);

	sl_h5_ok(h, H5Dwrite_chunk(made, H5P_DEFAULT, 2, &first, 79,
			    "short"
			    "                                                                      "
			    "    "));
	sl_h5_put_u64(h, made, "sluiceDigest", 0);
	sl_h5_close(h, made);
}

/* A chunk that inflates to n bytes in place of 80. */
static void add_inflating(struct sl_h5 *h, hid_t species, size_t n)
{
	const hsize_t first = 0;
	const Bytef zeros[100] = {0};
	Bytef packed[200];
	uLongf bytes = sizeof(packed);
	hid_t made = sl_h5_dataset(h, species, "id", H5T_STD_U64LE, 10, 10, true);

	assert_int_equal(compress(packed, &bytes, zeros, n), Z_OK);
	sl_h5_ok(h, H5Dwrite_chunk(made, H5P_DEFAULT, 0, &first, bytes, packed));
	sl_h5_put_u64(h, made, "sluiceDigest", 0);
	sl_h5_close(h, made);
}

static void add_less(struct sl_h5 *h, hid_t species)
{
	add_inflating(h, species, 79);
}

static void add_more(struct sl_h5 *h, hid_t species)
{
	add_inflating(h, species, 81);
}

/* The same number of filters as in files of Sluice, but a checksum in place of shuffle. */
static void add_other_filter(struct sl_h5 *h, hid_t species)
{
	const hsize_t n = 10;
	hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);

	sl_h5_ok(h, H5Pset_chunk(how, 1, &n));
	sl_h5_ok(h, H5Pset_fletcher32(how));
	sl_h5_ok(h, H5Pset_deflate(how, 1));
	hid_t made = H5Dcreate2(species, "id", H5T_STD_U64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
	sl_h5_put_u64(h, made, "sluiceDigest", 0);
	sl_h5_close(h, made);
	sl_h5_close(h, space);
	sl_h5_close(h, how);
}

static void add_narrow_constant(struct sl_h5 *h, hid_t species)
{
	const uint32_t value = 1;

	add_constant(h, species, "id", H5T_STD_U32LE, &value, 10);
}

static void add_wrong_digest(struct sl_h5 *h, hid_t species)
{
	const hsize_t first = 0;
	const uint64_t zeros[10] = {0};
	hid_t made = sl_h5_dataset(h, species, "id", H5T_STD_U64LE, 10, 10, true);

	sl_h5_ok(h, H5Dwrite_chunk(made, H5P_DEFAULT, 2, &first, 80, zeros));
	sl_h5_put_u64(h, made, "sluiceDigest", 1);
	sl_h5_close(h, made);
}

TEST(invalid_attributes_are_refused)
{
	assert_refused(add_many_rows, "number of rows");
	assert_refused(add_rows_beyond_the_file, "more rows than the file can hold");
	assert_refused(add_other_type, "wrong type");
	assert_refused(add_large_constant, "number of rows");
	assert_refused(add_empty_group, "value or shape");
	assert_refused(add_two_lengths, "number of rows");
	assert_refused(add_no_digest, "digest is missing");
	assert_refused(add_no_chunks, "chunk is missing");
	assert_refused(add_other_chunks, "not in chunks");
	assert_refused(add_short_chunk, "other filters");
	assert_refused(add_less, "less than the 80 bytes");
	assert_refused(add_more, "more than the 80 bytes");
	assert_refused(add_other_filter, "not in chunks");
	assert_refused(add_narrow_constant, "value or shape");
	assert_refused(add_wrong_digest, "not those that were written");
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
