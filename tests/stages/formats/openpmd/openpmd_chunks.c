/*
 * openpmd_chunks.c - tests the chunks of an openPMD file: compressed by a device or stored,
 * shuffled or not, and none copied into the image of the file.
 */
#include "stages/batch/recipe.h"
#include "stages/device/pack.h"
#include "tests/stages/formats/openpmd/openpmd_check.h"
#include "stages/formats/formats.h"
#include "tests/support/program/folder.h"

/* --- streams of a device --------------------------------------------------------------------- */

/* The packed data that a device would send for t, by the specification of its encoder. */
static struct sl_device_packed pack(const struct sl_table *t)
{
	const struct sl_pack_rule rule = {
		.form = SL_AS_STREAMS, .packing = sl_format_openpmd.packing};
	struct sl_device_packed p = {.size = sl_pack_most(&rule, t)};
	size_t *stream = (size_t *)calloc(sl_pack_streams(&rule, t) + 1, sizeof(*p.stream));
	struct sl_arena scratch = arena_of((size_t)4 << 20);

	p.stream = stream;
	p.bytes = (uint8_t *)arena_of(p.size).base;
	for (uint32_t k = 0; t->n > 0 && k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		uint32_t item = sl_column_facts[c->column].bytes;
		struct sl_exec x = {.space = SL_HOST, .scratch = scratch};
		struct sl_deflate_job job = {.in = c->data,
			.in_bytes = (size_t)t->n * item,
			.out = p.bytes,
			.out_size = p.size,
			.out_bytes = stream,
			.level = 6,
			.wrapper = SL_ZLIB,
			.chunk_bytes = (size_t)sl_openpmd_chunk_items(t->n, item) * item,
			.item_bytes = item,
			.whole_chunks = true,
			.out_used = &p.used};

		if (c->constant)
			continue;
		assert_ok(sl_deflate(&sl_deflate_cpu, &x, &job));
		stream += sl_deflate_streams(job.in_bytes, job.chunk_bytes);
	}
	free(scratch.base);
	return p;
}

static void bound(const struct sl_table *t, struct sl_device_packed *p)
{
	for (int axis = 0; axis < 3; axis++) {
		p->lo[axis] = INFINITY;
		p->hi[axis] = -INFINITY;
	}
	for (uint32_t k = 0; k < t->n_columns; k++)
		for (uint32_t i = 0; t->column[k].column == SL_COLUMN_x && i < t->n; i++) {
			float v = ((const float *)t->column[k].data)[t->column[k].constant ? 0 : i];

			p->lo[0] = fminf(p->lo[0], v) + 0.0f;
			p->hi[0] = fmaxf(p->hi[0], v) + 0.0f;
		}
}

/* Makes a file of streams that a device packed. The table has no data of columns that vary. */
static char *file_of_packed(const struct sl_table *t, size_t *bytes)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_device_packed device_packed = pack(t);
	struct sl_table bare = *t;
	struct sl_pieces pieces;
	struct sl_arena image;
	char *file;

	run.form = SL_AS_STREAMS;
	bound(t, &device_packed);
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant)
			bare.column[k].data = NULL;
	struct packed k = lay_out_for(openpmd, &run, t);
	struct sl_exec x = {.space = SL_HOST, .scratch = k.scratch};
	image = arena_of(openpmd->image_bytes(t, &run));
	assert_ok(openpmd->take(&x, &run, &bare, &device_packed, &k.p));
	assert_ptr_equal(k.p.bytes, device_packed.bytes);
	assert_ok(sl_format_check_written(&k.p.written, t->n));
	assert_ok(openpmd->assemble(&run, &batch, &k.p, image.base, image.size, &pieces));
	file = joined(&pieces, bytes);
	free(device_packed.stream);
	free(device_packed.bytes);
	free(image.base);
	free_packed(&k);
	return file;
}

