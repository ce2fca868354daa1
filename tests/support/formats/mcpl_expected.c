/* mcpl_expected.c - see mcpl_expected.h. */
#include "tests/support/formats/mcpl_expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/basic/check.h"

uint8_t *inflate_members(
	const uint8_t *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members)
{
	size_t capacity = 1100 * bytes, used = 0;
	uint8_t *plain = (uint8_t *)malloc(capacity);

	for (*members = 0; bytes > 0; ++*members) {
		z_stream z = {0};

		assert_int_equal(inflateInit2(&z, 31), Z_OK);
		z.next_in = (Bytef *)(uintptr_t)file;
		z.avail_in = (uInt)bytes;
		z.next_out = plain + used;
		z.avail_out = (uInt)(capacity - used);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		used += z.total_out;
		if (*members == 0)
			*first = used;
		file += z.total_in;
		bytes -= z.total_in;
		inflateEnd(&z);
	}
	*plain_bytes = used;
	return plain;
}

double float_at(const struct sl_table *t, enum sl_column column, uint32_t row)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return (double)((const float *)t->column[k]
						.data)[t->column[k].constant ? 0 : row];
	return NAN;
}

static uint32_t word(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t word_64(const uint8_t *at)
{
	return word(at) | (uint64_t)word(at + 4) << 32;
}

/* Expects this string, with its length before it; returns its end. */
static const uint8_t *check_string(const uint8_t *at, const char *text)
{
	assert_int_equal(word(at), strlen(text));
	assert_memory_equal(at + 4, text, strlen(text));
	return at + 4 + strlen(text);
}

/* Properties of the records that the header states. */
struct expected_header {
	bool wide, has_flags, weighted, polarised;
	int32_t pdg; /* 0: each record has its own */
	uint32_t record_bytes;
};

static const uint8_t *check_header(const uint8_t *file, const struct sl_file_facts *run,
	const struct sl_batch_facts *b, const struct sl_table *t, const struct expected_header *m)
{
	char text[128];
	const uint8_t *at = file + 48;
	double weight;

	assert_memory_equal(file, "MCPL003L", 8);
	assert_true(word_64(file + 8) == t->n);
	assert_int_equal(word(file + 16), m->has_flags ? 4 : 3);
	assert_int_equal(word(file + 20), 1);
	assert_int_equal(word(file + 24), m->has_flags);
	assert_int_equal(word(file + 28), m->polarised);
	assert_int_equal(word(file + 32), !m->wide);
	assert_int_equal((int32_t)word(file + 36), m->pdg);
	assert_int_equal(word(file + 40), m->record_bytes);
	assert_int_equal(word(file + 44), !m->weighted);
	if (!m->weighted) {
		memcpy(&weight, at, sizeof(weight));
		assert_true(weight == float_at(t, SL_COLUMN_weight, 0));
		at += 8;
	}
	snprintf(text, sizeof(text), "Sluice %s", run->software_version);
	at = check_string(at, text);
	snprintf(text, sizeof(text), "stat:sum:sluice_generated:%24llu",
		(unsigned long long)b->generated);
	at = check_string(at, text);
	snprintf(text, sizeof(text), "Survivors of run %s, seed %llu, rules version %u, species %s",
		run->run_name, (unsigned long long)run->seed, run->rules_version, run->species);
	at = check_string(at, text);
	for (int i = 0; i < (m->has_flags ? 2 : 1); i++)
		at += 4 + word(at);
	at = check_string(at, "sluice_config");
	return check_string(at, run->config);
}

static double number_at(const uint8_t **at, bool wide)
{
	float narrow;
	double v;

	memcpy(wide ? (void *)&v : &narrow, *at, wide ? 8 : 4);
	*at += wide ? 8 : 4;
	return wide ? v : (double)narrow;
}

/* Expects equality after rounding to the precision of the file. */
static void expect(double found, double expected, bool wide)
{
	if (found != (wide ? expected : (double)(float)expected))
		fail_msg("the value is %.17g, expected %.17g", found, expected);
}

/* The largest component of a direction is not stored. If it is x or y, its place holds 1/z. */
static void check_direction(const uint8_t **at, const double d[3], double energy, bool wide)
{
	double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]), first = d[0], second = d[1];
	double left_out = d[2], third;

	if (z < x || z < y) {
		left_out = x >= y ? d[0] : d[1];
		*(x >= y ? &first : &second) = d[2] != 0 ? 1 / d[2] : INFINITY;
	}
	expect(number_at(at, wide), first, wide);
	expect(number_at(at, wide), second, wide);
	third = number_at(at, wide);
	expect(fabs(third), energy, wide);
	assert_int_equal(signbit(third) != 0, signbit(left_out) != 0);
}

