/*
 * deflate_columns.c - compression ratio of the device encoder on particle columns, compared with
 * zlib at level 6.
 *
 * The test runs the host implementation of the encoder, which writes the same bytes as the device.
 * It compresses the first MiB of each column as one chunk, split into byte planes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/results.h"
#include "primitives/primitives.h"
#include "tests/cases/inputs.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { CHUNK = 1 << 20, ROOM = CHUNK + CHUNK / 64 };

static uint8_t scratch[CHUNK + (1 << 20)] __attribute__((aligned(SL_ALIGN)));

static size_t compress(const struct sl_backend *b, const void *in, uint32_t item)
{
	static uint8_t out[ROOM];
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}};
	size_t out_bytes;
	struct sl_deflate_job job = {.in = in,
		.in_bytes = CHUNK,
		.out = out,
		.out_size = sizeof(out),
		.out_bytes = &out_bytes,
		.level = 6,
		.wrapper = SL_ZLIB,
		.item_bytes = item};

	assert_ok(sl_deflate(b, &x, &job));
	return out_bytes;
}

/*
 * Expects that the compression ratio of the encoder is at least share times that of zlib. Adds both
 * sizes to sum. Returns the ratio.
 */
static double expect_ratio(
	const char *name, const void *in, uint32_t item, double share, double sum[2])
{
	double zlib = (double)compress(&sl_deflate_zlib, in, item);
	double encoder = (double)compress(&sl_deflate_cpu, in, item);

	print_message("%-10s compression ratio %8.3f, zlib %8.3f, quotient %.3f\n", name,
		CHUNK / encoder, CHUNK / zlib, zlib / encoder);
	if (!(zlib >= share * encoder))
		fail_msg("%s: less than %g", name, share);
	sum[0] += zlib;
	sum[1] += encoder;
	return CHUNK / encoder;
}

/* Runs a configuration with 600000 particles in one batch and reads its survivors. */
static void run_one(const char *config, const char *more, struct sl_survivors *s)
{
	char path[CONFIG_PATH_BYTES], file[64];

	config_path(config, path);
	snprintf(file, sizeof(file), "out/%s_000000.npz", config);
	expect(&folder, SL_OK, "",
		WORDS("run", path, "--out", "out", "--device", "cpu", "--set",
			"run.particles=600000", "--set", "run.batch=600000", "--set",
			"output.format=npz", "--set", more));
	assert_ok(sl_survivors_read_columns(folder_path(&folder, file), NULL, s));
	remove_run(&folder, "out");
}

/*
 * The reference batch is sorted by x and y. On the sorted float columns after the key, the longer
 * search of zlib compresses a little better. In the other one two of three particles survive, and
 * columns are in no particular order.
 */
TEST(columns_compress_like_zlib)
{
	static const char *const runs[][2] = {
		{"reference", "run.seed=1"}, {"vandehulst", "key=[]"}};

	for (int k = 0; k < 2; k++) {
		double sum[2] = {0, 0};
		struct sl_survivors s;

		run_one(runs[k][0], runs[k][1], &s);
		assert_true(s.table.n > CHUNK / 4 && s.table.n_columns >= 4);
		for (uint32_t i = 0; i < s.table.n_columns; i++) {
			const struct sl_table_column *c = &s.table.column[i];
			double share = c->column == SL_COLUMN_pixel ? 0.9
			               : c->column == SL_COLUMN_id  ? 0.8
			               : k == 1                     ? 1
			               : c->column == SL_COLUMN_x   ? 0.96
			                                            : 0.97;

			expect_ratio(sl_column_facts[c->column].name, c->data,
				(uint32_t)sl_column_facts[c->column].bytes, share, sum);
		}
		assert_true(sum[0] >= 0.98 * sum[1]);
		sl_survivors_free(&s);
	}
}

/*
 * Constants; sorted keys of many and of few values; sorted ids: about every second one at random,
 * then all of them.
 */
TEST(integers_compress_like_zlib)
{
	static uint32_t same[CHUNK / 4], keys[CHUNK / 4], cells[CHUNK / 4];
	static uint64_t ids[CHUNK / 8], all[CHUNK / 8];
	double sum[2] = {0, 0};

	for (size_t i = 0; i < CHUNK / 4; i++) {
		same[i] = 0x3fc00000; /* 1.5 as a float */
		keys[i] = (i > 0 ? keys[i - 1] : 0) + (uint32_t)(sl_mixed(i) % 512);
		cells[i] = (i > 0 ? cells[i - 1] : 1 << 26) + (sl_mixed(i) % 21 == 0);
	}
	for (size_t i = 0; i < CHUNK / 8; i++) {
		all[i] = (1 << 18) + i;
		ids[i] = (i > 0 ? ids[i - 1] : 0) + 1 + (uint64_t)__builtin_ctzll(sl_mixed(i));
	}
	assert_true(expect_ratio("constant", same, 4, 0, sum) >= 500);
	expect_ratio("keys", keys, 4, 0.9, sum);
	expect_ratio("cells", cells, 4, 0.8, sum);
	expect_ratio("ids", ids, 8, 0.8, sum);
	expect_ratio("all ids", all, 8, 0.8, sum);
}
