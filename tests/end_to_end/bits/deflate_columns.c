/*
 * deflate_columns.c - compression ratio of the device encoder on particle columns, compared with
 * zlib at level 6.
 *
 * The test runs the host implementation of the encoder, which writes the same bytes as the device.
 * It compresses the first MiB of each column as one chunk, split into byte planes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/survivor_file.h"
#include "primitives/primitives.h"
#include "tests/cases/inputs.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { CHUNK = 1 << 20, ROOM = CHUNK + CHUNK / 64 };

static uint8_t scratch[CHUNK + (1 << 20)] __attribute__((aligned(SL_ALIGN)));

static size_t compress(const struct sl_backend *b, const void *in, size_t bytes, uint32_t item)
{
	static uint8_t out[ROOM];
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}};
	size_t out_bytes;
	struct sl_deflate_job job = {.in = in,
		.in_bytes = bytes,
		.out = out,
		.out_size = sizeof(out),
		.out_bytes = &out_bytes,
		.level = 6,
		.wrapper = SL_ZLIB,
		.item_bytes = item};

	assert_ok(sl_deflate(b, &x, &job));
	assert_true(out_bytes > 0);
	return out_bytes;
}

/* Compressed sizes from zlib and from the encoder. */
struct sizes {
	size_t zlib, encoder;
};

static struct sizes compare(const char *name, const void *in, size_t bytes, uint32_t item)
{
	struct sizes p = {compress(&sl_deflate_zlib, in, bytes, item),
		compress(&sl_deflate_cpu, in, bytes, item)};

	printf("%-10s compression ratio %8.3f, zlib %8.3f, quotient %.3f\n", name,
		(double)bytes / (double)p.encoder, (double)bytes / (double)p.zlib,
		(double)p.zlib / (double)p.encoder);
	return p;
}

/* Expects that the compression ratio of the encoder is at least share times that of zlib. */
static void expect_ratio(struct sizes p, double share)
{
	assert_true((double)p.zlib >= share * (double)p.encoder);
}

/* Runs a configuration with 600000 particles in one batch and reads its survivors. */
static void run_one(const char *config, const char *more, struct sl_survivors *s)
{
	char path[4096], file[64];

	snprintf(path, sizeof(path), "%s/data/configs/%s.yaml", source_root(), config);
	snprintf(file, sizeof(file), "out/%s_000000.h5", config);
	expect(&folder, SL_OK, "",
		WORDS("run", path, "--out", "out", "--device", "cpu", "--set",
			"run.particles=600000", "--set", "run.batch=600000", "--set", more));
	assert_ok(sl_survivors_read_path(folder_path(&folder, file), s));
	remove_run(&folder, "out");
}

static uint32_t bytes_of(enum sl_column c)
{
	return (uint32_t)sl_column_facts[c].bytes;
}

/*
 * The reference batch is sorted by x and y. On the sorted float columns after the key, the longer
 * search of zlib compresses a little better.
 */
TEST(float_columns_compress_like_zlib)
{
	struct sizes all = {0, 0};
	struct sl_survivors s;

	run_one("reference", "run.seed=1", &s);
	assert_int_equal(s.table.n_columns, 9);
	assert_true(s.table.n > CHUNK / 4);
	for (uint32_t i = 0; i < s.table.n_columns; i++) {
		const struct sl_table_column *c = &s.table.column[i];
		struct sizes p = compare(sl_column_facts[c->column].name, c->data, CHUNK, 4);

		if (c->column == SL_COLUMN_pixel) {
			expect_ratio(p, 0.9);
			continue;
		}
		expect_ratio(p, c->column == SL_COLUMN_x ? 0.96 : 0.97);
		all.zlib += p.zlib;
		all.encoder += p.encoder;
	}
	expect_ratio(all, 0.98);
	sl_survivors_free(&s);
}

/* Ids when two of three particles survive, and columns in no particular order. */
TEST(ids_compress_like_zlib)
{
	struct sl_survivors s;

	run_one("vandehulst", "key=[]", &s);
	for (uint32_t i = 0; i < s.table.n_columns; i++) {
		const struct sl_table_column *c = &s.table.column[i];
		struct sizes p = compare(
			sl_column_facts[c->column].name, c->data, CHUNK, bytes_of(c->column));

		expect_ratio(p, c->column == SL_COLUMN_id ? 0.8 : 1);
	}
	sl_survivors_free(&s);
}

TEST(constants_compress_to_almost_nothing)
{
	static float in[CHUNK / sizeof(float)];

	for (size_t i = 0; i < CHUNK / sizeof(float); i++)
		in[i] = 1.5f;
	assert_true(500 * compare("constant", in, CHUNK, 4).encoder <= CHUNK);
}

TEST(sorted_keys_compress_like_zlib)
{
	static uint32_t in[CHUNK / sizeof(uint32_t)];
	uint32_t key = 0;

	for (size_t i = 0; i < CHUNK / sizeof(uint32_t); i++)
		in[i] = key += (uint32_t)(sl_mixed(i) % 512);
	expect_ratio(compare("keys", in, CHUNK, 4), 0.9);
	for (size_t i = 0; i < CHUNK / sizeof(uint32_t); i++)
		in[i] = key += sl_mixed(i) % 21 == 0;
	expect_ratio(compare("cells", in, CHUNK, 4), 0.8);
}

/* Sorted ids: about every second id at random, then all of them. */
TEST(sorted_ids_compress_like_zlib)
{
	static uint64_t in[CHUNK / sizeof(uint64_t)];
	uint64_t id = 0;

	for (size_t i = 0; i < CHUNK / sizeof(uint64_t); i++)
		in[i] = id += 1 + (uint64_t)__builtin_ctzll(sl_mixed(i));
	expect_ratio(compare("ids", in, CHUNK, 8), 0.8);
	for (size_t i = 0; i < CHUNK / sizeof(uint64_t); i++)
		in[i] = id++;
	expect_ratio(compare("all ids", in, CHUNK, 8), 0.8);
}
