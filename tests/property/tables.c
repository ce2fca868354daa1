/*
 * tables.c - properties of the formats of survivors: any table is read back bit by bit, the
 * announced memory is enough and no byte of it is needed before, and a damaged file gives an error
 * or the same table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "stages/batch/recipe.h"
#include "stages/formats/common/common.h"
#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/tables.h"
#include "tests/support/property/property.h"

/* A table, and how it is written. */
struct written {
	const struct sl_format *f;
	struct sl_file_facts run;
	struct sl_table t;
};

static const struct sl_format *const formats[] = {&sl_format_openpmd, &sl_format_npz,
	&sl_format_csv, &sl_format_csv_gz, &sl_format_mcpl, &sl_format_mcpl_gz};
static const struct sl_batch_facts batch = {.number = 17, .first_id = 1700, .generated = 1048576};

/* --- tables ----------------------------------------------------------------------------------- */

static float *reals(const struct sl_table *t, enum sl_column column)
{
	const struct sl_table_column *c = sl_table_find(t, column);

	return c ? (float *)c->data : NULL;
}

/*
 * Any floats in half of the columns; a rule of an MCPL file excludes NaNs and negative energies
 * elsewhere.
 */
static void set_floats(struct rnd *g, const struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];

		if (sl_facts_of(c)->type != SL_TYPE_F32 || rnd_one_in(g, 2))
			continue;
		for (uint32_t i = 0; i < (c->constant ? 1 : t->n); i++)
			((float *)c->data)[i] = rnd_float(g);
	}
}

static void set_directions(struct rnd *g, const struct sl_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		double d[3];

		any_direction(g, d);
		for (int k = 0; k < 3; k++)
			reals(t, (enum sl_column)(SL_COLUMN_u + k))[i] = (float)d[k];
	}
}

/* A table that MCPL can hold: its columns, and what its header states in their place. */
static struct sl_table any_particles(struct rnd *g, uint32_t n, struct sl_file_facts *run)
{
	static const enum sl_column flags[] = {SL_COLUMN_COUNT, SL_COLUMN_fate, SL_COLUMN_pixel,
		SL_COLUMN_steps, SL_COLUMN_collisions, SL_COLUMN_userflags, SL_COLUMN_id};
	const sl_column_set may_be_constant = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_z) |
	                                      SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_energy) |
	                                      SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_fate);
	const struct sl_mcpl_facts facts = {.wide = rnd_one_in(g, 2),
		.pdg = rnd_one_in(g, 2) ? -2112 : 0,
		.energy = rnd_one_in(g, 2) ? 0.0253 : (double)NAN,
		.flags = rnd_of(g, flags)};
	sl_column_set columns = SL_MCPL_NEEDED |
	                        (isnan(facts.energy) ? SL_BIT(SL_COLUMN_energy) : 0) |
	                        (facts.pdg == 0 ? SL_BIT(SL_COLUMN_pdg) : 0);
	struct sl_table t;

	columns |= facts.flags < SL_COLUMN_COUNT ? SL_BIT(facts.flags) : 0;
	columns |= n > 0 && facts.pdg == 0 && rnd_one_in(g, 2) ? SL_MCPL_POLARISATION : 0;
	t = make_table(n, columns, rnd_bits(g) & rnd_bits(g) & may_be_constant,
		(enum kind)rnd_below(g, KIND_COUNT));
	set_directions(g, &t);
	for (uint32_t k = 0; k < t.n_columns; k++) {
		struct sl_table_column *c = &t.column[k];

		for (uint32_t i = 0; i < (c->constant ? 1 : n); i++) {
			if (c->column == SL_COLUMN_energy || c->column == SL_COLUMN_weight ||
				c->column == SL_COLUMN_time)
				((float *)c->data)[i] = (float)rnd_between(g, 0.001, 100);
			else if (c->column == SL_COLUMN_id)
				((uint64_t *)c->data)[i] &= UINT32_MAX; /* flags have 32 bits */
			else if (c->column == SL_COLUMN_pdg && ((int32_t *)c->data)[i] == 0)
				((int32_t *)c->data)[i] = 22; /* 0 is no code */
		}
		set_digest(c, n);
	}
	run->mcpl = facts;
	return t;
}

