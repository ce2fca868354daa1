/*
 * mcpl_wrong.c - tests that tables that MCPL cannot hold and MCPL files that are not the expected
 * table are refused: too large, a column missing, damaged, other columns.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <stdio.h>

#include "tests/cases/sampling.h"
#include "tests/stages/formats/format_check.h"

static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 1048576};
static const struct sl_format *const formats[] = {&sl_format_mcpl, &sl_format_mcpl_gz};
enum { FORMATS = 2 };

static struct sl_table make_some(uint32_t n, sl_column_set columns)
{
	return make_table(n, columns, 0, RANDOM);
}

static struct sl_file_facts facts_with(enum sl_column flags, double energy)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);

	sl_mcpl_set_facts(
		&run, &(struct sl_mcpl_facts){.pdg = -2112, .energy = energy, .flags = flags});
	return run;
}

TEST(too_small_image_is_refused)
{
	struct sl_file_facts run = facts_with(SL_COLUMN_COUNT, 1);
	struct sl_table small = make_some(10, SL_MCPL_NEEDED);
	struct sl_table large = make_some(100000, SL_MCPL_NEEDED);

	for (int f = 0; f < FORMATS; f++) {
		struct packed k = lay_out_for(formats[f], &run, &small);
		struct sl_arena image = arena_of(formats[f]->image_bytes(&small, &run));
		struct sl_pieces pieces;

		assert_fails(pack_into(&k, formats[f], &run, &large), SL_USAGE, "laid out for");
		assert_ok(pack_into(&k, formats[f], &run, &small));
		assert_fails(formats[f]->assemble(
				     &run, &batch, &k.p, image.base, image.size - 1, &pieces),
			SL_USAGE, "image_bytes()");
		k.scratch.size = 4096;
		if (formats[f] == &sl_format_mcpl_gz)
			assert_fails(pack_into(&k, formats[f], &run, &small), SL_USAGE, "scratch");
		free(image.base);
		free_packed(&k);
	}
	free_table(&small);
	free_table(&large);
}

TEST(missing_column_is_reported)
{
	struct sl_file_facts run = facts_with(SL_COLUMN_pixel, NAN);
	sl_column_set all = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pixel);

	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		struct sl_table t = make_some(10, all & ~SL_BIT(i));
		struct packed k = lay_out_for(&sl_format_mcpl, &run, &t);
		char says[64];

		snprintf(says, sizeof(says), "has the column %s, and", sl_column_facts[i].name);
		if (SL_HAS(all, i))
			assert_fails(pack_into(&k, &sl_format_mcpl, &run, &t), SL_USAGE, says);
		else
			assert_ok(pack_into(&k, &sl_format_mcpl, &run, &t));
		free_packed(&k);
		free_table(&t);
	}
}

TEST(every_damage_is_found)
{
	struct sl_file_facts run = facts_with(SL_COLUMN_fate, 1);
	struct sl_table t = make_some(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate)), whole, back;
	struct sl_arena of_whole, a = {0};

	for (int f = 0; f < FORMATS; f++) {
		size_t bytes;
		char *file = file_of(formats[f], &run, &batch, &t, 0, &bytes);

		assert_ok(read_back(formats[f], file, bytes, &of_whole, &whole));
		for (size_t cut = 0; cut < bytes; cut += sl_sampling_step(1)) {
			char *copy = (char *)malloc(cut + (cut == 0));

			memcpy(copy, file, cut);
			assert_int_equal(read_back(formats[f], copy, cut, &a, &back), SL_BAD_INPUT);
			free(a.base);
			free(copy);
		}
		for (size_t bit = 0; bit < 8 * bytes; bit += sl_sampling_step(1)) {
			enum sl_status status;

			file[bit / 8] ^= (char)(1 << bit % 8);
			status = read_back(formats[f], file, bytes, &a, &back);
			assert_true(status == SL_OK || status == SL_BAD_INPUT);
			if (status == SL_OK && formats[f] == &sl_format_mcpl_gz)
				assert_same_table(&whole, &back); /* what gzip ignores */
			free(a.base);
			file[bit / 8] ^= (char)(1 << bit % 8);
		}
		free(of_whole.base);
		free(file);
	}
	free_table(&t);
}

/* A number of blobs n + 2^31: twice this number equals 2 n in 32 bits. */
TEST(wrapped_counts_are_refused)
{
	struct sl_file_facts run = facts_with(SL_COLUMN_fate, 1);
	struct sl_table t = make_some(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate)), back;
	struct sl_arena a = {0};
	size_t bytes;
	char *file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);

	assert_ok(sl_format_mcpl.read(file, bytes, &a, &back));
	file[23] ^= (char)0x80;
	assert_fails(sl_format_mcpl.read(file, bytes, &a, &back), SL_BAD_INPUT, "header states");
	free(file);
	free_table(&t);
}

/* The comment that lists the columns names other columns and keeps its length. */
TEST(other_columns_are_refused)
{
	static const char was[] = "columns:x,y,z,u,v,w,weight,time,fate";
	static const char *const others[] = {"columns:y,x,z,u,v,w,weight,time,fate",
		"columns:x,y,z,u,v,v,weight,time,fate", "columns:x,y,z,u,v,w,weight,time,hate",
		"columns:x,y,z,u,v,w,time,weight,fate", "columns:x,y,z,u,v,w,weight,time,,,,,",
		"columns:x,y,z,u,v,w,weight,steps,,,,", "Columns:x,y,z,u,v,w,weight,time,fate"};
	struct sl_file_facts run = facts_with(SL_COLUMN_fate, 1);
	struct sl_table t = make_some(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate)), back;
	struct sl_arena a = {0};
	size_t bytes, at = 0;
	char *file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);

	while (memcmp(file + at, was, sizeof(was) - 1) != 0)
		at++;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(strlen(others[i]), sizeof(was) - 1);
		memcpy(file + at, others[i], sizeof(was) - 1);
		assert_fails(sl_format_mcpl.read(file, bytes, &a, &back), SL_BAD_INPUT, "columns");
	}
	free(file);
	free_table(&t);
}
