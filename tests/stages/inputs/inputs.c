/*
 * inputs.c - gzip inputs whose records the survey keeps, and those that batches decompress again:
 * the particles are the same, in any order of batches. The survey of a plain list of several parts:
 * checksum, scale of the weights, and the message about a wrong particle are the same with any
 * number of threads. Inputs that change while they are read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/files/files.h"
#include "stages/inputs/inputs.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { N = 4000, FILES = 3, ALL = N * FILES, RECORD_BYTES = 36 };

static const char *const names[FILES] = {"a.mcpl.gz", "b.mcpl", "c.mcpl.gz"};

/*
 * Writes lists of N particles whose user flags count them. A list has several chunks of the survey.
 */
BEFORE_TESTS()
{
	const struct sl_mcpl_header h = {
		.version = 3, .particles = N, .flags = true, .single = true, .pdg = 22};
	static struct sl_mcpl_particle p[N];

	for (uint32_t k = 0; k < FILES; k++) {
		for (uint32_t i = 0; i < N; i++)
			p[i] = (struct sl_mcpl_particle){.position = {i, k, 1},
				.direction = {0, 0, 1},
				.energy = 1,
				.weight = 0.5 + i,
				.flags = k * N + i};
		make_list(&folder, names[k], &h, NULL, p);
	}
}

/* Opens every step-th of n files. */
static struct sl_inputs *open_files(const char *const *name, int n, int step)
{
	struct sl_lines lines = {.n = 0};
	struct sl_inputs *inputs;
	uint32_t which;

	for (int k = 0; k < n; k += step, lines.n++)
		snprintf(lines.at[lines.n], sizeof(lines.at[lines.n]), "%s",
			folder_path(&folder, name[k]));
	assert_ok(sl_inputs_open(&lines, NULL, &inputs, &which));
	return inputs;
}

/* The same with the lists, and surveys them with so much memory for records. */
static struct sl_inputs *open_lists(int step, size_t keep_most)
{
	struct sl_inputs *inputs = open_files(names, FILES, step);

	assert_int_equal(inputs->particles, (FILES + step - 1) / step * N);
	assert_ok(sl_inputs_survey(inputs, keep_most, 1));
	return inputs;
}

/* Reads n particles from number first on to columns. */
static enum sl_status read_batch(struct sl_inputs *inputs, struct sl_columns *columns,
	uint64_t first, uint32_t n, uint64_t turn)
{
	static uint64_t memory[SL_COLUMN_COUNT][ALL];
	struct sl_batch b = {.first_id = first, .n = n, .turn = turn};

	for (int k = SL_COLUMN_x; k <= SL_COLUMN_fate; k++)
		*(void **)(void *)((char *)&b.columns + sl_column_facts[k].offset) = memory[k];
	*columns = b.columns;
	return sl_inputs_read(inputs, &b);
}

/* The same, and compares positions, weights and user flags. */
static void expect_batch(struct sl_inputs *inputs, uint64_t first, uint32_t n, uint64_t turn)
{
	struct sl_columns c;

	assert_ok(read_batch(inputs, &c, first, n, turn));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(c.userflags[i], first + i);
		assert_true(c.x[i] == (float)((first + i) % N));
		assert_true(c.weight[i] == 0.5f + (float)((first + i) % N));
	}
}

/*
 * Batches in order, then any batch without a turn. With all records in memory no batch waits for
 * the turn of another.
 */