/*
 * A table for the format; a row in a thousand tables of few columns has more than one chunk of
 * openPMD.
 */
static struct sl_table any_table(struct rnd *g, const struct sl_format *f, uint32_t n)
{
	sl_column_set columns = rnd_one_in(g, 3) ? ALL_COLUMNS : rnd_bits(g) & ALL_COLUMNS;
	struct sl_table t;

	if (rnd_one_in(g, 4))
		columns &= rnd_bits(g) & rnd_bits(g);
	if (f == &sl_format_openpmd && rnd_one_in(g, 20)) {
		n = (131072u << rnd_below(g, 2)) + rnd_below(g, 3) - 1;
		columns = SL_BIT(rnd_below(g, SL_COLUMN_COUNT)) |
		          SL_BIT(rnd_below(g, SL_COLUMN_COUNT));
	}
	columns = columns ? columns : SL_BIT(SL_COLUMN_id); /* npz has no rows without a column */
	t = make_table(n, columns, rnd_bits(g) & rnd_bits(g), (enum kind)rnd_below(g, KIND_COUNT));
	set_floats(g, &t);
	for (uint32_t k = 0; k < t.n_columns; k++)
		set_digest(&t.column[k], n);
	return t;
}

static struct written any_written(struct rnd *g, const struct sl_format *f, uint32_t n)
{
	static const struct sl_backend *const deflate[] = {&sl_deflate_libdeflate, &sl_deflate_zlib,
		&sl_deflate_isal, &sl_deflate_cpu, &sl_deflate_cpu_fast, &sl_deflate_store};
	static char longest[300000]; /* more than an HDF5 attribute can be */
	static const char *const configs[] = {"", "a: 1\n", "b: \"\\\t\"\n"};
	struct written w = {.f = f, .run = run_facts(rnd_of(g, deflate), 1 + (int)rnd_below(g, 9))};

	memset(longest, 'x', sizeof(longest) - 1);
	w.run.config = rnd_one_in(g, 30) ? longest : rnd_of(g, configs);
	w.t = sl_format_is_mcpl(f) ? any_particles(g, n, &w.run) : any_table(g, f, n);
	return w;
}

/* --- there and back --------------------------------------------------------------------------- */

/* The bits of an item; 0 if the table lacks the column. */
static uint64_t bits_at(const struct sl_table *t, enum sl_column column, uint32_t row)
{
	const struct sl_table_column *c = sl_table_find(t, column);
	uint64_t bits = 0;

	if (c)
		memcpy(&bits,
			(const char *)c->data + (c->constant ? 0 : row * sl_facts_of(c)->bytes),
			sl_facts_of(c)->bytes);
	return bits;
}

static double float_at(const struct sl_table *t, enum sl_column column, uint32_t row)
{
	return (double)sl_float((uint32_t)bits_at(t, column, row));
}

/*
 * Numbers that are converted may be off in the last places of single precision: directions by a sum
 * of squares. Removes their columns from both tables.
 */
static void check_rounded(struct sl_table *t, struct sl_table *back, bool wide)
{
	uint32_t n = 0;

	assert_int_equal(back->n, t->n);
	assert_int_equal(back->n_columns, t->n_columns);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const enum sl_column c = back->column[k].column;
		const bool direction = c >= SL_COLUMN_u && c <= SL_COLUMN_w;
		const bool converted = c == SL_COLUMN_energy || c == SL_COLUMN_time;

		assert_int_equal(c, t->column[k].column);
		assert_int_equal(back->column[k].rounded, direction || (converted && !wide));
		for (uint32_t i = 0; back->column[k].rounded && i < t->n; i++) {
			double is = float_at(back, c, i), should = float_at(t, c, i);

			if (!(fabs(is - should) <= 4e-7 * (direction ? 1 : fabs(should))))
				fail_msg("%s of row %u: %.9g, not %.9g", sl_column_facts[c].name, i,
					is, should);
		}
		if (!back->column[k].rounded) {
			t->column[n] = t->column[k];
			back->column[n++] = back->column[k];
		}
	}
	t->n_columns = back->n_columns = n;
}

