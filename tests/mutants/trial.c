/*
 * trial.c - checks one backend, or the stages, on the emulated device; mutants.py runs it for each
 * mutant, which must make it fail.
 *
 *	trial scan/shared [brief]      trial stages [brief]
 *
 * The variable SLUICE_MUTANT selects the mutant. Tiles are small, so that few items fill several.
 * Threads run first in order, then in random order with several blocks in flight, some started from
 * the last, and at the end with so many blocks in flight that a look-back needs more than one
 * window. brief: one size, and threads in order. Exit code: 0 if all results are right; 1 with a
 * message, or an abort, at the first wrong result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/jobs.h"
#include "tests/mutants/mutant.h"
#include "tests/primitives/scan/look_ahead_kernels.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/filter_check.h"
#include "tests/support/device/pack_kernels_check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_inputs.h"

/* Only trials of the scan are linked with these kernels. */
#pragma weak look_ahead_small
#pragma weak look_ahead_tile_bytes
#pragma weak look_ahead_deep
#pragma weak look_ahead_deep_bytes

/* Blocks in flight: twice as many as the tiles that a look-back reads at a time. */
enum { MANY_BLOCKS = SL_EMULATED_BLOCKS_MAX };

static bool brief;

int sluice_mutant;

static void check(enum sl_status s, const struct sl_setting *set)
{
	if (s == SL_OK)
		return;
	printf("n=%u: %s\n", set->n, sl_last_error());
	exit(1);
}

/*
 * Random jobs that execute different code: random or the largest keys, half or all alive. brief:
 * one job, aligned and with random input.
 */
static void try_size(const struct sl_backend *b, struct sl_tuning tuning, uint32_t n, uint64_t jobs)
{
	static uint64_t tried;

	for (uint64_t k = 0; k < jobs; k++) {
		struct sl_setting set = {.n = n, .tuning = tuning, .end_bit = 32};

		if (!brief)
			sl_random_setting(b, ++tried, &set);
		set.scan = NULL;
		set.input = brief || k % 4 ? SL_INPUT_RANDOM : SL_INPUT_LARGEST;
		set.alive = brief || k % 4 ? SL_ALIVE_HALF : SL_ALIVE_ALL;
		check(sl_job_check(b, &set, k % 2 ? 0xa5 : 0x5a), &set);
	}
}

/*
 * Code of scans that few sizes reach: several tiles of scan/shared without look-back, also not
 * aligned; an odd number of whole tiles of floats, and more than 16^5 floats, with two tiles per
 * block.
 */
static void try_scans(const struct sl_backend *b)
{
	struct sl_setting some[] = {{.n = 9001}, {.n = 9001, .off = {1}},
		{.n = 3 * 4096, .type = SL_F32, .tuning = {.block = 512}},
		{.n = (1 << 20) + 4101, .type = SL_F32, .tuning = {.block = 512}}};
	const size_t n = b->primitive != SL_SCAN ? 0 : b->integers_only ? 2 : 4;

	for (size_t i = 0; i < n; i++) {
		some[i].input = SL_INPUT_RANDOM;
		check(sl_job_check(b, &some[i], 0xa5), &some[i]);
	}
}

/*
 * The smallest block of at least two warps and the fewest items: a tile of some hundred items. 2047
 * is one less than whole tiles. 900, with the default tile, is no multiple of words or blocks. With
 * many blocks, more tiles are in flight than a warp reads in one look-back.
 */
static void try_backend(const struct sl_backend *b, uint32_t blocks)
{
	static const uint32_t sizes[] = {1, 31, 257, 2047, 2048, 3333};
	struct sl_tuning small = {.items = b->tunable.items_can[0]};

	if (b->tunable.block)
		small.block = b->tunable.block_step < 64 ? 64 : b->tunable.block_step;
	if (brief) {
		try_size(b, small, 700, 1);
	} else if (blocks == MANY_BLOCKS) {
		try_size(b, small, MANY_BLOCKS * (small.block ? small.block : 1) * small.items + 9,
			4);
	} else {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			try_size(b, small, sizes[i], 9);
		try_size(b, (struct sl_tuning){0}, 900, 9);
		try_scans(b);
	}
}