TEST(particles_do_not_depend_on_memory)
{
	static const struct {
		size_t most;
		int kept;
	} rows[] = {{0, 0}, {N * RECORD_BYTES - 1, 0}, {N * RECORD_BYTES, 1},
		{2 * N * RECORD_BYTES - 1, 1}, {2 * N * RECORD_BYTES, 2}, {SIZE_MAX, 2}};
	struct sl_inputs *inputs = open_lists(1, 0);
	const size_t memory = inputs->memory;
	const int shift = inputs->weight_shift;

	assert_int_equal(inputs->layout.record_bytes, 0);
	sl_inputs_close(inputs);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		inputs = open_lists(1, rows[r].most);
		assert_int_equal(inputs->memory, memory + (size_t)rows[r].kept * N * RECORD_BYTES);
		assert_int_equal(inputs->weight_shift, shift);
		assert_int_equal(inputs->at[0].gzipped, rows[r].kept < 1);
		assert_false(inputs->at[1].gzipped);
		assert_int_equal(inputs->at[2].gzipped, rows[r].kept < 2);
		if (rows[r].kept == 2)
			expect_batch(inputs, 600, 300, 2);
		for (uint64_t k = 0; k < ALL / 300; k++)
			expect_batch(inputs, k * 300, 300, k);
		expect_batch(inputs, 2 * N + 500, 400, SL_NO_TURN);
		expect_batch(inputs, 100, 900, SL_NO_TURN);
		expect_batch(inputs, N - 1, N + 2, SL_NO_TURN);
		sl_inputs_close(inputs);
	}
}

/*
 * The records of all particles are one block if all files are kept, not plain, and have the layout
 * of the output.
 */
TEST(kept_records_are_one_block)
{
	static const struct {
		int step;
		size_t most;
		bool wide, is_block;
	} rows[] = {{2, SIZE_MAX, false, true}, {2, SIZE_MAX, true, false},
		{2, 2 * N * RECORD_BYTES - 1, false, false}, {1, SIZE_MAX, false, false}};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct sl_inputs *inputs = open_lists(rows[r].step, rows[r].most);
		const uint8_t *records;

		inputs->layout = inputs->reading.source[0].stream.header;
		inputs->layout.single = !rows[r].wide;
		records = (const uint8_t *)sl_inputs_records(inputs);
		assert_int_equal(records != NULL, rows[r].is_block);
		for (uint32_t i = 0; records && i < 2 * N; i++) {
			uint32_t count;

			memcpy(&count, records + (size_t)(i + 1) * RECORD_BYTES - sizeof(count),
				sizeof(count));
			assert_int_equal(count, i < N ? i : N + i);
		}
		sl_inputs_close(inputs);
	}
}

/* --- threads ---------------------------------------------------------------------------------- */

enum {
	OF_A_PART = SL_SURVEY_PART_BYTES / RECORD_BYTES,
	MOST = 2 * OF_A_PART + 1000,
	PARTICLES_AT = 8, /* of the header */
	WEIGHT_AT = 28    /* of a record in single precision without polarisation */
};

/* The list in memory, as it is written to a file. */
static struct {
	char *file;
	size_t bytes, first_record;
} big;

/*
 * Makes a list of n records: those of b.mcpl again and again. Their weights are not exact in any
 * sum.
 */
static void make_big(uint64_t n)
{
	size_t bytes;
	char *some = folder_read(&folder, "b.mcpl", &bytes);

	big.first_record = bytes - (size_t)N * RECORD_BYTES;
	big.bytes = big.first_record + n * RECORD_BYTES;
	free(big.file);
	big.file = (char *)malloc(big.bytes);
	memcpy(big.file, some, big.first_record);
	memcpy(big.file + PARTICLES_AT, &n, sizeof(n));
	for (uint64_t i = 0; i < n; i++) {
		const float weight = 0.1f + 1e-3f * (float)(i % 1000);
		char *to = big.file + big.first_record + i * RECORD_BYTES;

		memcpy(to, some + big.first_record + i % N * RECORD_BYTES, RECORD_BYTES);
		memcpy(to + WEIGHT_AT, &weight, sizeof(weight));
	}
	free(some);
}

/*
 * Writes the list and surveys it in several numbers of threads: SL_OK with this scale, or a
 * message.
 */
