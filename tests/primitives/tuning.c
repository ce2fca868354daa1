/*
 * tuning.c - tests tuning files on the emulated device: the meaning of a line, invalid lines, and
 * that scratch sizes and calls use the same line.
 */
#include "primitives/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/cross_check.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static char path[sizeof(folder.path) + 16];

BEFORE_EACH()
{
	struct sl_device device;

	snprintf(path, sizeof(path), "%s/tuning", folder.path);
	sl_device_emulate(true);
	assert_ok(sl_device_use(0, &device));
}

AFTER_EACH()
{
	sl_tuning_clear();
}

static enum sl_status read_text(const char *text)
{
	write_text(&folder, "tuning", text);
	return sl_tuning_read(path);
}

static const struct sl_backend *find(enum sl_primitive p, const char *name)
{
	const struct sl_backend *b;

	assert_ok(sl_find(p, name, &b));
	return b;
}

/* --- what a line means ------------------------------------------------------------------------ */

static const char good[] = "# a file\n"
			   "device NVIDIA H200\n"
			   "scan/naive u32 from 0 block=32 items=8\n"
			   "\n"
			   "device emulated   # this one\r\n"
			   "scan/naive u32 from 100 block=64 items=2\n"
			   "\tscan/naive  u32 from 2^10  block=128 items=1   # a comment\n"
			   "scan/naive u64 from 0 block=96 items=8\n"
			   "compact/naive u32 from 0 block=33 items=2\n"
			   "scan/tiled u32 from 0 block=64 items=2 padding=off\n"
			   "scan/tiled u32 from 100 block=64 items=4\n";

/* The tuning of n items for what a call asks; a block or items of 0 stand for the default of the backend. */
static void expect_tuning(enum sl_primitive p, const char *name, struct sl_tuning asked,
	enum sl_type type, uint32_t n, struct sl_tuning expected)
{
	const struct sl_backend *b = find(p, name);
	const struct sl_tuning t = sl_tuning_of(b, asked, type, n);

	assert_int_equal(t.block, expected.block ? expected.block : b->tunable.block);
	assert_int_equal(t.items, expected.items ? expected.items : b->tunable.items);
	assert_int_equal(t.padding, expected.padding);
}