/*
 * A wrong answer aborts. The input has more segments than run at a time, so there are several
 * rounds.
 */
static void try_deflate(const struct sl_backend *b, uint32_t blocks)
{
	/* the last one makes more streams than one round adds up */
	static const struct deflate_try cuts[] = {
		{.chunk_bytes = 700, .wrapper = SL_ZLIB, .exact = true},
		{.chunk_bytes = 700, .wrapper = SL_GZIP, .exact = true},
		{.chunk_bytes = 28, .wrapper = SL_GZIP, .exact = true}};
	static uint8_t in[12 * 700];

	deflate_input_make(DEFLATE_REPEATS, sizeof(in), in);
	for (int i = 0; brief && i < 3; i++)
		deflate_check(b, in, sizeof(in), cuts[i]);
	if (!brief && blocks == 1)
		deflate_sweep(b, 60000);
	for (uint64_t k = 0; !brief && k < 4; k++)
		deflate_random(b, 10 * blocks + k, 4000);
}

/* Tries one in one_in of the types, alignments and variants of one size. */
static void try_alignments(const struct sl_backend *b, uint32_t bytes, int more, size_t one_in)
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
			check(sl_job_check(b, &set, seen % 4 ? 0xa5 : 0x5a), &set);
	}
}

/* scan/shared's kernel for Hopper. A look-back over many tiles needs many blocks. */
static void try_look_ahead(uint32_t blocks)
{
	if (blocks == MANY_BLOCKS)
		try_alignments(&look_ahead_deep, 600 * look_ahead_deep_bytes, 0, 31);
	for (int k = 0; k < LOOK_AHEAD_SMALL && blocks != MANY_BLOCKS; k++) {
		const struct sl_backend *b = &look_ahead_small[k];
		const uint32_t bytes = look_ahead_tile_bytes[k];

		try_alignments(b, 15 * bytes, 3, 19);
		if (brief)
			continue;
		try_alignments(b, 0, 3, 11);
		try_alignments(b, bytes, -1, 11);
		try_alignments(b, 2 * bytes, -2, 11);
	}
}

/*
 * A wrong answer of a stage aborts. Random recipes include sizes after which the next column begins
 * at once.
 */
static void try_stages(uint32_t blocks)
{
	device_pipeline_check_collisions(3103); /* just enough for shared memory */
	device_pipeline_check_tiles(600);       /* a block fills a list twice */
	device_pipeline_check(
		100 * blocks, brief ? 40 : 80, brief || blocks == MANY_BLOCKS ? 320 : 700);
	pack_check_kernels(2305);
	mcpl_pack_check_kernel(brief ? 260 : 600);
	filter_check_kernels(brief ? 260 : 2305);
	device_pipeline_check_backends(96);
}

static void try_named(const char *name, uint32_t blocks)
{
	const struct sl_backend *b = NULL;
	char its_name[64] = "";

	for (size_t i = 0; strcmp(name, its_name) != 0; i++) {
		b = sl_backend_at(i);
		assert_non_null(b);
		snprintf(its_name, sizeof(its_name), "%s/%s", sl_primitive_name(b->primitive),
			b->name);
	}
	if (b->primitive == SL_DEFLATE)
		try_deflate(b, blocks);
	else
		try_backend(b, blocks);
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
	const char *mutant = getenv("SLUICE_MUTANT");

	brief = argc > 2;
	sluice_mutant = mutant ? atoi(mutant) : 0;
	sl_device_emulate(true);
	for (size_t i = 0; i < (brief ? 1 : sizeof(schedules) / sizeof(schedules[0])); i++) {
		sl_emulator_set_settings(&schedules[i]);
		if (strcmp(argv[1], "stages") == 0)
			try_stages(schedules[i].blocks);
		else if (strcmp(argv[1], "scan/look_ahead") == 0)
			try_look_ahead(schedules[i].blocks);
		else
			try_named(argv[1], schedules[i].blocks);
	}
	return 0;
}
