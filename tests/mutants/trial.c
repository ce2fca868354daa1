/*
 * trial.c - checks one backend, or the stages, on the emulated device; mutants.py runs it for each
 * mutant, which must make it fail.
 *
 *	trial scan/shared [brief]      trial global_sort/runs [brief]      trial stages [brief]
 *
 * The variable SLUICE_MUTANT selects the mutant. Tiles are small, so that few items fill several.
 * Threads run first in order, then in random order with several blocks in flight, some started from
 * the last, and at the end with so many blocks in flight that a look-back needs more than one window.
 * brief: one size, and threads in order. Exit code: 0 if all results are right; 1 with a message, or
 * an abort, at the first wrong result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/jobs.h"
#include "tests/mutants/mutant.h"
#include "tests/primitives/scan/look_ahead_kernels.h"
#include "tests/support/formats/deflate_inputs.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/global_sort_check.h"
#include "tests/support/device/pack_kernels_check.h"

/* Blocks in flight: twice as many as the tiles that a look-back reads at a time. */
enum { MANY_BLOCKS = SL_EMULATED_BLOCKS_MAX };

static bool brief;

int sluice_mutant;

/* The smallest block of at least two warps and the fewest items: a tile of some hundred items. */
static struct sl_tuning small_tuning(const struct sl_backend *b)
{
	struct sl_tuning t = {0};

	if (b->tunable.block)
		t.block = b->tunable.block_step < 64 ? 64 : b->tunable.block_step;
	t.items = b->tunable.items_can[0];
	return t;
}

/*
 * Random jobs that execute different code: random or the largest keys, half or all alive. brief: one job, aligned and with
 * random input.
 */
static enum sl_status try_size(
	const struct sl_backend *b, struct sl_tuning tuning, uint32_t n, uint64_t jobs)
{
	static uint64_t tried;

	for (uint64_t k = 0; k < jobs; k++) {
		struct sl_setting set = {.n = n,
			.tuning = tuning,
			.input = SL_INPUT_RANDOM,
			.alive = SL_ALIVE_HALF,
			.end_bit = 32};

		if (!brief) {
			sl_random_setting(b, ++tried, &set);
			set.scan = NULL;
			set.input = k % 4 ? SL_INPUT_RANDOM : SL_INPUT_LARGEST;
			set.alive = k % 4 ? SL_ALIVE_HALF : SL_ALIVE_ALL;
		}
		SL_TRY(sl_add_context(sl_job_check(b, &set, k % 2 ? 0xa5 : 0x5a), "n=%u, job %llu",
			n, (unsigned long long)k));
	}
	return SL_OK;
}

/* More tiles in flight than a warp reads in one look-back. */
static enum sl_status try_many_blocks(const struct sl_backend *b)
{
	const struct sl_tuning small = small_tuning(b);

	return try_size(
		b, small, MANY_BLOCKS * (small.block ? small.block : 1) * small.items + 9, 4);
}

/* 2047 is one less than whole tiles. 900, with the default tile, is no multiple of words or blocks. */
static enum sl_status try_sizes(const struct sl_backend *b)
{
	static const uint32_t sizes[] = {1, 31, 257, 2047, 3333};
	const struct sl_tuning small = small_tuning(b), own = {0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		SL_TRY(try_size(b, small, sizes[i], 9));
	return try_size(b, own, 900, 9);
}

/* A wrong answer aborts. The input has more segments than run at a time, so there are several rounds. */
static enum sl_status try_deflate(const struct sl_backend *b, uint32_t blocks)
{
	struct deflate_try cut = {.chunk_bytes = 700, .wrapper = SL_ZLIB, .exact = true};
	static uint8_t in[12 * 700];

