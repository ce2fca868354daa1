/*
 * input_reader.c - gzip inputs whose records the survey keeps, and those that batches decompress again: the
 * particles are the same, in any order of batches. Inputs of two files that change while they are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/inputs/input_survey.h"
#include "stages/inputs/reading.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { N = 4000, FILES = 3, ALL = N * FILES, RECORD_BYTES = 36 };

static const char *const names[FILES] = {"a.mcpl.gz", "b.mcpl", "c.mcpl.gz"};

/* Writes lists of N particles whose user flags count them. A list has several chunks of the survey. */
BEFORE_TESTS()
{
	const struct sl_mcpl_header h = {.version = 3, .particles = N, .flags = true, .pdg = 22};
	struct sl_mcpl_particle *p = (struct sl_mcpl_particle *)calloc(N, sizeof(*p));

	for (uint32_t k = 0; k < FILES; k++) {
		struct sl_mcpl_header single = h;

		single.single = true;
		for (uint32_t i = 0; i < N; i++)
			p[i] = (struct sl_mcpl_particle){.position = {i, k, 1},
				.direction = {0, 0, 1},
				.energy = 1,
				.weight = 0.5 + i,
				.flags = k * N + i};
		make_list(&folder, names[k], &single, NULL, p);
	}
	free(p);
}

/* Opens every step-th list and surveys them with so much memory for records. */
static struct sl_inputs *open_some(int step, size_t keep_most)
{
	struct sl_lines lines = {.n = 0};
	struct sl_inputs *inputs;
	uint32_t which;

	for (int k = 0; k < FILES; k += step, lines.n++)
		snprintf(lines.at[lines.n], sizeof(lines.at[lines.n]), "%s",
			folder_path(&folder, names[k]));
	assert_ok(sl_inputs_open(&lines, NULL, &inputs, &which));
	assert_int_equal(inputs->particles, lines.n * N);
	assert_ok(sl_inputs_survey(inputs, keep_most, 1));
	return inputs;
}

static struct sl_inputs *open_lists(size_t keep_most)
{
	return open_some(1, keep_most);
}

/* The columns of a batch. */
static uint32_t flags[ALL];
static float other[12][ALL];
static int32_t pdg[ALL];
static uint8_t fate[ALL];

/* Reads n particles from number first on. */
static enum sl_status read_batch(
	struct sl_inputs *inputs, uint64_t first, uint32_t n, uint64_t turn)
{
	struct sl_batch b = {.first_id = first, .n = n, .turn = turn};

	b.columns = (struct sl_columns){.x = other[0],
		.y = other[1],
		.z = other[2],
		.u = other[3],
		.v = other[4],
		.w = other[5],
		.energy = other[6],
		.weight = other[7],
		.time = other[8],
		.pol_x = other[9],
		.pol_y = other[10],
		.pol_z = other[11],
		.pdg = pdg,
		.userflags = flags,
		.fate = fate};
	return sl_inputs_read(inputs, &b);
}

/* The same, and compares positions, weights and user flags. */
static void expect_batch(struct sl_inputs *inputs, uint64_t first, uint32_t n, uint64_t turn)
{
	assert_ok(read_batch(inputs, first, n, turn));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(flags[i], first + i);
		assert_true(other[0][i] == (float)((first + i) % N));
		assert_true(other[7][i] == 0.5f + (float)((first + i) % N));
	}
}

/* Batches in order, then any batch without a turn. */
static void expect_particles(struct sl_inputs *inputs)
{
	for (uint64_t k = 0; k < ALL / 300; k++)
		expect_batch(inputs, k * 300, 300, k);
	expect_batch(inputs, 2 * N + 500, 400, SL_NO_TURN);
	expect_batch(inputs, 100, 900, SL_NO_TURN);
	expect_batch(inputs, N - 1, N + 2, SL_NO_TURN);
}

TEST(particles_do_not_depend_on_memory)
{
	static const size_t most[] = {0, N * RECORD_BYTES - 1, N * RECORD_BYTES,
		2 * N * RECORD_BYTES - 1, 2 * N * RECORD_BYTES, SIZE_MAX};
	static const int kept[] = {0, 0, 1, 1, 2, 2};
	struct sl_inputs *inputs = open_lists(0);
	const size_t memory = inputs->memory;
	const int shift = inputs->weight_shift;

	assert_int_equal(inputs->layout.record_bytes, 0);
	sl_inputs_close(inputs);
	for (int k = 0; k < 6; k++) {
		inputs = open_lists(most[k]);
		assert_int_equal(inputs->memory, memory + (size_t)kept[k] * N * RECORD_BYTES);
		assert_int_equal(inputs->weight_shift, shift);
		assert_int_equal(inputs->at[0].gzipped, kept[k] < 1);
		assert_false(inputs->at[1].gzipped);
		assert_int_equal(inputs->at[2].gzipped, kept[k] < 2);
		expect_particles(inputs);
		sl_inputs_close(inputs);
	}
}