/* A row in the units of MCPL: cm, MeV, ms. */
static struct sl_mcpl_particle particle_of(const struct written *w, uint32_t row)
{
	const struct sl_mcpl_facts facts = w->run.mcpl;
	const struct sl_table *t = &w->t;
	struct sl_mcpl_particle p = {
		.energy =
			(isnan(facts.energy) ? float_at(t, SL_COLUMN_energy, row) : facts.energy) /
			1000,
		.time = float_at(t, SL_COLUMN_time, row) / 1e6,
		.weight = float_at(t, SL_COLUMN_weight, row),
		.pdg = facts.pdg ? facts.pdg : (int32_t)bits_at(t, SL_COLUMN_pdg, row)};

	for (int k = 0; k < 3; k++) {
		p.position[k] = float_at(t, (enum sl_column)(SL_COLUMN_x + k), row);
		p.direction[k] = float_at(t, (enum sl_column)(SL_COLUMN_u + k), row);
		p.polarisation[k] = float_at(t, (enum sl_column)(SL_COLUMN_pol_x + k), row);
	}
	if (facts.flags < SL_COLUMN_COUNT)
		p.flags = (uint32_t)bits_at(t, facts.flags, row);
	return p;
}

/*
 * All records, by the reader that stages/formats/mcpl.c compares with the reference. In gzip the
 * number of particles is not compressed, so that it can be changed later.
 */
static void check_list(const struct written *w, const char *file, size_t bytes)
{
	const struct sl_table_column *weight = sl_table_find(&w->t, SL_COLUMN_weight);
	const struct sl_table_column *pdg = sl_table_find(&w->t, SL_COLUMN_pdg);
	const struct sl_mcpl_facts facts = w->run.mcpl;
	struct sl_mcpl_stream s;
	bool trailing;

	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_ok(sl_mcpl_skip_head(&s));
	assert_int_equal(s.header.particles, w->t.n);
	assert_int_equal(s.header.single, !facts.wide);
	assert_int_equal(s.header.flags, facts.flags < SL_COLUMN_COUNT);
	assert_int_equal(s.header.weight != 0, weight->constant);
	assert_int_equal(s.header.pdg != 0, facts.pdg != 0 || pdg->constant);
	for (uint32_t i = 0; i < w->t.n; i++) {
		const struct sl_mcpl_particle expected = particle_of(w, i);
		struct sl_mcpl_particle p;

		assert_ok(sl_mcpl_next(&s, &p));
		expect_record(&s.header, &p, &expected);
	}
	assert_ok(sl_mcpl_end(&s, &trailing));
	assert_false(trailing);
	sl_mcpl_close(&s);
	assert_memory_equal(file + (s.gzipped ? 10 + 5 + 8 : 8), &s.header.particles, 8);
}

static void check_back(const struct written *w, const char *file, size_t bytes)
{
	struct sl_table t = w->t, back;
	struct sl_arena a;

	assert_ok(read_back(w->f, file, bytes, &a, &back));
	for (uint32_t i = 0; w->f == &sl_format_openpmd && i < t.n_columns; i++)
		assert_int_equal(back.column[i].constant, t.column[i].constant);
	if (sl_format_is_mcpl(w->f))
		check_rounded(&t, &back, w->run.mcpl.wide);
	assert_same_table(&t, &back, w->f == &sl_format_csv || w->f == &sl_format_csv_gz);
	free(a.base);
}

/*
 * The memory that is used does not matter, nor does the order of the columns of a table for
 * openPMD.
 */
