/* openpmd.c - tests that tables packed and assembled as openPMD files are read back unchanged. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "stages/formats/hdf5/hdf5_file.h"
#include "tests/stages/formats/openpmd/openpmd_check.h"
#include "stages/formats/formats.h"
#include "tests/support/program/process.h"

/* Writes and reads a table, twice with different previous contents of the image. */
static void round_trip(const struct sl_backend *deflate, int level, uint32_t n,
	sl_column_set columns, sl_column_set constants, enum kind kind)
{
	struct sl_file_facts run = run_facts(deflate, level);
	struct sl_table t = make_table(n, columns, constants, kind), back;
	size_t bytes, again;
	char *file = file_of(openpmd, &run, &batch, &t, 0x00, &bytes);
	char *same = file_of(openpmd, &run, &batch, &t, 0xff, &again);
	struct sl_arena a;

	assert_int_equal(bytes, again);
	assert_memory_equal(file, same, bytes);
	assert_ok(read_back(openpmd, file, bytes, &a, &back));
	assert_same_table(&t, &back);
	for (uint32_t i = 0; i < t.n_columns; i++)
		assert_int_equal(back.column[i].constant, t.column[i].constant);
	free(a.base);
	free(same);
	free(file);
	free_table(&t);
}

TEST(every_size_is_read_back)
{
	static const uint32_t sizes[] = {0, 1, 2, 1000, 131071, 131073, 262143, 262144, 262145};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int kind = 0; kind < KIND_COUNT; kind++)
			round_trip(&sl_deflate_libdeflate, 1, sizes[i], few, 0, (enum kind)kind);
	round_trip(&sl_deflate_libdeflate, 1, 1000003, few, SL_BIT(SL_COLUMN_w), SORTED);
}

TEST(every_column_and_constant_is_read_back)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		round_trip(&sl_deflate_libdeflate, 1, 1000, all_columns, 0, (enum kind)kind);
		round_trip(
			&sl_deflate_libdeflate, 1, 1000, all_columns, all_columns, (enum kind)kind);
		round_trip(&sl_deflate_libdeflate, 1, 0, all_columns, few, (enum kind)kind);
	}
	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		round_trip(&sl_deflate_libdeflate, 1, 10, SL_BIT(i), 0, RANDOM);
		round_trip(&sl_deflate_libdeflate, 1, 10, SL_BIT(i), SL_BIT(i), RANDOM);
	}
	round_trip(&sl_deflate_libdeflate, 1, 10, 0, 0, RANDOM);
}

TEST(every_backend_and_level_is_read_back)
{
	for (size_t i = 0; sl_backend_at(i); i++) {
		const struct sl_backend *b = sl_backend_at(i);

		if (b->primitive == SL_DEFLATE && b->space == SL_HOST)
			for (int level = 1; level <= 9; level += 4)
				for (int kind = 0; kind < KIND_COUNT; kind++)
					round_trip(b, level, 3000, few, 0, (enum kind)kind);
	}
}

/* The columns of the table have another order than those of files. */
TEST(columns_may_have_any_order)
{
	struct sl_file_facts run = run_facts(&sl_deflate_zlib, 1);
	struct sl_table t = make_table(50,
		SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_energy), 0, RANDOM);
	struct sl_table turned = t, back;
	struct sl_arena a;
	size_t bytes;

	turned.column[0] = t.column[1];
	turned.column[1] = t.column[2];
	turned.column[2] = t.column[0];
	char *file = file_of(openpmd, &run, &batch, &turned, 0, &bytes);
	assert_ok(read_back(openpmd, file, bytes, &a, &back));
	assert_same_table(&t, &back);
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

