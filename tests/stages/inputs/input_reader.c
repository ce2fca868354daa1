/*
 * input_reader.c - gzip inputs whose records the survey keeps, and those that batches decompress again: the
 * particles are the same, in any order of batches.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/inputs/input_survey.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"

enum { N = 1000, FILES = 3, ALL = N * FILES, RECORD_BYTES = 36 };

static const char *const names[FILES] = {"a.mcpl.gz", "b.mcpl", "c.mcpl.gz"};

/* Writes lists of N particles whose user flags count them. */
static int make_lists(void **state)
{
	const struct sl_mcpl_header h = {.version = 3, .particles = N, .flags = true, .pdg = 22};
	struct sl_mcpl_particle *p = (struct sl_mcpl_particle *)calloc(N, sizeof(*p));

	(void)state;
	folder_make_in_memory(&folder);
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
	return 0;
}

/* Opens the lists and surveys them with so much memory for records. */
static struct sl_inputs *open_lists(size_t keep_most)
{
	struct sl_lines lines = {.n = FILES};
	struct sl_inputs *inputs;
	uint32_t which;

	for (int k = 0; k < FILES; k++)
		snprintf(lines.at[k], sizeof(lines.at[k]), "%s", folder_path(&folder, names[k]));
	assert_ok(sl_inputs_open(&lines, NULL, &inputs, &which));
	assert_int_equal(inputs->particles, ALL);
	assert_ok(sl_inputs_survey(inputs, keep_most));
	return inputs;
}

/* Reads n particles from number first on and compares their user flags. */
static void expect_batch(struct sl_inputs *inputs, uint64_t first, uint32_t n, uint64_t turn)
{
	static uint32_t flags[ALL];
	static float other[12][ALL];
	static int32_t pdg[ALL];
	static uint8_t fate[ALL];
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
	assert_ok(sl_inputs_read(inputs, &b));
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
	expect_batch(inputs, 2500, 400, SL_NO_TURN);
	expect_batch(inputs, 100, 900, SL_NO_TURN);
	expect_batch(inputs, 999, 1002, SL_NO_TURN);
}

static void particles_do_not_depend_on_memory(void **state)
{
	static const size_t most[] = {0, N * RECORD_BYTES - 1, N * RECORD_BYTES,
		2 * N * RECORD_BYTES - 1, 2 * N * RECORD_BYTES, SIZE_MAX};
	static const int kept[] = {0, 0, 1, 1, 2, 2};
	struct sl_inputs *inputs = open_lists(0);
	const size_t memory = inputs->memory;
	const int shift = inputs->weight_shift;

	(void)state;
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
static void kept_records_need_no_turns(void **state)
{
	struct sl_inputs *inputs = open_lists(SIZE_MAX);

	(void)state;
	expect_batch(inputs, 600, 300, 2);
	expect_batch(inputs, 0, 300, 0);
	sl_inputs_close(inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(particles_do_not_depend_on_memory),
		cmocka_unit_test(kept_records_need_no_turns),
	};

	return cmocka_run_group_tests(tests, make_lists, folder_end);
}