TEST(lines_hold_for_device_type_and_size)
{
	static const struct {
		enum sl_primitive primitive;
		const char *backend;
		struct sl_tuning asked;
		enum sl_type type;
		uint32_t n;
		struct sl_tuning expected;
	} rows[] = {
		{SL_SCAN, "naive", {0}, SL_U32, 0, {0}},
		{SL_SCAN, "naive", {0}, SL_U32, 99, {0}},
		{SL_SCAN, "naive", {0}, SL_U32, 100, {64, 2, SL_PADDING_DEFAULT}},
		{SL_SCAN, "naive", {0}, SL_U32, 1023, {64, 2, SL_PADDING_DEFAULT}},
		{SL_SCAN, "naive", {0}, SL_U32, 1024, {128, 1, SL_PADDING_DEFAULT}},
		{SL_SCAN, "naive", {0}, SL_U32, UINT32_MAX, {128, 1, SL_PADDING_DEFAULT}},
		{SL_SCAN, "naive", {0}, SL_U64, 5, {96, 8, SL_PADDING_DEFAULT}},
		{SL_COMPACT, "naive", {0}, SL_U64, 5,
			{33, 2, SL_PADDING_DEFAULT}}, /* has no types */
		{SL_SCAN, "naive", {.block = 192}, SL_U32, 100, {.block = 192}},
		{SL_SCAN, "naive", {.items = 8}, SL_U32, 100, {.items = 8}},
		{SL_SCAN, "tiled", {0}, SL_U32, 99, {64, 2, SL_PADDING_OFF}},
		{SL_SCAN, "tiled", {0}, SL_U32, 100, {64, 4, SL_PADDING_ON}},
		/* a caller that sets the padding has set the tuning: the file does not apply */
		{SL_SCAN, "tiled", {.padding = SL_PADDING_OFF}, SL_U32, 100,
			{.padding = SL_PADDING_OFF}},
	};

	expect_tuning(SL_SCAN, "tiled", (struct sl_tuning){0}, SL_U32, 0,
		(struct sl_tuning){.padding = SL_PADDING_ON});
	assert_ok(read_text(good));
	assert_int_equal(sl_tuning_lines(), 6);
	assert_string_equal(sl_tuning_path(), path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_tuning(rows[i].primitive, rows[i].backend, rows[i].asked, rows[i].type,
			rows[i].n, rows[i].expected);
	sl_tuning_clear();
	assert_int_equal(sl_tuning_lines(), 0);
	assert_string_equal(sl_tuning_path(), "");
	expect_tuning(SL_SCAN, "naive", rows[0].asked, SL_U32, 100, rows[0].expected);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

/* The lines of tuning.txt. The tuning that was read before remains. */
TEST(mistakes_are_told_with_file_and_line)
{
	char place[sizeof(path) + 16], line[LINE_BYTES];
	FILE *f = open_source("tests/primitives/tuning.txt");

	while (next_line(f, line)) {
		char *text = line, *number = strsep(&text, "|"), *says = strsep(&text, "|");

		assert_non_null(text);
		for (char *c = text; *c; c++)
			*c = *c == ';' ? '\n' : *c;
		assert_ok(read_text(good));
		snprintf(place, sizeof(place), "%s:%s: ", path, number);
		assert_fails(read_text(text), SL_USAGE, says);
		assert_memory_equal(sl_last_error(), place, strlen(place));
		expect_tuning(SL_SCAN, "naive", (struct sl_tuning){0}, SL_U32, 100,
			(struct sl_tuning){64, 2, SL_PADDING_DEFAULT});
	}
	fclose(f);
	assert_fails(sl_tuning_read("/nowhere/tuning"), SL_DISK, "/nowhere/tuning");
}

/* A line for a Hopper device on a Turing device: every call that would use it is refused. */
TEST(lines_that_the_device_cannot_have_are_refused)
{
	const struct sl_backend *sort = find(SL_SORT, "shared");
	const struct sl_tuning large = {.block = sort->tunable.block_most, .items = 24};
	const struct sl_emulator_settings own = *sl_emulator_get_settings();
	struct sl_emulator_settings turing = own;
	struct sl_limits limits;
	char text[256], place[sizeof(path) + 16];

	turing.turing = true;
	sl_emulator_set_settings(&turing);
	assert_ok(sl_device_limits(&limits));
	assert_true(sort->tunable.shared_bytes(large, SL_U64) > limits.shared_bytes);
	snprintf(text, sizeof(text), "device emulated\nsort/shared u64 from 7 block=%u items=%u\n",
		large.block, large.items);
	assert_ok(read_text(text));
	snprintf(place, sizeof(place), "%s:2: ", path);
	assert_fails(sl_tuning_check(sort, (struct sl_tuning){0}, SL_U64), SL_USAGE, place);
	assert_ok(sl_tuning_check(sort, (struct sl_tuning){0}, SL_U32));
	sl_emulator_set_settings(&own);
}

/* --- scratch and calls ------------------------------------------------------------------------ */

/* Small blocks for few items: these need more tiles than more items in large blocks. */
static const char uneven[] = "device emulated\n"
			     "scan/shared u32 from 0 block=32 items=4\n"
			     "scan/shared u32 from 2^14 block=512 items=32\n"
			     "compact/shared u32 from 0 block=32 items=16\n"
			     "compact/shared u32 from 2^14 block=512 items=32\n"
			     "sort/shared u32 from 0 block=256 items=4\n"
			     "sort/shared u32 from 2^14 block=512 items=16\n";

TEST(scratch_for_many_is_enough_for_fewer)
{
	static const char *const names[] = {"naive", "work_efficient", "tiled", "shared"};
	static const uint32_t sizes[] = {0, 1, 257, 4000, (1 << 14) - 1, 1 << 14, 1 << 15, 1 << 20};

	assert_ok(read_text(uneven));
	for (int p = SL_SCAN; p <= SL_SORT; p++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct sl_backend *b = find((enum sl_primitive)p, names[i]);
			size_t before = 0;

			for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
				const struct sl_shape shape = {.n = sizes[k]};

				assert_true(sl_scratch(b, &shape) >= before);
				before = sl_scratch(b, &shape);
			}
		}
}

/* Replaces a real backend and records how it was called. */
static struct sl_tuning received_tuning;

static enum sl_status tell(struct sl_exec *x, const struct sl_compact_job *job)
{
	(void)job;
	received_tuning = x->tuning;
	return SL_OK;
}

static size_t no_scratch(const struct sl_shape *most)
{
	(void)most;
	return 0;
}

TEST(calls_use_the_lines)
{
	struct sl_backend spy = *find(SL_COMPACT, "shared");
	struct sl_exec x = {.space = SL_DEVICE};
	struct sl_compact_job job = {.n = 100};
	char *block;

	spy.compact = tell;
	spy.scratch = no_scratch;
	assert_ok(sl_memory_get(SL_DEVICE, 1 << 20, (void **)&block));
	job.keep = (const uint8_t *)block;
	job.out = (uint32_t *)(void *)(block + (1 << 15));
	job.n_out = (uint32_t *)(void *)(block + (1 << 19));
	assert_ok(read_text(uneven));
	assert_ok(sl_compact(&spy, &x, &job));
	assert_int_equal(received_tuning.block, 32);
	assert_int_equal(received_tuning.items, 16);
	job.n = 1 << 14;
	assert_ok(sl_compact(&spy, &x, &job));
	assert_int_equal(received_tuning.block, 512);
	x.tuning.block = 128;
	assert_ok(sl_compact(&spy, &x, &job));
	assert_int_equal(received_tuning.block, 128);
	assert_int_equal(received_tuning.items, spy.tunable.items);
	sl_memory_give(SL_DEVICE, block);
}

TEST(tuned_backends_are_right)
{
	assert_ok(read_text(uneven));
	for (int p = SL_SCAN; p <= SL_SORT; p++) {
		struct sl_setting set = {.n = 1000, .input = SL_INPUT_RANDOM, .end_bit = 32};
		const struct sl_backend *b = find((enum sl_primitive)p, "shared");
		struct sl_cross_check c;

		set.alive = SL_ALIVE_HALF;
		assert_ok(sl_cross_check_open((enum sl_primitive)p, &set, &c));
		assert_ok(sl_cross_check_select(&c, b, (struct sl_tuning){0}));
		assert_ok(sl_cross_check_run(&c));
		sl_cross_check_close(&c);
	}
}

/* --- where files are looked for --------------------------------------------------------------- */

TEST(default_paths_are_read)
{
	char found[SL_TUNING_PATH_BYTES], place[sizeof(path) + 32];

	unsetenv("SL_TUNING");
	setenv("XDG_CONFIG_HOME", folder.path, 1);
	sl_tuning_default_path(found);
	assert_string_equal(found, "");
	snprintf(place, sizeof(place), "mkdir -p %s/sluice", folder.path);
	assert_int_equal(system(place), 0);
	write_text(&folder, "sluice/tuning", good);
	sl_tuning_default_path(found);
	snprintf(place, sizeof(place), "%s/sluice/tuning", folder.path);
	assert_string_equal(found, place);
	setenv("SL_TUNING", "some/file", 1);
	sl_tuning_default_path(found);
	assert_string_equal(found, "some/file");
	setenv("SL_TUNING", "", 1);
	sl_tuning_default_path(found);
	assert_string_equal(found, "");
}
