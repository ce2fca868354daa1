/*
 * mcpl_survey.c - the survey of a plain list of several parts: checksum, scale of the weights, and the
 * message about a wrong particle are the same with any number of threads.
 */
#include "stages/inputs/mcpl_survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/inputs/input_survey.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum {
	RECORD_BYTES = 36,
	OF_A_PART = SL_SURVEY_PART_BYTES / RECORD_BYTES,
	MOST = 2 * OF_A_PART + 1000,
	SOME = 1000,
	PARTICLES_AT = 8, /* of the header */
	WEIGHT_AT = 28    /* of a record in single precision without polarisation */
};

/* The list in memory, as it is written to a file. */
static char *list;
static size_t list_bytes, first_record;

/* Makes a list of n records: some that a file has, again and again. Their weights are not exact in any sum. */
static void make(uint64_t n)
{
	const struct sl_mcpl_header h = {
		.version = 3, .particles = SOME, .flags = true, .single = true, .pdg = 22};
	struct sl_mcpl_particle *p = (struct sl_mcpl_particle *)calloc(SOME, sizeof(*p));
	size_t bytes;
	char *some;

	for (int i = 0; i < SOME; i++)
		p[i] = (struct sl_mcpl_particle){.position = {i, 1, 1},
			.direction = {0, 0, 1},
			.energy = 1,
			.weight = 0.1 + 1e-3 * i};
	make_list(&folder, "x.mcpl", &h, NULL, p);
	free(p);
	some = folder_read(&folder, "x.mcpl", &bytes);
	first_record = bytes - (size_t)SOME * RECORD_BYTES;
	list_bytes = first_record + n * RECORD_BYTES;
	free(list);
	list = (char *)malloc(list_bytes);
	memcpy(list, some, first_record);
	memcpy(list + PARTICLES_AT, &n, sizeof(n));
	for (uint64_t i = 0; i < n; i++)
		memcpy(list + first_record + i * RECORD_BYTES,
			some + first_record + i % SOME * RECORD_BYTES, RECORD_BYTES);
	free(some);
}

static void set_weight(uint64_t record, float weight)
{
	memcpy(list + first_record + record * RECORD_BYTES + WEIGHT_AT, &weight, sizeof(weight));
}

/* Surveys the list in so many threads. */
static enum sl_status survey(uint32_t threads, struct sl_inputs **inputs)
{
	struct sl_lines lines = {.n = 1};
	uint32_t which;

	folder_write(&folder, "x.mcpl", list, list_bytes);
	snprintf(lines.at[0], sizeof(lines.at[0]), "%s", folder_path(&folder, "x.mcpl"));
	assert_ok(sl_inputs_open(&lines, NULL, inputs, &which));
	return sl_inputs_survey(*inputs, 0, threads);
}

static const uint32_t threads[] = {1, 2, 3, 16, 64};
enum { THREADS = sizeof(threads) / sizeof(threads[0]) };

TEST(results_do_not_depend_on_threads)
{
	static const uint64_t sizes[] = {
		0, 1, OF_A_PART - 1, OF_A_PART, OF_A_PART + 1, 2 * OF_A_PART, MOST};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int exponent, shift;

		make(sizes[i]);
		frexp(0.5995 * (double)sizes[i], &exponent); /* the mean weight */
		shift = sizes[i] > 0 ? 29 - exponent : 0;
		for (int t = 0; t < THREADS; t++) {
			struct sl_inputs *inputs;

			assert_ok(survey(threads[t], &inputs));
			assert_int_equal(inputs->at[0].crc, sl_crc32(list, list_bytes));
			if (sizes[i] != 1)
				assert_int_equal(inputs->weight_shift, shift);
			sl_inputs_close(inputs);
		}
	}
}

TEST(the_first_wrong_particle_is_named)
{
	static const uint64_t wrong[] = {3, OF_A_PART + 70, 2 * OF_A_PART + 999};

	make(MOST);
	for (size_t i = 3; i-- > 0;) {
		char text[64];

		set_weight(wrong[i], INFINITY);
		snprintf(text, sizeof(text), "particle %llu (from 0): its weight is inf",
			(unsigned long long)wrong[i]);
		for (int t = 0; t < THREADS; t++) {
			struct sl_inputs *inputs;

			assert_fails(survey(threads[t], &inputs), SL_BAD_INPUT, text);
			assert_int_equal(inputs->at[0].crc, sl_crc32(list, list_bytes));
			sl_inputs_close(inputs);
		}
	}
}

AFTER_TESTS()
{
	free(list);
}
