/*
 * tuning.c - tests tuning files on the emulated device: the meaning of a line, invalid lines, and
 * that scratch sizes and calls use the same line.
 */
#include "primitives/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* A block or items of 0 stand for the default of the backend. */
static void expect_tuning(const struct sl_backend *b, struct sl_tuning asked, enum sl_type type,
	uint32_t n, struct sl_tuning expected)
{
	const struct sl_tuning t = sl_tuning_of(b, asked, type, n);

	if (t.block != (expected.block ? expected.block : b->tunable.block) ||
		t.items != (expected.items ? expected.items : b->tunable.items) ||
		t.padding != expected.padding)
		fail_msg("%s, n=%u: block=%u items=%u", b->name, n, t.block, t.items);
}

/* A caller that sets a part of the tuning, as the padding, has set the tuning: the file does not apply. Compact has no types. */
TEST(lines_hold_for_device_type_and_size)
{
	static const struct {
		const struct sl_backend *backend;
		struct sl_tuning asked;
		enum sl_type type;
		uint32_t n;
		struct sl_tuning expected;
	} rows[] = {
		{&sl_scan_naive_emulated, {0}, SL_U32, 0, {0}},
		{&sl_scan_naive_emulated, {0}, SL_U32, 99, {0}},
		{&sl_scan_naive_emulated, {0}, SL_U32, 100, {64, 2, SL_PADDING_DEFAULT}},
		{&sl_scan_naive_emulated, {0}, SL_U32, 1023, {64, 2, SL_PADDING_DEFAULT}},
		{&sl_scan_naive_emulated, {0}, SL_U32, 1024, {128, 1, SL_PADDING_DEFAULT}},
		{&sl_scan_naive_emulated, {0}, SL_U32, UINT32_MAX, {128, 1, SL_PADDING_DEFAULT}},
		{&sl_scan_naive_emulated, {0}, SL_U64, 5, {96, 8, SL_PADDING_DEFAULT}},
		{&sl_compact_naive_emulated, {0}, SL_U64, 5, {33, 2, SL_PADDING_DEFAULT}},
		{&sl_scan_naive_emulated, {.block = 192}, SL_U32, 100, {.block = 192}},
		{&sl_scan_naive_emulated, {.items = 8}, SL_U32, 100, {.items = 8}},
		{&sl_scan_tiled_emulated, {0}, SL_U32, 99, {64, 2, SL_PADDING_OFF}},
		{&sl_scan_tiled_emulated, {0}, SL_U32, 100, {64, 4, SL_PADDING_ON}},
		{&sl_scan_tiled_emulated, {0, 0, SL_PADDING_OFF}, SL_U32, 100,
			{0, 0, SL_PADDING_OFF}},
	};

	expect_tuning(&sl_scan_tiled_emulated, rows[0].asked, SL_U32, 0,
		(struct sl_tuning){.padding = SL_PADDING_ON});
	assert_ok(read_text(good));
	assert_int_equal(sl_tuning_lines(), 6);
	assert_string_equal(sl_tuning_path(), path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_tuning(
			rows[i].backend, rows[i].asked, rows[i].type, rows[i].n, rows[i].expected);
	sl_tuning_clear();
	assert_int_equal(sl_tuning_lines(), 0);
	assert_string_equal(sl_tuning_path(), "");
	expect_tuning(rows[0].backend, rows[0].asked, SL_U32, 100, rows[0].expected);
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
		expect_tuning(&sl_scan_naive_emulated, (struct sl_tuning){0}, SL_U32, 100,
			(struct sl_tuning){64, 2, SL_PADDING_DEFAULT});
	}
	fclose(f);
	assert_fails(sl_tuning_read("/nowhere/tuning"), SL_DISK, "/nowhere/tuning");
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
	static const uint32_t sizes[] = {0, 1, 257, 4000, (1 << 14) - 1, 1 << 14, 1 << 15, 1 << 20};
	const struct sl_backend *b;

	assert_ok(read_text(uneven));
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		size_t before = 0;

		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			const size_t bytes = sl_scratch(b, &(struct sl_shape){.n = sizes[k]});

			assert_true(bytes >= before);
			before = bytes;
		}
	}
}

static struct sl_tuning received;

static enum sl_status record_tuning(struct sl_exec *x, const struct sl_compact_job *job)
{
	(void)job;
	received = x->tuning;
	return SL_OK;
}

static void expect_received(
	const struct sl_backend *b, uint32_t asked, uint32_t n, uint32_t block, uint32_t items)
{
	static uint8_t memory[1 << 15] __attribute__((aligned(SL_ALIGN)));
	static uint32_t out[1 << 14], n_out;
	struct sl_exec x = {.space = SL_DEVICE, .tuning.block = asked};
	const struct sl_compact_job job = {.keep = memory, .out = out, .n_out = &n_out, .n = n};

	x.scratch = (struct sl_arena){memory + (1 << 14), 0, 1 << 14};
	assert_ok(sl_compact(b, &x, &job));
	assert_int_equal(received.block, block);
	assert_int_equal(received.items, items);
}

TEST(calls_use_the_lines)
{
	struct sl_backend recorder = sl_compact_shared_emulated;

	recorder.compact = record_tuning;
	assert_ok(read_text(uneven));
	expect_received(&recorder, 0, 100, 32, 16);
	expect_received(&recorder, 0, 1 << 14, 512, 32);
	expect_received(&recorder, 128, 1 << 14, 128, recorder.tunable.items);
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
