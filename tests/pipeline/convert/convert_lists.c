/* convert_lists.c - a writer of lists that lacks records. */
#include "pipeline/convert/convert.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

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
	const struct sl_mcpl_header h = {.record_bytes = 32, .particles = 40000};
	enum sl_status s;

	assert_ok(sl_dir_open(folder.path, false, &c.dir));
	assert_ok(sl_convert_begin_list(&c, "header", 6, &h));
	s = sl_record_output_add_all(&c.records, records, n);
	s = s == SL_OK ? sl_convert_end(&c) : s;
	sl_record_output_end(&c.records);
	sl_file_drop(&c.file);
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