static void expect_surveys(int shift, const char *message)
{
	static const uint32_t threads[] = {1, 2, 3, 64};
	static const char *const name[] = {"x.mcpl"};

	folder_write(&folder, name[0], big.file, big.bytes);
	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
		struct sl_inputs *inputs = open_files(name, 1, 1);

		print_message("%zu bytes, %u threads\n", big.bytes, threads[t]);
		if (message) {
			assert_fails(
				sl_inputs_survey(inputs, 0, threads[t]), SL_BAD_INPUT, message);
		} else {
			assert_ok(sl_inputs_survey(inputs, 0, threads[t]));
			assert_int_equal(inputs->weight_shift, shift);
		}
		assert_int_equal(inputs->at[0].crc, sl_crc32(big.file, big.bytes));
		sl_inputs_close(inputs);
	}
}

TEST(results_do_not_depend_on_threads)
{
	static const uint64_t sizes[] = {
		0, 2, OF_A_PART - 1, OF_A_PART, OF_A_PART + 1, 2 * OF_A_PART, MOST};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int exponent;

		make_big(sizes[i]);
		frexp((sizes[i] < 1000 ? 0.1005 : 0.5995) * (double)sizes[i], &exponent);
		expect_surveys(sizes[i] > 0 ? 29 - exponent : 0, NULL);
	}
}

TEST(the_first_wrong_particle_is_named)
{
	static const uint64_t wrong[] = {2 * OF_A_PART + 999, OF_A_PART + 70, 3};
	const float infinite = INFINITY;

	make_big(MOST);
	for (size_t i = 0; i < 3; i++) {
		char text[64];

		memcpy(big.file + big.first_record + wrong[i] * RECORD_BYTES + WEIGHT_AT, &infinite,
			sizeof(infinite));
		snprintf(text, sizeof(text), "particle %llu (from 0): its weight is inf",
			(unsigned long long)wrong[i]);
		expect_surveys(0, text);
	}
	free(big.file);
}

/* --- changes ---------------------------------------------------------------------------------- */

/*
 * Reads all particles of an IAEA phase space, opened by one of its files, after one of them was
 * written to.
 */
TEST(changes_of_both_files_are_detected)
{
	static const char *const name[] = {"x.IAEAphsp", "x.IAEAheader"};
	static const struct iaea_facts facts = {.n = ALL};

	for (int i = 0; i < 4; i++) {
		struct sl_columns columns;
		struct sl_inputs *inputs;
		size_t bytes;
		char *file;

		make_iaea(&folder, "x", &facts);
		file = folder_read(&folder, name[i % 2], &bytes);
		inputs = open_files(&name[i / 2], 1, 1);
		assert_ok(sl_inputs_survey(inputs, 0, 1));
		assert_int_equal(inputs->particles, ALL);
		assert_ok(read_batch(inputs, &columns, 10, 100, SL_NO_TURN));
		sleep_for(0.02); /* more than the grain of a time of modification */
		folder_write(&folder, name[i % 2], file, bytes);
		assert_fails(read_batch(inputs, &columns, 10, 100, SL_NO_TURN), SL_DISK,
			"the file became shorter or changed while it was read");
		sl_inputs_close(inputs);
		free(file);
	}
}

/* Writes the number of particles to the header of a.mcpl.gz, which is not compressed. */
static void write_particles(uint64_t particles)
{
	FILE *f = fopen(folder_path(&folder, names[0]), "r+");

	assert_non_null(f);
	assert_int_equal(0, fseek(f, 10 + 5 + PARTICLES_AT, SEEK_SET));
	assert_int_equal(1, fwrite(&particles, sizeof(particles), 1, f));
	assert_int_equal(0, fclose(f));
}

/* The memory for records has the size that the header states when the file is opened. */
TEST(headers_that_grow_are_detected)
{
	struct sl_inputs *inputs;

	write_particles(N / 2);
	inputs = open_files(names, 1, 1);
	write_particles(N);
	assert_fails(sl_inputs_survey(inputs, SIZE_MAX, 1), SL_DISK,
		"a.mcpl.gz: its header was changed after the file was opened");
	sl_inputs_close(inputs);
}
