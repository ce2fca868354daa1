/*
 * mcpl.c - tables as MCPL, read by hand from what the paper says, and back.
 *
 * Values are compared with what the units and the packing of directions make of a row's columns.
 */
#include "stages/formats/mcpl.h"

#include <stdio.h>
#include <zlib.h>

#include "tests/cases/thin.h"
#include "tests/stages/formats/tables.h"

static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 1048576};

/* --- tables ----------------------------------------------------------------------------------- */

static float *reals(const struct sl_table *t, enum sl_column column)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return (float *)t->column[k].data;
	return NULL;
}

/* A table whose directions are directions, axes among them, and energies none below 0. */
static struct sl_table make_particles(uint32_t n, uint32_t columns, uint32_t constants)
{
	struct sl_table t = make_table(n, columns, constants, RANDOM);
	float *u = reals(&t, SL_COLUMN_u), *v = reals(&t, SL_COLUMN_v);
	float *w = reals(&t, SL_COLUMN_w), *energy = reals(&t, SL_COLUMN_energy);

	for (uint32_t i = 0; i < n; i++) {
		double d[3] = {(double)u[i], (double)v[i], (double)w[i]}, length;

		for (uint32_t k = 0; k < 3; k++)
			d[k] = i < 6 ? (k == i % 3 ? (i < 3 ? 1 : -1) : 0) : d[k];
		d[2] = i % 5 == 0 ? d[2] * 1e-20 : d[2];
		length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
		u[i] = (float)(d[0] / length);
		v[i] = (float)(d[1] / length);
		w[i] = (float)(d[2] / length);
		if (energy && (i == 0 || !SL_HAS(constants, SL_COLUMN_energy)))
			energy[i] = fabsf(energy[i]) * 100;
	}
	return t;
}