PROPERTY(tables_are_read_back, 600)
{
	const struct sl_format *f = rnd_of(g, formats);
	const bool large = f == &sl_format_mcpl_gz && rnd_one_in(g, 20);
	struct written w = any_written(g, f, large ? 40000 : rnd_size(g));
	const uint32_t by = f == &sl_format_openpmd ? rnd_below(g, 40) : 0;
	struct sl_table turned = w.t;
	size_t bytes, again;
	char *file, *same;

	for (uint32_t k = 0; k < turned.n_columns; k++)
		turned.column[k] = w.t.column[(k + by) % turned.n_columns];
	file = file_of(f, &w.run, &batch, &turned, 0x00, &bytes);
	same = file_of(f, &w.run, &batch, &turned, 0xff, &again);
	assert_int_equal(bytes, again);
	assert_memory_equal(file, same, bytes);
	if (sl_format_is_mcpl(f))
		check_list(&w, file, bytes);
	check_back(&w, file, bytes);
	free(same);
	free(file);
	free_table(&w.t);
}

/* A list needs each of its columns but those that its header states. */
PROPERTY(missing_columns_are_reported, 60)
{
	struct written w =
		any_written(g, rnd_one_in(g, 2) ? &sl_format_mcpl : &sl_format_mcpl_gz, 10);
	const uint32_t gone = rnd_below(g, w.t.n_columns);
	const enum sl_column column = w.t.column[gone].column;
	struct sl_table few = w.t;
	struct packed k;
	char says[64];

	few.n_columns--;
	memmove(&few.column[gone], &few.column[gone + 1],
		(few.n_columns - gone) * sizeof(few.column[0]));
	k = lay_out_for(w.f, &w.run, &few);
	snprintf(says, sizeof(says), "has the column %s, and", sl_column_facts[column].name);
	if (!SL_HAS(SL_MCPL_POLARISATION, column))
		assert_fails(pack_into(&k, w.f, &w.run, &few), SL_USAGE, says);
	free_packed(&k);
	free_table(&w.t);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The first rows of a table. */
static struct sl_table rows_of(const struct sl_table *t, uint32_t n)
{
	struct sl_table few = *t;

	few.n = n;
	for (uint32_t k = 0; k < few.n_columns; k++)
		set_digest(&few.column[k], n);
	return few;
}

/*
 * Memory for many rows holds fewer, again and again; memory for few does not hold many, also with
 * enough scratch.
 */
PROPERTY(memory_for_many_rows_serves_few, 200)
{
	const struct sl_format *f = rnd_of(g, formats);
	struct written w = any_written(g, f, 600 + 2 * rnd_size(g));
	struct sl_table all = w.t, half = rows_of(&all, all.n / 2);
	struct packed k = lay_out_for(f, &w.run, &half);
	bool varies = false;

	for (int i = 0; i < 3; i++) {
		size_t bytes, fresh_bytes;
		char *file, *fresh;

		w.t = rows_of(&all, rnd_below(g, half.n + 1));
		assert_ok(pack_into(&k, f, &w.run, &w.t));
		file = assembled(f, &w.run, &batch, &k, &bytes);
		fresh = file_of(f, &w.run, &batch, &w.t, 0x5a, &fresh_bytes);
		assert_int_equal(bytes, fresh_bytes);
		assert_memory_equal(file, fresh, bytes);
		free(fresh);
		free(file);
	}
	if (k.scratch.size > 0) {
		k.scratch.size--;
		assert_fails(pack_into(&k, f, &w.run, &half), SL_USAGE, "scratch");
	}
	free(k.scratch.base);
	k.scratch = arena_of(f->sizes(&all, &w.run).scratch);
	for (uint32_t i = 0; i < all.n_columns; i++)
		varies = varies || !all.column[i].constant;
	if (varies)
		assert_fails(pack_into(&k, f, &w.run, &all), SL_USAGE, "laid out for");
	free_packed(&k);
	free_table(&all);
}

/* Bytes before the version number of HDF5's superblock, which HDF5 always checks. */
enum { SUPERBLOCK_VERSION = 8 };

/* --- damage ----------------------------------------------------------------------------------- */

/*
 * Reads a damaged file: an error, or with a checksum the same values, in bytes that gzip and zip
 * ignore.
 */
static void check_damaged(const struct written *w, const struct sl_table *whole, const char *file,
	size_t bytes, bool must_fail)
{
	const bool no_checksum = w->f == &sl_format_csv || w->f == &sl_format_mcpl;
	struct sl_table back;
	struct sl_arena a;
	enum sl_status s = read_back(w->f, file, bytes, &a, &back);

	if (s == SL_OK && !must_fail && !no_checksum)
		assert_same_table(whole, &back, true);
	else if (s != SL_OK || must_fail)
		assert_fails(s, SL_BAD_INPUT, w->f == &sl_format_openpmd ? "checksum line" : "");
	free(a.base);
}

PROPERTY(damage_is_found, 240)
{
	struct written w = any_written(g, rnd_of(g, formats), rnd_below(g, 40));
	struct sl_arena of_whole;
	struct sl_table whole;
	size_t bytes;
	char *file = file_of(w.f, &w.run, &batch, &w.t, 0, &bytes);

	assert_ok(read_back(w.f, file, bytes, &of_whole, &whole));
	for (int i = 0; i < 60; i++) {
		size_t cut = rnd_one_in(g, 4) ? bytes - 1 - rnd_below(g, 20) % bytes
		                              : rnd_below(g, (uint32_t)bytes);
		char *copy = exact_copy(file, cut);

		/* a table without columns is newlines, of which any number is a table */
		check_damaged(&w, &whole, copy, cut,
			w.f != &sl_format_csv || (cut == bytes - 1 && w.t.n_columns > 0));
		free(copy);
	}
	for (int i = 0; i < 150; i++) {
		char *copy = exact_copy(file, bytes);

		rnd_change(g, copy, bytes);
		check_damaged(&w, &whole, copy, bytes, w.f == &sl_format_openpmd);
		free(copy);
	}
	free(of_whole.base);
	free(file);
	free_table(&w.t);
}

/*
 * Anybody can write a valid checksum over changed bytes. Then HDF5 fails, crashes or asks for much
 * memory, which is reported as damage and does not end the process of the test. Chunks have
 * checksums too.
 */
PROPERTY(damage_below_a_valid_checksum_does_no_harm, 28)
{
	struct written w = any_written(g, &sl_format_openpmd, rnd_below(g, 300));
	struct packed k = lay_out_for(w.f, &w.run, &w.t);
	size_t bytes;
	char *file = file_of(w.f, &w.run, &batch, &w.t, 0, &bytes), *packed;

	assert_ok(pack_into(&k, w.f, &w.run, &w.t));
	packed = k.p.used > 0 ? (char *)memmem(file, bytes, k.p.bytes, k.p.used) : NULL;
	assert_true(packed || k.p.used == 0);
	for (int i = 0; i < 12; i++) {
		const bool in_chunk = packed && rnd_one_in(g, 2);
		const size_t any = rnd_below(g, (uint32_t)(bytes - SL_CRC_TRAILER_BYTES));
		char *at = in_chunk ? packed + rnd_below(g, (uint32_t)k.p.used) : file + any;
		const char bit = (char)(1 << rnd_below(g, 8));
		struct sl_table back;
		struct sl_arena a;
		enum sl_status s;

		at = i == 0 ? file + SUPERBLOCK_VERSION : at;
		*at ^= bit;
		sl_crc_trailer_add(file, bytes - SL_CRC_TRAILER_BYTES);
		limit_hdf5(true);
		s = read_back(w.f, file, bytes, &a, &back);
		limit_hdf5(false);
		if (s == SL_OK && in_chunk && i > 0)
			assert_same_table(&w.t, &back, false); /* a hint in the zlib header */
		else if (s != SL_OK || i == 0)
			assert_fails(s, SL_BAD_INPUT, "");
		free(a.base);
		*at ^= bit;
	}
	free(file);
	free_packed(&k);
	free_table(&w.t);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

PROPERTY_FILE()