/* The file equals that of deflate/cpu. RANDOM and HARD have chunks that do not compress. */
TEST(streams_give_the_same_file)
{
	static const uint32_t sizes[] = {0, 1, 2, 7, 3000, 131073, 262145};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int kind = 0; kind < (sizes[i] > 3000 ? SAME : KIND_COUNT); kind++) {
			struct sl_file_facts run = run_facts(&sl_deflate_cpu, 6);
			struct sl_table t = make_table(sizes[i], few,
				i % 2 ? SL_BIT(SL_COLUMN_w) : SL_BIT(SL_COLUMN_x), (enum kind)kind);
			size_t bytes, expected;
			char *file = file_of_packed(&t, &bytes);
			char *same = file_of(openpmd, &run, &batch, &t, 0, &expected);

			assert_int_equal(bytes, expected);
			assert_memory_equal(file, same, bytes);
			free(same);
			free(file);
			free_table(&t);
		}
}

/* --- filters --------------------------------------------------------------------------------- */

/* Three energies of a spectrum; numbers that differ in all bits. */
static float line_of(uint64_t i)
{
	static const float lines[] = {1173.2281f, 1332.4921f, 661.6553f};

	return lines[mixed(i) % 3];
}

/* Returns the mask of skipped filters, which all chunks of a column of n rows must share. */
static uint32_t mask_of(const struct sl_backend *deflate, enum sl_column column, uint32_t n,
	float (*value)(uint64_t i))
{
	struct sl_file_facts run = run_facts(deflate, 6);
	struct sl_table t = make_table(n, SL_BIT(column), 0, RANDOM);
	struct packed k = lay_out_for(openpmd, &run, &t);
	const struct sl_openpmd_pieces *pieces = (const struct sl_openpmd_pieces *)k.p.pieces;
	uint32_t mask;

	for (uint32_t i = 0; value && i < n; i++)
		((float *)t.column[0].data)[i] = value(i);
	assert_ok(pack_into(&k, openpmd, &run, &t));
	mask = (uint32_t)pieces->chunk[0].skipped;
	for (size_t i = 0; i < sl_openpmd_chunks(n, sl_column_facts[column].bytes); i++)
		assert_int_equal(pieces->chunk[i].skipped, mask);
	free_packed(&k);
	free_table(&t);
	return mask;
}

TEST(few_values_are_not_shuffled)
{
	static const struct sl_backend *const search[] = {&sl_deflate_zlib, &sl_deflate_libdeflate};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(mask_of(search[i], SL_COLUMN_energy, 300000, line_of), 1);
		assert_int_equal(mask_of(search[i], SL_COLUMN_energy, 100, line_of), 1);
		assert_int_equal(mask_of(search[i], SL_COLUMN_energy, 300000, NULL), 0);
	}
	/* a device shuffles all chunks, and so does a host encoder that must write the same bytes */
	assert_int_equal(mask_of(&sl_deflate_cpu, SL_COLUMN_energy, 3000, line_of), 0);
	/* incompressible: shuffled and stored; items of one byte are not shuffled */
	assert_int_equal(mask_of(&sl_deflate_libdeflate, SL_COLUMN_pixel, 3000, NULL), 2);
	assert_int_equal(mask_of(&sl_deflate_libdeflate, SL_COLUMN_fate, 3000, NULL), 1);
}

/* HDF5 opens the file by name and reads the written values. */
static void check_by_hdf5(const char *path, const struct sl_table *t)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	float *back = (float *)calloc(t->n, sizeof(float));
	hid_t set;

	assert_non_null(back);
	assert_true(file >= 0);
	set = H5Dopen2(file, "/data/17/particles/photons/energy", H5P_DEFAULT);
	assert_true(set >= 0);
	assert_true(H5Dread(set, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
	assert_memory_equal(back, t->column[0].data, t->n * sizeof(float));
	assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
	free(back);
}

TEST(hdf5_reads_every_mask)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct folder folder;

	folder_make(&folder);
	for (int lines = 0; lines < 2; lines++) {
		struct sl_table t = make_table(300000, SL_BIT(SL_COLUMN_energy), 0, RANDOM);
		size_t bytes;
		char *file;

		for (uint32_t i = 0; lines && i < t.n; i++)
			((float *)t.column[0].data)[i] = line_of(i);
		file = file_of(openpmd, &run, &batch, &t, 0, &bytes);
		folder_write(&folder, "t.h5", file, bytes);
		check_by_hdf5(folder_path(&folder, "t.h5"), &t);
		free(file);
		free_table(&t);
	}
	folder_remove(&folder);
}

/* --- pieces ---------------------------------------------------------------------------------- */

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

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