static struct sl_file_facts facts_with(
	const struct sl_backend *deflate, bool wide, enum sl_column flags, double energy)
{
	struct sl_file_facts run = run_facts(deflate, 1);

	run.mcpl = (struct sl_mcpl_facts){
		.wide = wide, .pdg = -2112, .energy = energy, .flags = flags};
	return run;
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* A file as it is before gzip, to be freed; *first: the bytes of its first member. */
static uint8_t *unzip(
	const uint8_t *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members)
{
	size_t room = 1100 * bytes, used = 0;
	uint8_t *plain = (uint8_t *)malloc(room);

	for (*members = 0; bytes > 0; ++*members) {
		z_stream z = {0};

		assert_int_equal(inflateInit2(&z, 31), Z_OK);
		z.next_in = (Bytef *)(uintptr_t)file;
		z.avail_in = (uInt)bytes;
		z.next_out = plain + used;
		z.avail_out = (uInt)(room - used);
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

static uint32_t word(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t word_64(const uint8_t *at)
{
	return word(at) | (uint64_t)word(at + 4) << 32;
}

/* A string must be that; returns where it ends. */
static const uint8_t *pass_string(const uint8_t *at, const char *text)
{
	assert_int_equal(word(at), strlen(text));
	assert_memory_equal(at + 4, text, strlen(text));
	return at + 4 + strlen(text);
}

/* What the flags of a file are, as the numbers of its header have it. */
struct made {
	bool wide, flagged, weighs, polarised;
	int32_t pdg; /* 0: each has its own */
	uint32_t record_bytes;
};

static const uint8_t *check_header(const uint8_t *file, const struct sl_file_facts *run,
	const struct sl_table *t, const struct made *m)
{
	const uint8_t *at = file + 48;
	double weight;

	assert_memory_equal(file, "MCPL003L", 8);
	assert_true(word_64(file + 8) == t->n);
	assert_int_equal(word(file + 16), m->flagged ? 4 : 3);
	assert_int_equal(word(file + 20), 1);
	assert_int_equal(word(file + 24), m->flagged);
	assert_int_equal(word(file + 28), m->polarised);
	assert_int_equal(word(file + 32), !m->wide);
	assert_int_equal((int32_t)word(file + 36), m->pdg);
	assert_int_equal(word(file + 40), m->record_bytes);
	assert_int_equal(word(file + 44), !m->weighs);
	if (!m->weighs) {
		memcpy(&weight, at, sizeof(weight));
		assert_true(weight == (double)*reals(t, SL_COLUMN_weight));
		at += 8;
	}
	at = pass_string(at, "Sluice 1.2.3");
	at = pass_string(at, "stat:sum:sluice_generated:                 1048576");
	at = pass_string(at, "Survivors of run demo, seed 42, rules version 0, species photons");
	for (int i = 0; i < (m->flagged ? 2 : 1); i++)
		at += 4 + word(at);
	at = pass_string(at, "sluice_config");
	return pass_string(at, run->config);
}

static double number_at(const uint8_t **at, bool wide)
{
	float narrow;
	double v;

	memcpy(wide ? (void *)&v : &narrow, *at, wide ? 8 : 4);
	*at += wide ? 8 : 4;
	return wide ? v : (double)narrow;
}

/* As near as the file's numbers are. */
static void expect(double is, double should, bool wide)
{
	if (is != (wide ? should : (double)(float)should))
		fail_msg("%.17g, not %.17g", is, should);
}

/* Which two components stand in the first two slots, and where 1/z does. */
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

static double row_of(const struct sl_table *t, enum sl_column column, uint32_t row)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return (double)((const float *)t->column[k]
						.data)[t->column[k].constant ? 0 : row];
	return NAN;
}

static uint64_t whole_of(const struct sl_table *t, enum sl_column column, uint32_t row)
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
	const struct sl_table *t, const struct made *m, uint32_t row)
{
	const uint8_t *begin = at;
	double d[3], energy = row_of(t, SL_COLUMN_energy, row);

	for (int i = 0; m->polarised && i < 3; i++)
		expect(number_at(&at, m->wide),
			row_of(t, (enum sl_column)(SL_COLUMN_pol_x + i), row), m->wide);
	for (int i = 0; i < 3; i++) {
		expect(number_at(&at, m->wide), row_of(t, (enum sl_column)(SL_COLUMN_x + i), row),
			m->wide);
		d[i] = row_of(t, (enum sl_column)(SL_COLUMN_u + i), row);
	}
	check_direction(&at, d, (isnan(energy) ? run->mcpl.energy : energy) / 1000, m->wide);
	expect(number_at(&at, m->wide), row_of(t, SL_COLUMN_time, row) / 1e6, m->wide);
	if (m->weighs)
		expect(number_at(&at, m->wide), row_of(t, SL_COLUMN_weight, row), m->wide);
	if (m->pdg == 0) {
		assert_int_equal(word(at), (uint32_t)whole_of(t, SL_COLUMN_pdg, row));
		at += 4;
	}
	if (m->flagged) {
		assert_int_equal(word(at), (uint32_t)whole_of(t, run->mcpl.flags, row));
		at += 4;
	}
	assert_int_equal(at - begin, m->record_bytes);
}

static void check_by_hand(const uint8_t *file, size_t bytes, const struct sl_file_facts *run,
	const struct sl_table *t, size_t *header_bytes)
{
	uint32_t constants = 0;
	struct made m = {.wide = run->mcpl.wide, .flagged = run->mcpl.flags != SL_COLUMN_COUNT};
	const uint8_t *at;

	for (uint32_t k = 0; k < t->n_columns; k++)
		constants |= t->column[k].constant ? SL_BIT(t->column[k].column) : 0;
	m.weighs = !SL_HAS(constants, SL_COLUMN_weight);
	m.polarised = !isnan(row_of(t, SL_COLUMN_pol_x, 0));
	m.pdg = run->mcpl.pdg;
	if (SL_HAS(constants, SL_COLUMN_pdg))
		m.pdg = (int32_t)whole_of(t, SL_COLUMN_pdg, 0);
	m.record_bytes = ((m.weighs ? 8u : 7u) + (m.polarised ? 3u : 0u)) * (m.wide ? 8u : 4u) +
	                 (m.flagged ? 4u : 0u) + (m.pdg == 0 ? 4u : 0u);
	at = check_header(file, run, t, &m);
	*header_bytes = (size_t)(at - file);
	assert_int_equal(bytes - *header_bytes, (size_t)t->n * m.record_bytes);
	for (uint32_t row = 0; row < t->n; row++)
		check_record(at + (size_t)row * m.record_bytes, run, t, &m, row);
}

/* --- there and back --------------------------------------------------------------------------- */

/* How far a number that was rounded may be off: single precision, twice, of a direction's square.
 */
static const double near = 4e-7;

static void check_back(const struct sl_table *t, const struct sl_table *back, bool wide)
{
	assert_int_equal(back->n, t->n);
	assert_int_equal(back->n_columns, t->n_columns);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &back->column[k];
		bool direction = c->column >= SL_COLUMN_u && c->column <= SL_COLUMN_w;
		bool converted = c->column == SL_COLUMN_energy || c->column == SL_COLUMN_time;

		assert_int_equal(c->column, t->column[k].column);
		assert_int_equal(c->rounded, direction || (converted && !wide));
		if (!c->rounded)
			assert_true(same_values(&t->column[k], c, t->n));
		for (uint32_t i = 0; c->rounded && i < t->n; i++) {
			double is = row_of(back, c->column, i);
			double should = row_of(t, c->column, i);

			if (!(fabs(is - should) <= near * (direction ? 1 : fabs(should))))
				fail_msg("%s of row %u: %.9g, not %.9g",
					sl_column_facts[c->column].name, i, is, should);
		}
	}
}

static void round_trip(const struct sl_format *f, const struct sl_file_facts *run, uint32_t n,
	uint32_t columns, uint32_t constants)
{
	struct sl_table t = make_particles(n, columns, constants), back;
	struct sl_arena a;
	size_t bytes, again, plain_bytes, first = 0, header_bytes;
	unsigned members = 0;
	uint8_t *file = (uint8_t *)file_of(f, run, &batch, &t, 0x00, &bytes), *plain;
	char *same = file_of(f, run, &batch, &t, 0xff, &again);

	assert_int_equal(bytes, again);
	assert_memory_equal(file, same, bytes);
	if (f == &sl_format_mcpl_gz) {
		plain = unzip(file, bytes, &plain_bytes, &first, &members);
		check_by_hand(plain, plain_bytes, run, &t, &header_bytes);
		assert_int_equal(first, header_bytes);
		/* the number of particles stands there as it is, to be patched */
		assert_true(word_64(file + 10 + 5 + 8) == n);
		assert_int_equal(members > 2, plain_bytes - header_bytes > 1 << 20);
		free(plain);
	} else {
		check_by_hand(file, bytes, run, &t, &header_bytes);
	}
	assert_ok(read_back(f, file, bytes, &a, &back));
	check_back(&t, &back, run->mcpl.wide);
	free(a.base);
	free(same);
	free(file);
	free_table(&t);
}

static const struct sl_format *const formats[] = {&sl_format_mcpl, &sl_format_mcpl_gz};
enum { FORMATS = 2 };

static void every_table_comes_back(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, 7, 1000};
	static const enum sl_column flags[] = {SL_COLUMN_COUNT, SL_COLUMN_fate, SL_COLUMN_pixel};

	(void)state;
	for (uint32_t i = 0; i < 5 * 3 * 2 * 2 * 2; i++) {
		uint32_t n = sizes[i % 5];
		enum sl_column flag = flags[i / 5 % 3];
		bool wide = i / 15 % 2, one_weight = i / 30 % 2, one_energy = i / 60 % 2;
		uint32_t columns = SL_MCPL_NEEDED | (one_energy ? 0 : SL_BIT(SL_COLUMN_energy)) |
		                   (flag < SL_COLUMN_COUNT ? SL_BIT(flag) : 0);
		struct sl_file_facts run =
			facts_with(i % 2 ? &sl_deflate_zlib : &sl_deflate_libdeflate, wide, flag,
				one_energy ? 0.0253 : NAN);

		for (int f = 0; f < FORMATS; f++)
			round_trip(formats[f], &run, n, columns,
				one_weight ? SL_BIT(SL_COLUMN_weight) : 0);
	}
}