/* Memory that was laid out for many rows can hold few rows. */
TEST(memory_for_many_rows_serves_few)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table most = make_table(300000, few, 0, RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &most);
	struct sl_arena image = arena_of(openpmd->image_bytes(&most, &run));

	for (uint32_t n = 0; n < 5; n++) {
		struct sl_table t = make_table(n * 70000, few, 0, RANDOM), back;
		struct sl_arena a;
		struct sl_pieces pieces;
		size_t bytes;
		char *file;

		assert_ok(pack_into(&k, openpmd, &run, &t));
		assert_ok(openpmd->assemble(&run, &batch, &k.p, image.base, image.size, &pieces));
		file = joined(&pieces, &bytes);
		assert_ok(read_back(openpmd, file, bytes, &a, &back));
		assert_same_table(&t, &back);
		free(a.base);
		free(file);
		free_table(&t);
	}
	free(image.base);
	free_packed(&k);
	free_table(&most);
}

TEST(too_small_image_is_refused)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table small = make_table(10, few, 0, RANDOM);
	struct sl_table large = make_table(1000, few, 0, RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &small);
	struct sl_arena image = arena_of(openpmd->image_bytes(&small, &run));
	struct sl_pieces pieces;

	assert_fails(pack_into(&k, openpmd, &run, &large), SL_USAGE, "laid out for");
	assert_ok(pack_into(&k, openpmd, &run, &small));
	assert_fails(openpmd->assemble(&run, &batch, &k.p, image.base, image.size - 1, &pieces),
		SL_USAGE, "image");
	k.scratch.size = 4096;
	assert_fails(pack_into(&k, openpmd, &run, &small), SL_USAGE, "scratch");
	free(image.base);
	free_packed(&k);
	free_table(&small);
	free_table(&large);
}

/* Writes more than an image of that size holds. Returns 0 if the error was reported. */
static int fill(void *of)
{
	static const uint64_t many[2000] = {1};
	size_t size = *(const size_t *)of;
	struct sl_h5 h;

	sl_h5_begin(&h, malloc(size + 1), size);
	hid_t file = sl_h5_create_file(&h);
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

/* A configuration that is longer than an HDF5 attribute can be, or empty. */
TEST(configurations_of_any_length_fit)
{
	static char text[300000];
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(10, few, 0, RANDOM), back;

	memset(text, 'x', sizeof(text) - 1);
	run.config = text;
	for (int i = 0; i < 2; i++, run.config = "") {
		struct sl_arena a;
		size_t bytes;
		char *file = file_of(openpmd, &run, &batch, &t, 0, &bytes);

		assert_ok(read_back(openpmd, file, bytes, &a, &back));
		assert_same_table(&t, &back);
		assert_int_equal(bytes > sizeof(text), i == 0);
		free(a.base);
		free(file);
	}
	free_table(&t);
}

TEST(bytes_do_not_depend_on_time)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(100, all_columns, few, RANDOM);
	size_t bytes, again;
	char *file = file_of(openpmd, &run, &batch, &t, 0, &bytes);

	sleep(2);
	char *later = file_of(openpmd, &run, &batch, &t, 0, &again);
	assert_int_equal(bytes, again);
	assert_memory_equal(file, later, bytes);
	free(later);
	free(file);
	free_table(&t);
}

/* --- threads ------------------------------------------------------------------------------- */

static void *pack_many(void *of)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	const struct sl_table *t = (const struct sl_table *)of;
	struct packed *k = (struct packed *)malloc(sizeof(*k));

	*k = lay_out_for(openpmd, &run, t);
	for (int i = 0; i < 5; i++)
		if (pack_into(k, openpmd, &run, t) != SL_OK)
			return NULL;
	return k;
}

TEST(threads_pack_at_once)
{
	struct sl_table t = make_table(300000, few, 0, RANDOM);
	pthread_t thread[2];
	void *done[2];
	const struct packed *a, *b;

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, pack_many, &t), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(thread[i], &done[i]), 0);
		assert_non_null(done[i]);
	}
	a = (const struct packed *)done[0];
	b = (const struct packed *)done[1];
	assert_int_equal(a->p.used, b->p.used);
	assert_memory_equal(a->p.bytes, b->p.bytes, a->p.used);
	for (int i = 0; i < 2; i++) {
		free_packed((struct packed *)done[i]);
		free(done[i]);
	}
	free_table(&t);
}

/* --- names --------------------------------------------------------------------------------- */

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

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
