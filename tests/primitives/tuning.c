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
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static char path[sizeof(folder.path) + 16];

BEFORE_TESTS()
{
	snprintf(path, sizeof(path), "%s/tuning", folder.path);
}

BEFORE_EACH()
{
	struct sl_device device;

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

static void assert_tuning(const struct sl_backend *b, struct sl_tuning asked, enum sl_type type,
	uint32_t n, uint32_t block, uint32_t items)
{
	struct sl_tuning t = sl_tuning_of(b, asked, type, n);

	assert_int_equal(t.block, block);
	assert_int_equal(t.items, items);
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
			   "compact/naive u32 from 0 block=33 items=2";

TEST(lines_hold_for_device_type_and_size)
{
	const struct sl_backend *scan = find(SL_SCAN, "naive"),
				*compact = find(SL_COMPACT, "naive");
	const struct sl_tuning none = {0}, block = {.block = 192}, items = {.items = 8};

	assert_ok(read_text(good));
	assert_int_equal(sl_tuning_lines(), 4);
	assert_string_equal(sl_tuning_path(), path);
	assert_tuning(scan, none, SL_U32, 0, scan->tunable.block, scan->tunable.items);
	assert_tuning(scan, none, SL_U32, 99, scan->tunable.block, scan->tunable.items);
	assert_tuning(scan, none, SL_U32, 100, 64, 2);
	assert_tuning(scan, none, SL_U32, 1023, 64, 2);
	assert_tuning(scan, none, SL_U32, 1024, 128, 1);
	assert_tuning(scan, none, SL_U32, UINT32_MAX, 128, 1);
	assert_tuning(scan, none, SL_U64, 5, 96, 8);
	assert_tuning(compact, none, SL_U64, 5, 33, 2); /* which has no types */
	assert_tuning(scan, block, SL_U32, 100, 192, scan->tunable.items);
	assert_tuning(scan, items, SL_U32, 100, scan->tunable.block, 8);
	sl_tuning_clear();
	assert_int_equal(sl_tuning_lines(), 0);
	assert_string_equal(sl_tuning_path(), "");
	assert_tuning(scan, none, SL_U32, 100, scan->tunable.block, scan->tunable.items);
}

TEST(padding_is_an_option_of_a_line)
{
	static const char text[] = "device emulated\n"
				   "scan/tiled u32 from 0 block=64 items=2 padding=off\n"
				   "scan/tiled u32 from 100 block=64 items=4\n";
	const struct sl_backend *tiled = find(SL_SCAN, "tiled"), *naive = find(SL_SCAN, "naive");
	const struct sl_tuning none = {0}, off = {.padding = SL_PADDING_OFF};

	assert_int_equal(sl_tuning_of(tiled, none, SL_U32, 0).padding, SL_PADDING_ON);
	assert_int_equal(sl_tuning_of(naive, none, SL_U32, 0).padding, SL_PADDING_DEFAULT);
	assert_ok(read_text(text));
	assert_int_equal(sl_tuning_of(tiled, none, SL_U32, 99).padding, SL_PADDING_OFF);
	assert_int_equal(sl_tuning_of(tiled, none, SL_U32, 100).padding, SL_PADDING_ON);
	assert_tuning(tiled, none, SL_U32, 100, 64, 4);
	/* a caller that sets the padding has set the tuning: the file does not apply */
	assert_tuning(tiled, off, SL_U32, 100, tiled->tunable.block, tiled->tunable.items);
	assert_int_equal(sl_tuning_of(tiled, off, SL_U32, 100).padding, SL_PADDING_OFF);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} bad[] = {
	{"scan/naive u32 from 0 block=64 items=2\n", 1, "no device is named before this line"},
	{"# x\n\ndevice\n", 3, "a device has a name"},
	{"device    \t\n", 1, "a device has a name"},
	{"device e\nscan/naive u32 from 0 block=64\n", 2, "six words"},
	{"device e\nscan/naive u32 from 0 block=64 items=2 more\n", 2, "more is not padding="},
	{"device e\nscan/naive u32 from 0 block=64 items=2 more words\n", 2, "six words"},
	{"device e\nscan/tiled u32 from 0 block=64 items=2 padding=1\n", 2,
		"padding=1 is not padding=on or padding=off"},
	{"device e\nscan/naive u32 from 0 block=64 items=2 padding=off\n", 2,
		"scan/naive: padding=off, but this backend has no padding"},
	{"device e\nscan/naive u32 at 0 block=64 items=2\n", 2, "six words"},
	{"device e\nscan/native u32 from 0 block=64 items=2\n", 2,
		"scan/native is not a tunable backend"},
	{"device e\nscan/thrust u32 from 0 block=64 items=2\n", 2,
		"scan/thrust is not a tunable backend"},
	{"device e\nsort/cpu u32 from 0 block=64 items=2\n", 2,
		"sort/cpu is not a tunable backend"},
	{"device e\nscan/naive f32 from 0 block=64 items=2\n", 2, "f32 is not a type"},
	{"device e\ncompact/naive u64 from 0 block=64 items=2\n", 2, "compact has no u64"},
	{"device e\nscan/naive u32 from -1 block=64 items=2\n", 2, "-1 is not a number"},
	{"device e\nscan/naive u32 from 2^32 block=64 items=2\n", 2, "2^32 is not a number"},
	{"device e\nscan/naive u32 from 4294967296 block=64 items=2\n", 2, "is not a number"},
	{"device e\nscan/naive u32 from 0 items=2 block=64\n", 2, "items=2 is not block="},
	{"device e\nscan/naive u32 from 0 block=0 items=2\n", 2, "block=0 is not block="},
	{"device e\nscan/naive u32 from 0 block=64 items=2x\n", 2, "items=2x is not items="},
	{"device e\nscan/naive u32 from 0 block=64 items=3\n", 2, "items=3 per thread, but"},
	{"device e\nscan/naive u32 from 0 block=5000 items=2\n", 2, "block=5000 threads, but"},
	{"device e\nsort/shared u32 from 0 block=33 items=4\n", 2, "multiples of 256"},
	{"device e\nscan/naive u32 from 9 block=64 items=2\nscan/naive u32 from 9 block=32 items=2\n",
		3, "of line 2"},
	{"device e\nscan/naive u32 from 9 block=64 items=2\ndevice f\ndevice e\n"
	 "scan/naive u32 from 8 block=32 items=2\n",
		5, "of line 2"},
};

TEST(mistakes_are_told_with_file_and_line)
{
	const struct sl_backend *scan = find(SL_SCAN, "naive");
	char place[sizeof(path) + 16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_ok(read_text(good));
		snprintf(place, sizeof(place), "%s:%u: ", path, bad[i].line);
		assert_fails(read_text(bad[i].text), SL_USAGE, bad[i].says);
		assert_memory_equal(sl_last_error(), place, strlen(place));
		/* the tuning that was read before remains */
		assert_tuning(scan, (struct sl_tuning){0}, SL_U32, 100, 64, 2);
	}
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

/* The program: its options, the tuning that it finds, and its messages. */
TEST(program_reads_the_default_paths)
{
	static const char config[] =
		"run: {name: t, particles: 1000, device: emulated}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
		"keep: transmitted\n"
		"key: [w:16]\n";
	char *text;

	setenv("SL_TUNING", "", 1);
	write_text(&folder, "c.yaml", config);
	write_text(&folder, "tuning", uneven);
	text = output_of(&folder, WORDS("plan", "c.yaml"));
	assert_null(strstr(text, "tuned by"));
	free(text);
	text = output_of(&folder, WORDS("plan", "c.yaml", "--tuning", "tuning"));
	assert_non_null(strstr(text, "tuned by tuning: 6 lines"));
	free(text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--tuning", "none", "--out", "a"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--tuning", "tuning", "--out", "b"));
	assert_int_equal(hash_run(&folder, "a"), hash_run(&folder, "b"));
	expect(&folder, SL_DISK, "run.tuning", WORDS("plan", "c.yaml", "--tuning", "nowhere"));
	write_text(&folder, "tuning", "device emulated\nsort/shared u32 from 0 block=33 items=4\n");
	expect(&folder, SL_USAGE, "run.tuning: tuning:2: sort/shared: block=33",
		WORDS("plan", "c.yaml", "--tuning", "tuning"));
}