/* Codes of their own, or one that a column has; polarisation; flags. */
static void what_lists_have_comes_back(void **state)
{
	static const uint32_t sizes[] = {1, 7, 1000};

	(void)state;
	for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
		bool wide = i / 3 % 2, one_code = i / 6 % 2, polarised = i / 12 % 2;
		struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, wide,
			i % 2 ? SL_COLUMN_userflags : SL_COLUMN_COUNT, NAN);
		uint32_t columns = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) |
		                   SL_BIT(SL_COLUMN_pdg) | (polarised ? SL_MCPL_POLARISATION : 0) |
		                   (i % 2 ? SL_BIT(SL_COLUMN_userflags) : 0);

		run.mcpl.pdg = 0;
		for (int f = 0; f < FORMATS; f++)
			round_trip(formats[f], &run, sizes[i % 3], columns,
				one_code ? SL_BIT(SL_COLUMN_pdg) : 0);
	}
}

/* More than a member of gzip holds. */
static void many_rows_come_back(void **state)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_COUNT, 1);

	(void)state;
	round_trip(&sl_format_mcpl_gz, &run, 40000, SL_MCPL_NEEDED, 0);
	run.mcpl.wide = true;
	round_trip(&sl_format_mcpl_gz, &run, 40000, SL_MCPL_NEEDED, SL_BIT(SL_COLUMN_weight));
}