	if (brief) {
		deflate_input_make(DEFLATE_REPEATS, sizeof(in), in);
		deflate_check(b, in, sizeof(in), cut);
		cut.wrapper = SL_GZIP;
		deflate_check(b, in, sizeof(in), cut);
		cut.chunk_bytes = 28; /* more streams than one round adds up */
		deflate_check(b, in, sizeof(in), cut);
	}
	if (!brief && blocks == 1)
		deflate_sweep(b, 60000);
	for (uint64_t k = 0; !brief && k < 4; k++)
		deflate_random(b, 10 * blocks + k, 4000);
	return SL_OK;
}

static enum sl_status try_backend(const struct sl_backend *b, uint32_t blocks)
{
	if (b->primitive == SL_DEFLATE)
		return try_deflate(b, blocks);
	if (brief)
		return try_size(b, small_tuning(b), 700, 1);
	return blocks == MANY_BLOCKS ? try_many_blocks(b) : try_sizes(b);
}

/* Tries one in one_in of the types, alignments and variants of one size. */
static enum sl_status try_alignments(
	const struct sl_backend *b, uint32_t bytes, int more, size_t one_in)
{
	static size_t seen;

	for (uint32_t i = 0; i < 32; i++) {
		enum sl_type type = i / 16 ? SL_U64 : SL_U32;
		struct sl_setting set = {
			.n = bytes / (uint32_t)sl_type_bytes(type) + (uint32_t)more,
			.type = type,
			.input = SL_INPUT_RANDOM,
			.inclusive = i % 2,
			.off = {i / 2 % 4, i / 2 % 4}};

		if (seen++ % one_in == 0)
			SL_TRY(sl_add_context(sl_job_check(b, &set, seen % 4 ? 0xa5 : 0x5a),
				"%s, n=%u", b->name, set.n));
	}
	return SL_OK;
}

/* scan/shared's kernel for Hopper. A look-back over many tiles needs many blocks. */
static enum sl_status try_look_ahead(uint32_t blocks)
{
	if (blocks == MANY_BLOCKS)
		return try_alignments(&look_ahead_deep, 600 * look_ahead_deep_bytes, 0, 31);
	for (int k = 0; k < LOOK_AHEAD_SMALL; k++) {
		const uint32_t bytes = look_ahead_tile_bytes[k];

		SL_TRY(try_alignments(&look_ahead_small[k], 15 * bytes, 3, 19));
		if (brief)
			continue;
		SL_TRY(try_alignments(&look_ahead_small[k], 0, 3, 11));
		SL_TRY(try_alignments(&look_ahead_small[k], bytes, -1, 11));
		SL_TRY(try_alignments(&look_ahead_small[k], 2 * bytes, -2, 11));
	}
	return SL_OK;
}

static enum sl_status find(const char *name, const struct sl_backend **found)
{
	for (int p = 0; p < SL_PRIMITIVE_COUNT; p++) {
		const char *primitive = sl_primitive_name((enum sl_primitive)p);
		size_t n = strlen(primitive);

		if (strncmp(name, primitive, n) == 0 && name[n] == '/')
			return sl_find((enum sl_primitive)p, name + n + 1, found);
	}
	return sl_fail(SL_USAGE,
		"'%s' is not PRIMITIVE/BACKEND, global_sort/runs, scan/look_ahead or stages", name);
}

/* A wrong answer of a stage aborts. Random recipes include sizes after which the next column begins at once. */
static void try_stages(uint32_t blocks)
{
	device_pipeline_check_collisions(3103); /* just enough for shared memory */
	device_pipeline_check(
		100 * blocks, brief ? 40 : 80, brief || blocks == MANY_BLOCKS ? 320 : 700);
	pack_check_kernels(2305);
	mcpl_pack_check_kernel(brief ? 260 : 600);
	device_pipeline_check_backends(96);
}

/*
 * A wrong answer aborts. Three shares make two levels of merges; a merge of two runs has two tiles. The boundary of two
 * shares is found by the kernel split.
 */
static void try_global_sort(void)
{
	struct global_sort_try two = {.n_shares = 2,
		.n = {700, 900},
		.n_devices = 2,
		.input = SL_INPUT_RANDOM,
		.type = SL_U32,
		.end_bit = 32};
	struct global_sort_try t = {.n_shares = 3,
		.n = {4500, 5100, 2700},
		.n_devices = 3,
		.input = SL_INPUT_RANDOM,
		.type = SL_U32,
		.end_bit = 32};

	global_sort_check_search(&sl_run_kernels_emulated);
	global_sort_check(&sl_sort_naive_emulated, &two);
	global_sort_check(&sl_sort_naive_emulated, &t);
	t.input = SL_INPUT_FEW;
	global_sort_check(&sl_sort_naive_emulated, &t);
	if (!brief)
		global_sort_check_sizes(&sl_sort_naive_emulated, 3, SL_MERGE_TILE + 50, 211);
	global_sort_check_exchange(&sl_sort_naive_emulated, brief ? 100 : 5000, 211);
}

static enum sl_status try_schedule(const char *name, const struct sl_emulator_settings *c)
{
	const struct sl_backend *b;

	sl_emulator_set_settings(c);
	if (strcmp(name, "stages") == 0) {
		try_stages(c->blocks);
		return SL_OK;
	}
	if (strcmp(name, "global_sort/runs") == 0) {
		try_global_sort();
		return SL_OK;
	}
	if (strcmp(name, "scan/look_ahead") == 0)
		return try_look_ahead(c->blocks);
	SL_TRY(find(name, &b));
	return try_backend(b, c->blocks);
}

int main(int argc, char **argv)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 2, .seed = 1, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 2, .memory_bytes = 1 << 30},
		{.blocks = 4, .seed = 3, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = MANY_BLOCKS, .memory_bytes = 1 << 30},
		{.blocks = MANY_BLOCKS, .seed = 4, .memory_bytes = 1 << 30},
	};
	size_t n = argc > 2 ? 1 : sizeof(schedules) / sizeof(schedules[0]);
	const char *mutant = getenv("SLUICE_MUTANT");
	enum sl_status s = SL_OK;

	brief = argc > 2;
	sluice_mutant = mutant ? atoi(mutant) : 0;
	sl_device_emulate(true);
	for (size_t i = 0; argc > 1 && s == SL_OK && i < n; i++)
		s = sl_add_context(try_schedule(argv[1], &schedules[i]), "schedule %zu", i);
	if (s != SL_OK)
		printf("%s\n", sl_last_error());
	return s != SL_OK;
}
