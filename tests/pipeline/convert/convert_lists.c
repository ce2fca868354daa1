/* convert_lists.c - inputs of a conversion that another process changes meanwhile; a writer of lists that lacks records. */
#include <stdio.h>

#include "pipeline/convert/common/context.h"
#include "pipeline/convert/common/mcpl_writer.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* Writes the input again with other contents. */
static void change_input(const char *contents)
{
	sleep_for(0.02); /* more than the grain of a time of modification */
	write_text(&folder, "x.mcpl", contents);
}

/* Reads the input of a conversion; context is what another process writes to it meanwhile, or NULL. */
static enum sl_status read_input(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *context)
{
	(void)c;
	(void)path;
	(void)file;
	if (!context)
		return SL_OK;
	change_input((const char *)context);
	return sl_fail(SL_BAD_INPUT, "its header is damaged");
}

/* A change between the two passes or during one of them is reported as the cause of any error. */
TEST(inputs_that_change_are_refused)
{
	static const atomic_int stop = 0;
	static char longer[] = "longer contents", same[] = "other";

	for (int k = 0; k < 2 * 2; k++) {
		char path[4096];
		const char *const in[] = {path};
		struct sl_convert_operand operand = {.path = path};
		struct sl_convert_job job = {.in = in, .n = 1, .stop = &stop};
		struct sl_conversion c = {.job = &job, .operand = &operand};
		char *contents = k % 2 ? longer : same;

		write_text(&folder, "x.mcpl", "input");
		snprintf(path, sizeof(path), "%s", folder_path(&folder, "x.mcpl"));
		assert_ok(sl_convert_for_each(&c, read_input, NULL));
		assert_ok(sl_convert_for_each(&c, read_input, NULL));
		if (k < 2)
			change_input(contents);
		assert_fails(sl_convert_for_each(&c, read_input, k < 2 ? NULL : contents), SL_DISK,
			k < 2 ? "an input: the file changed" : "x.mcpl: the file changed");
	}
}

/* Writes so many records of a file whose header states 40000. Each of its members holds 32768. */
static enum sl_status write_some(const struct sl_format *format, const char *name, size_t n)
{
	static const uint8_t records[40000 * 32] = {0};
	static const atomic_int stop = 0;
	struct sl_convert_job job = {.force = true, .stop = &stop};
	struct sl_conversion c = {.job = &job,
		.format = format,
		.facts = {.deflate = &sl_deflate_libdeflate, .level = 1},
		.name = name,
		.particles = 40000};
	struct sl_mcpl_writer w;
	enum sl_status s;

	assert_ok(sl_dir_open(folder.path, false, &c.dir));
	assert_ok(sl_mcpl_writer_begin(&w, &c, "header", 6, 32));
	assert_ok(sl_mcpl_writer_add(&w, records, n * 32));
	s = sl_mcpl_writer_end(&w, 40000);
	sl_dir_close(&c.dir);
	return s;
}

TEST(missing_records_are_noticed)
{
	assert_ok(write_some(&sl_format_mcpl, "counted.mcpl", 40000));
	assert_ok(write_some(&sl_format_mcpl_gz, "counted.mcpl.gz", 40000));
	assert_fails(write_some(&sl_format_mcpl, "lost.mcpl", 39999), SL_INTERNAL,
		"39999 of 40000 values");
	assert_fails(write_some(&sl_format_mcpl_gz, "lost.mcpl.gz", 39999), SL_INTERNAL,
		"39999 of 40000 values");
	assert_false(folder_has(&folder, "lost.mcpl") || folder_has(&folder, "lost.mcpl.part"));
}