/* Constants of all kinds, and flags of other types. */
static void constants_and_flags_come_back(void **state)
{
	static const enum sl_column flags[] = {
		SL_COLUMN_pixel, SL_COLUMN_steps, SL_COLUMN_collisions, SL_COLUMN_fate};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, i % 2, flags[i], NAN);
		uint32_t columns = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(flags[i]);

		round_trip(formats[i / 2], &run, 300, columns,
			SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_z) | SL_BIT(SL_COLUMN_weight) |
				SL_BIT(flags[i]));
	}
}

/* An id has 64 bits in a table, and 32 in a file. */
static void ids_come_back(void **state)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_id, 1);
	struct sl_table t = make_particles(50, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_id), 0), back;
	struct sl_arena a;
	size_t bytes;
	char *file;

	(void)state;
	for (uint64_t i = 0; i < 50; i++)
		((uint64_t *)t.column[0].data)[i] = UINT32_MAX - 3 * i;
	file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
	assert_ok(read_back(&sl_format_mcpl, file, bytes, &a, &back));
	check_back(&t, &back, false);
	free(a.base);
	free(file);
	free_table(&t);
}

/* A NaN goes by as x86 has it: quiet, with its sign and what its bits say. */
static void nans_go_by(void **state)
{
	static const uint32_t nan[] = {0x7f812345, 0xffc00001}, quiet[] = {0x7fc12345, 0xffc00001};
	static const uint64_t wide[] = {0x7ff82468a0000000, 0xfff8000020000000};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sl_file_facts run =
			facts_with(&sl_deflate_libdeflate, i / 2, SL_COLUMN_COUNT, NAN);
		struct sl_table t = make_particles(1, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy), 0);
		uint32_t number = i / 2 ? 8 : 4;
		size_t bytes;
		char *file;

		memcpy(reals(&t, SL_COLUMN_x), &nan[i % 2], 4);
		memcpy(reals(&t, SL_COLUMN_time), &nan[i % 2], 4);
		memcpy(reals(&t, SL_COLUMN_energy), &nan[i % 2], 4);
		*reals(&t, SL_COLUMN_u) = 0; /* z is left out, and has the sign of the NaN */
		*reals(&t, SL_COLUMN_v) = 0;
		*reals(&t, SL_COLUMN_w) = i % 2 ? -1 : 1;
		file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
		for (uint32_t place = 0; place < 7; place += place == 0 ? 5 : 1)
			assert_memory_equal(file + bytes - (8 - place) * number,
				i / 2 ? (const void *)&wide[i % 2] : &quiet[i % 2], number);
		free(file);
		free_table(&t);
	}
}

/* --- directions ------------------------------------------------------------------------------- */