/* With all records in memory no batch waits for the turn of another. */
TEST(kept_records_need_no_turns)
{
	struct sl_inputs *inputs = open_lists(SIZE_MAX);

	expect_batch(inputs, 600, 300, 2);
	expect_batch(inputs, 0, 300, 0);
	sl_inputs_close(inputs);
}

/* The records of all particles are one block if all files are kept and have the layout of the output. */
TEST(kept_records_are_one_block)
{
	struct sl_inputs *inputs = open_some(2, SIZE_MAX); /* a.mcpl.gz and c.mcpl.gz */
	const uint8_t *records;

	inputs->layout = inputs->reading->source[0].stream.header;
	records = (const uint8_t *)sl_inputs_records(inputs);
	assert_non_null(records);
	for (uint32_t i = 0; i < 2 * N; i++) {
		uint32_t count;

		memcpy(&count, records + (size_t)(i + 1) * RECORD_BYTES - sizeof(count),
			sizeof(count));
		assert_int_equal(count, i < N ? i : N + i);
	}
	inputs->layout.single = false;
	assert_null(sl_inputs_records(inputs));
	sl_inputs_close(inputs);
}

/* A file that is not kept has no records in the block. */
TEST(files_that_are_not_kept_have_no_block)
{
	static const size_t most[] = {SIZE_MAX, 2 * N * RECORD_BYTES - 1};

	for (int step = 1; step <= 2; step++) {
		struct sl_inputs *inputs = open_some(step, most[step - 1]);

		inputs->layout = inputs->reading->source[0].stream.header;
		assert_null(sl_inputs_records(inputs));
		sl_inputs_close(inputs);
	}
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Reads all particles of an IAEA phase space after one of its two files was written to. */
static void expect_changed(const char *opened, const char *written)
{
	static const struct iaea_facts facts = {.n = ALL};
	struct sl_lines lines = {.n = 1};
	struct sl_inputs *inputs;
	uint32_t which;
	size_t bytes;
	char *file;

	make_iaea(&folder, "x", &facts);
	file = folder_read(&folder, written, &bytes);
	snprintf(lines.at[0], sizeof(lines.at[0]), "%s", folder_path(&folder, opened));
	assert_ok(sl_inputs_open(&lines, NULL, &inputs, &which));
	assert_ok(sl_inputs_survey(inputs, 0, 1));
	assert_int_equal(inputs->particles, ALL);
	assert_ok(read_batch(inputs, 10, 100, SL_NO_TURN));
	sleep_for(0.02); /* more than the grain of a time of modification */
	folder_write(&folder, written, file, bytes);
	assert_fails(read_batch(inputs, 10, 100, SL_NO_TURN), SL_DISK,
		"the file became shorter or changed while it was read");
	sl_inputs_close(inputs);
	free(file);
}

TEST(changes_of_both_files_are_detected)
{
	expect_changed("x.IAEAphsp", "x.IAEAphsp");
	expect_changed("x.IAEAphsp", "x.IAEAheader");
	expect_changed("x.IAEAheader", "x.IAEAphsp");
	expect_changed("x.IAEAheader", "x.IAEAheader");
}

/* Writes the number of particles to the header of a list, in a gzip file without compression. */
static void write_particles(const char *name, uint64_t particles)
{
	FILE *f = fopen(folder_path(&folder, name), "r+");
	size_t bytes;
	char *file = folder_read(&folder, name, &bytes);
	const char *magic = (const char *)memmem(file, bytes, "MCPL003L", 8);

	assert_non_null(f);
	assert_non_null(magic);
	assert_int_equal(0, fseek(f, magic - file + 8, SEEK_SET));
	assert_int_equal(1, fwrite(&particles, sizeof(particles), 1, f));
	assert_int_equal(0, fclose(f));
	free(file);
}

/* The memory for records has the size that the header states when the file is opened. */
TEST(headers_that_grow_are_detected)
{
	struct sl_lines lines = {.n = 1};
	struct sl_inputs *inputs;
	uint32_t which;

	write_particles("a.mcpl.gz", N / 2);
	snprintf(lines.at[0], sizeof(lines.at[0]), "%s", folder_path(&folder, "a.mcpl.gz"));
	assert_ok(sl_inputs_open(&lines, NULL, &inputs, &which));
	write_particles("a.mcpl.gz", N);
	assert_fails(sl_inputs_survey(inputs, SIZE_MAX, 1), SL_DISK,
		"a.mcpl.gz: its header was changed after the file was opened");
	sl_inputs_close(inputs);
}
