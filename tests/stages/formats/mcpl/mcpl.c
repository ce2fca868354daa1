/*
 * mcpl.c - writes tables as MCPL, decodes them independently as the MCPL paper specifies, and
 * reads them back.
 *
 * Expected values are the columns of a row after conversion of units and packing of the direction.
 */
#include "stages/formats/mcpl/mcpl.h"

#include "tests/stages/formats/format_check.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "tests/support/formats/mcpl_expected.h"

static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 1048576};

/* --- tables ----------------------------------------------------------------------------------- */

static float *reals(const struct sl_table *t, enum sl_column column)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return (float *)t->column[k].data;
	return NULL;
}

/* A table with directions of unit length, including the axes, and without negative energies. */
static struct sl_table make_particles(uint32_t n, sl_column_set columns, sl_column_set constants)
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

	sl_mcpl_set_facts(
		&run, &(struct sl_mcpl_facts){
			      .wide = wide, .pdg = -2112, .energy = energy, .flags = flags});
	return run;
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
			double is = float_at(back, c->column, i);
			double should = float_at(t, c->column, i);

			if (!(fabs(is - should) <= near * (direction ? 1 : fabs(should))))
				fail_msg("%s of row %u: %.9g, not %.9g",
					sl_column_facts[c->column].name, i, is, should);
		}
	}
}

static void round_trip(const struct sl_format *f, const struct sl_file_facts *run, uint32_t n,
	sl_column_set columns, sl_column_set constants)
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
		plain = inflate_members(file, bytes, &plain_bytes, &first, &members);
		header_bytes = check_mcpl_file(plain, plain_bytes, run, &batch, &t);
		assert_int_equal(first, header_bytes);
		/* the number of particles is stored uncompressed, so that it can be changed later */
		assert_memory_equal(file + 10 + 5 + 8, plain + 8, 8);
		assert_int_equal(members > 2, plain_bytes - header_bytes > 1 << 20);
		free(plain);
	} else {
		check_mcpl_file(file, bytes, run, &batch, &t);
	}
	assert_ok(read_back(f, file, bytes, &a, &back));
	check_back(&t, &back, sl_mcpl_facts_of(run).wide);
	free(a.base);
	free(same);
	free(file);
	free_table(&t);
}

static const struct sl_format *const formats[] = {&sl_format_mcpl, &sl_format_mcpl_gz};
enum { FORMATS = 2 };

TEST(every_table_is_read_back)
{
	static const uint32_t sizes[] = {0, 1, 2, 7, 1000};
	static const enum sl_column flags[] = {SL_COLUMN_COUNT, SL_COLUMN_fate, SL_COLUMN_pixel};

	for (uint32_t i = 0; i < 5 * 3 * 2 * 2 * 2; i++) {
		uint32_t n = sizes[i % 5];
		enum sl_column flag = flags[i / 5 % 3];
		bool wide = i / 15 % 2, one_weight = i / 30 % 2, one_energy = i / 60 % 2;
		sl_column_set columns = SL_MCPL_NEEDED |
		                        (one_energy ? 0 : SL_BIT(SL_COLUMN_energy)) |
		                        (flag < SL_COLUMN_COUNT ? SL_BIT(flag) : 0);
		struct sl_file_facts run =
			facts_with(i % 2 ? &sl_deflate_zlib : &sl_deflate_libdeflate, wide, flag,
				one_energy ? 0.0253 : NAN);

		for (int f = 0; f < FORMATS; f++)
			round_trip(formats[f], &run, n, columns,
				one_weight ? SL_BIT(SL_COLUMN_weight) : 0);
	}
}

/* One code for all particles or a column of codes; polarisation; flags. */
TEST(columns_of_lists_are_read_back)
{
	static const uint32_t sizes[] = {1, 7, 1000};

	for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
		bool wide = i / 3 % 2, one_code = i / 6 % 2, polarised = i / 12 % 2;
		struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, wide,
			i % 2 ? SL_COLUMN_userflags : SL_COLUMN_COUNT, NAN);
		struct sl_mcpl_facts facts = sl_mcpl_facts_of(&run);
		sl_column_set columns = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) |
		                        SL_BIT(SL_COLUMN_pdg) |
		                        (polarised ? SL_MCPL_POLARISATION : 0) |
		                        (i % 2 ? SL_BIT(SL_COLUMN_userflags) : 0);

		facts.pdg = 0;
		sl_mcpl_set_facts(&run, &facts);
		for (int f = 0; f < FORMATS; f++)
			round_trip(formats[f], &run, sizes[i % 3], columns,
				one_code ? SL_BIT(SL_COLUMN_pdg) : 0);
	}
}

/* More rows than one gzip member holds. */
TEST(many_rows_are_read_back)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_COUNT, 1);

	round_trip(&sl_format_mcpl_gz, &run, 40000, SL_MCPL_NEEDED, 0);
	run = facts_with(&sl_deflate_libdeflate, true, SL_COLUMN_COUNT, 1);
	round_trip(&sl_format_mcpl_gz, &run, 40000, SL_MCPL_NEEDED, SL_BIT(SL_COLUMN_weight));
}

/* Constants of all kinds, and flags of other types. */
TEST(constants_and_flags_are_read_back)
{
	static const enum sl_column flags[] = {
		SL_COLUMN_pixel, SL_COLUMN_steps, SL_COLUMN_collisions, SL_COLUMN_fate};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, i % 2, flags[i], NAN);
		sl_column_set columns =
			SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(flags[i]);

		round_trip(formats[i / 2], &run, 300, columns,
			SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_z) | SL_BIT(SL_COLUMN_weight) |
				SL_BIT(flags[i]));
	}
}

/* An id has 64 bits in a table, and 32 in a file. */
TEST(ids_are_read_back)
{
	struct sl_file_facts run = facts_with(&sl_deflate_libdeflate, false, SL_COLUMN_id, 1);
	struct sl_table t = make_particles(50, SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_id), 0), back;
	struct sl_arena a;
	size_t bytes;
	char *file;

	for (uint64_t i = 0; i < 50; i++)
		((uint64_t *)t.column[0].data)[i] = UINT32_MAX - 3 * i;
	file = file_of(&sl_format_mcpl, &run, &batch, &t, 0, &bytes);
	assert_ok(read_back(&sl_format_mcpl, file, bytes, &a, &back));
	check_back(&t, &back, false);
	free(a.base);
	free(file);
	free_table(&t);
}

/* A NaN is converted as on x86: quiet, with its sign and payload. */
TEST(nans_keep_sign_and_payload)
{
	static const uint32_t nan[] = {0x7f812345, 0xffc00001}, quiet[] = {0x7fc12345, 0xffc00001};
	static const uint64_t wide[] = {0x7ff82468a0000000, 0xfff8000020000000};

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

/* Any direction of unit length is read back to a few units of the last place. */
TEST(directions_are_read_back)
{
	for (uint64_t i = 0; i < 100000; i++) {
		double d[3], packed[3], narrow[3], back[3], length = 0;

		for (int k = 0; k < 3; k++) {
			d[k] = (double)(mixed(3 * i + (uint64_t)k) >> 11) * 0x1p-52 - 1;
			/* some are almost in the x-y plane, and some are axes */
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