/* Whatever direction of length 1, it comes back to a few units of the last place. */
static void directions_come_back(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		double d[3], packed[3], narrow[3], back[3], length = 0;

		for (int k = 0; k < 3; k++) {
			d[k] = (double)(mixed(3 * i + (uint64_t)k) >> 11) * 0x1p-52 - 1;
			/* some are very flat, and some are axes */
			d[k] *= i % 7 == 0 ? exp2(-(double)(mixed(i + (uint64_t)k) >> 57)) : 1;
			d[k] = i % 11 == 0 && k != (int)(i % 3) ? 0 : d[k];
			length += d[k] * d[k];
		}
		for (int k = 0; k < 3; k++)
			d[k] /= sqrt(length);
		sl_mcpl_pack(d, packed);
		assert_true(fabs(packed[2]) == 1);
		sl_mcpl_unpack(packed, back);
		for (int k = 0; k < 3; k++) {
			assert_true(fabs(back[k] - d[k]) <= 1e-15);
			narrow[k] = (double)(float)packed[k];
		}
		sl_mcpl_unpack(narrow, back);
		for (int k = 0; k < 3; k++)
			assert_true(fabs(back[k] - d[k]) <= 1.3e-7);
	}
}

/* --- refusals --------------------------------------------------------------------------------- */

static void too_small_is_refused(void **state)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_COUNT, 1);
	struct sl_table small = make_particles(10, SL_MCPL_NEEDED, 0);
	struct sl_table large = make_particles(100000, SL_MCPL_NEEDED, 0);

	(void)state;
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

static void a_column_that_is_missing_is_told(void **state)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_pixel, NAN);
	uint32_t all = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pixel);

	(void)state;
	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		struct sl_table t = make_table(10, all & ~SL_BIT(i), 0, RANDOM);
		struct packed k = lay_out_for(&sl_format_mcpl, &run, &t);

		if (SL_HAS(all, i))
			assert_fails(pack_into(&k, &sl_format_mcpl, &run, &t), SL_USAGE,
				sl_column_facts[i].name);
		free_packed(&k);
		free_table(&t);
	}
}

static void every_damage_is_found(void **state)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_fate, 1);
	struct sl_table t = make_particles(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0), back;
	struct sl_arena a = {0};

	(void)state;
	for (int f = 0; f < FORMATS; f++) {
		size_t bytes;
		char *file = file_of(formats[f], &run, &batch, &t, 0, &bytes);

		for (size_t cut = 0; cut < bytes; cut += sl_thin_step(1)) {
			char *copy = (char *)malloc(cut + (cut == 0));

			memcpy(copy, file, cut);
			assert_int_equal(read_back(formats[f], copy, cut, &a, &back), SL_BAD_INPUT);
			free(a.base);
			free(copy);
		}
		for (size_t bit = 0; bit < 8 * bytes; bit += sl_thin_step(1)) {
			enum sl_status status;

			file[bit / 8] ^= (char)(1 << bit % 8);
			status = read_back(formats[f], file, bytes, &a, &back);
			assert_true(status == SL_OK || status == SL_BAD_INPUT);
			if (status == SL_OK && formats[f] == &sl_format_mcpl_gz)
				check_back(&t, &back, false); /* what gzip ignores */
			free(a.base);
			file[bit / 8] ^= (char)(1 << bit % 8);
		}
		free(file);
	}
	free_table(&t);
}

/* The comment of columns with others, of the same length. */
static void other_columns_are_refused(void **state)
{
	static const char was[] = "columns:x,y,z,u,v,w,weight,time,fate";
	static const char *const others[] = {"columns:y,x,z,u,v,w,weight,time,fate",
		"columns:x,y,z,u,v,v,weight,time,fate", "columns:x,y,z,u,v,w,weight,time,hate",
		"columns:x,y,z,u,v,w,time,weight,fate", "columns:x,y,z,u,v,w,weight,time,,,,,",
		"columns:x,y,z,u,v,w,weight,steps,,,,", "Columns:x,y,z,u,v,w,weight,time,fate"};
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_fate, 1);
	struct sl_table t = make_particles(40, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_fate), 0), back;
	struct sl_arena a = {0};
	size_t bytes, at = 0;
	char *file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_comes_back),
		cmocka_unit_test(what_lists_have_comes_back),
		cmocka_unit_test(many_rows_come_back),
		cmocka_unit_test(constants_and_flags_come_back),
		cmocka_unit_test(ids_come_back),
		cmocka_unit_test(nans_go_by),
		cmocka_unit_test(directions_come_back),
		cmocka_unit_test(too_small_is_refused),
		cmocka_unit_test(a_column_that_is_missing_is_told),
		cmocka_unit_test(every_damage_is_found),
		cmocka_unit_test(other_columns_are_refused),
	};

	if (!sl_thin_by_environment())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
