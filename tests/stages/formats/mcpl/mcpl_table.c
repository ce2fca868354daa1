/*
 * mcpl_table.c - tests MCPL files read as tables: files of Sluice give the original columns, other
 * files the columns of a particle. The header alone decides this, also when rows are damaged.
 */
#include "stages/formats/mcpl/mcpl_read.h"

#include "stages/formats/mcpl/mcpl.h"
#include "tests/stages/formats/format_check.h"
#include "tests/cases/sampling.h"

enum { ROWS = 40 };

static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 1048576};

/* Returns a file of Sluice, which the caller frees, with a column that MCPL lists do not have. */
static char *file_of_ours(const struct sl_format *f, size_t *bytes)
{
	struct sl_table t = make_table(ROWS, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0, SORTED);
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	char *file;

	sl_mcpl_set_facts(
		&run, &(struct sl_mcpl_facts){.pdg = 22, .energy = 2, .flags = SL_COLUMN_fate});
	file = file_of(f, &run, &batch, &t, 0, bytes);
	free_table(&t);
	return file;
}

/* Reads into memory of exactly the measured size, which is freed: *t has no data afterwards. */
static enum sl_status read_whole(
	const char *file, size_t bytes, struct sl_table *t, struct sl_mcpl_lost *lost)
{
	struct sl_table measured;
	struct sl_arena a = {0};
	enum sl_status s;

	SL_TRY(sl_mcpl_table(file, bytes, &a, &measured, lost));
	a.size = a.used;
	a.base = aligned_alloc(SL_ALIGN, sl_round_up(a.used + 1, SL_ALIGN));
	a.used = 0;
	assert_non_null(a.base);
	s = sl_mcpl_table(file, bytes, &a, t, lost);
	assert_true(s == SL_OK || s == SL_BAD_INPUT);
	if (s == SL_OK) {
		assert_int_equal(t->n, measured.n);
		assert_int_equal(t->n_columns, measured.n_columns);
	}
	free(a.base);
	return s;
}

/* Bytes after the rows are an error in files of Sluice, and ignored in other files. */
TEST(header_decides_the_columns)
{
	struct sl_mcpl_lost lost;
	struct sl_table t;
	size_t bytes, at = 0;
	char *file = file_of_ours(&sl_format_mcpl, &bytes);

	file = (char *)realloc(file, bytes + 1);
	file[bytes] = 0;
	assert_ok(read_whole(file, bytes, &t, &lost));
	assert_int_equal(t.n_columns, 9);
	assert_fails(read_whole(file, bytes + 1, &t, &lost), SL_BAD_INPUT,
		"bytes follow its last particle");
	while (memcmp(file + at, SL_MCPL_COLUMNS, strlen(SL_MCPL_COLUMNS)) != 0)
		at++;
	file[at] = 'S'; /* so that it is somebody's */
	assert_ok(read_whole(file, bytes + 1, &t, &lost));
	assert_true(lost.trailing);
	assert_int_equal(t.n_columns, 11); /* energy, PDG code and user flags, no fate */
	free(file);
}

/* Members that cannot be inflated, or inflate to other bytes, give no table. */
TEST(damaged_rows_are_refused)
{
	struct sl_mcpl_lost lost;
	struct sl_table t;
	size_t bytes, header;
	char *file = file_of_ours(&sl_format_mcpl_gz, &bytes);

	/* the stored member of the header: the next member begins after its checksum */
	for (header = 10; memcmp(file + header, "\x1f\x8b\x08", 3) != 0;)
		header++;
	for (size_t bit = 8 * header; bit < 8 * bytes; bit += sl_sampling_step(1)) {
		enum sl_status s;

		file[bit / 8] ^= (char)(1 << bit % 8);
		s = read_whole(file, bytes, &t, &lost);
		if (s == SL_OK) /* what gzip and deflate ignore */
			assert_int_equal(t.n_columns, 9);
		file[bit / 8] ^= (char)(1 << bit % 8);
	}
	free(file);
}