static uint64_t integer_at(const struct sl_table *t, enum sl_column column, uint32_t row)
{
	uint64_t v = 0;

	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		uint32_t bytes = sl_column_facts[c->column].bytes;

		if (c->column == column)
			memcpy(&v, (const char *)c->data + (c->constant ? 0 : row * bytes), bytes);
	}
	return v;
}

static void check_record(const uint8_t *at, const struct sl_file_facts *run,
	const struct sl_table *t, const struct expected_header *m, uint32_t row)
{
	const uint8_t *begin = at;
	double d[3], energy = float_at(t, SL_COLUMN_energy, row);

	for (int i = 0; m->polarised && i < 3; i++)
		expect(number_at(&at, m->wide),
			float_at(t, (enum sl_column)(SL_COLUMN_pol_x + i), row), m->wide);
	for (int i = 0; i < 3; i++) {
		expect(number_at(&at, m->wide), float_at(t, (enum sl_column)(SL_COLUMN_x + i), row),
			m->wide);
		d[i] = float_at(t, (enum sl_column)(SL_COLUMN_u + i), row);
	}
	check_direction(
		&at, d, (isnan(energy) ? sl_mcpl_facts_of(run).energy : energy) / 1000, m->wide);
	expect(number_at(&at, m->wide), float_at(t, SL_COLUMN_time, row) / 1e6, m->wide);
	if (m->weighted)
		expect(number_at(&at, m->wide), float_at(t, SL_COLUMN_weight, row), m->wide);
	if (m->pdg == 0) {
		assert_int_equal(word(at), (uint32_t)integer_at(t, SL_COLUMN_pdg, row));
		at += 4;
	}
	if (m->has_flags) {
		assert_int_equal(
			word(at), (uint32_t)integer_at(t, sl_mcpl_facts_of(run).flags, row));
		at += 4;
	}
	assert_int_equal(at - begin, m->record_bytes);
}

size_t check_mcpl_file(const uint8_t *file, size_t bytes, const struct sl_file_facts *run,
	const struct sl_batch_facts *b, const struct sl_table *t)
{
	sl_column_set constants = 0;
	struct expected_header m = {.wide = sl_mcpl_facts_of(run).wide,
		.has_flags = sl_mcpl_facts_of(run).flags != SL_COLUMN_COUNT};
	const uint8_t *at;
	size_t header;

	for (uint32_t k = 0; k < t->n_columns; k++)
		constants |= t->column[k].constant ? SL_BIT(t->column[k].column) : 0;
	m.weighted = !SL_HAS(constants, SL_COLUMN_weight);
	m.polarised = !isnan(float_at(t, SL_COLUMN_pol_x, 0));
	m.pdg = sl_mcpl_facts_of(run).pdg;
	if (SL_HAS(constants, SL_COLUMN_pdg))
		m.pdg = (int32_t)integer_at(t, SL_COLUMN_pdg, 0);
	m.record_bytes = ((m.weighted ? 8u : 7u) + (m.polarised ? 3u : 0u)) * (m.wide ? 8u : 4u) +
	                 (m.has_flags ? 4u : 0u) + (m.pdg == 0 ? 4u : 0u);
	at = check_header(file, run, b, t, &m);
	header = (size_t)(at - file);
	assert_int_equal(bytes - header, (size_t)t->n * m.record_bytes);
	for (uint32_t row = 0; row < t->n; row++)
		check_record(at + (size_t)row * m.record_bytes, run, t, &m, row);
	return header;
}
