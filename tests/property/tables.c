/*
 * tables.c - properties of the formats of survivors: any table is read back bit by bit, the announced memory is
 * enough and no byte of it is needed before, and a damaged file gives an error or the same table.
 */
#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "primitives/primitives.h"
#include "stages/batch/recipe.h"
#include "stages/device/pack.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"
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

/* Any floats in half of the columns; a rule of an MCPL file excludes NaNs and negative energies elsewhere. */
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

/* Directions of unit length: axes and almost horizontal ones. */
static void set_directions(struct rnd *g, const struct sl_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		double d[3], length;

		for (int k = 0; k < 3; k++)
			d[k] = i < 6 ? (k == (int)i % 3 ? (i < 3 ? 1 : -1) : 0)
			             : rnd_between(g, -1, 1);
		d[2] *= i % 5 == 0 ? 1e-20 : 1;
		length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
		for (int k = 0; k < 3; k++)
			reals(t, (enum sl_column)(SL_COLUMN_u + k))[i] = (float)(d[k] / length);
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
	struct sl_mcpl_facts facts = {.wide = rnd_one_in(g, 2),
		.pdg = rnd_one_in(g, 2) ? -2112 : 0,
		.energy = rnd_one_in(g, 2) ? 0.0253 : (double)NAN,
		.flags = rnd_of(g, flags)};
	sl_column_set columns = SL_MCPL_NEEDED;
	struct sl_table t;

	columns |= isnan(facts.energy) ? SL_BIT(SL_COLUMN_energy) : 0;
	columns |= facts.pdg == 0 ? SL_BIT(SL_COLUMN_pdg) : 0;
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
			if (c->column ==
				SL_COLUMN_id) /* an id has 64 bits in a table, and 32 in a file */
				((uint64_t *)c->data)[i] &= UINT32_MAX;
			if (c->column == SL_COLUMN_pdg && ((int32_t *)c->data)[i] == 0)
				((int32_t *)c->data)[i] = 22; /* 0 is no code */
		}
		set_digest(c, n);
	}
	sl_mcpl_set_facts(run, &facts);
	return t;
}

/* A table for the format; a row in a thousand tables of few columns has more than one chunk of openPMD. */
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
	struct written w = {.f = f, .run = run_facts(rnd_of(g, deflate), 1 + (int)rnd_below(g, 9))};

	w.t = sl_format_is_mcpl(f) ? any_particles(g, n, &w.run) : any_table(g, f, n);
	return w;
}

/* --- there and back --------------------------------------------------------------------------- */

/* Inflates a gzip file by zlib; the caller frees the result. *first is the number of bytes in the first member. */
static uint8_t *inflate_members(
	const char *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members)
{
	size_t capacity = 1100 * bytes, used = 0;
	uint8_t *plain = (uint8_t *)malloc(capacity);

	for (*members = 0; bytes > 0; ++*members) {
		z_stream z = {.next_in = (z_const Bytef *)file, .avail_in = (uInt)bytes};

		z.next_out = plain + used;
		z.avail_out = (uInt)(capacity - used);
		assert_int_equal(inflateInit2(&z, 31), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		used += z.total_out;
		*first = *members == 0 ? used : *first;
		file += z.total_in;
		bytes -= z.total_in;
		inflateEnd(&z);
	}
	*plain_bytes = used;
	return plain;
}

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

/* Numbers that are converted may be off in the last places of single precision: directions by a sum of squares. */
static void check_rounded(const struct sl_table *t, const struct sl_table *back, bool wide)
{
	assert_int_equal(back->n, t->n);
	assert_int_equal(back->n_columns, t->n_columns);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &back->column[k];
		bool direction = c->column >= SL_COLUMN_u && c->column <= SL_COLUMN_w;
		bool converted = c->column == SL_COLUMN_energy || c->column == SL_COLUMN_time;

		assert_int_equal(c->column, t->column[k].column);
		assert_int_equal(c->rounded, direction || (converted && !wide));
		for (uint32_t i = 0; c->rounded && i < t->n; i++) {
			double is = float_at(back, c->column, i),
			       should = float_at(t, c->column, i);

			if (!(fabs(is - should) <= 4e-7 * (direction ? 1 : fabs(should))))
				fail_msg("%s of row %u: %.9g, not %.9g",
					sl_column_facts[c->column].name, i, is, should);
		}
	}
}

/* The columns that are not rounded. */
static struct sl_table exact_columns(struct sl_table t, const struct sl_table *back)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < back->n_columns; k++)
		if (!back->column[k].rounded)
			t.column[n++] = t.column[k];
	t.n_columns = n;
	return t;
}

/* The file is the text of csv in gzip. */
static void check_text(const struct written *w, const char *file, size_t bytes)
{
	unsigned members;
	size_t plain_bytes, text_bytes, first;
	uint8_t *plain = inflate_members(file, bytes, &plain_bytes, &first, &members);
	char *text = file_of(&sl_format_csv, &w->run, &batch, &w->t, 0, &text_bytes);

	assert_int_equal(plain_bytes, text_bytes);
	assert_memory_equal(plain, text, text_bytes);
	free(text);
	free(plain);
}

/* Expects equality after rounding to the precision of the file. */
static void expect(const char *name, double found, double want, bool wide)
{
	if (found != (wide ? want : (double)(float)want))
		fail_msg("%s is %.17g, expected %.17g", name, found, want);
}

/* A record in the units of MCPL: cm, MeV, ms. */
static void check_particle(const struct written *w, const struct sl_mcpl_particle *p, uint32_t row)
{
	const struct sl_mcpl_facts facts = sl_mcpl_facts_of(&w->run);
	const struct sl_table *t = &w->t;
	const double energy =
		isnan(facts.energy) ? float_at(t, SL_COLUMN_energy, row) : facts.energy;

	for (int k = 0; k < 3; k++) {
		expect("position", p->position[k],
			float_at(t, (enum sl_column)(SL_COLUMN_x + k), row), facts.wide);
		expect("polarisation", p->polarisation[k],
			float_at(t, (enum sl_column)(SL_COLUMN_pol_x + k), row), facts.wide);
		assert_true(fabs(p->direction[k] -
				    float_at(t, (enum sl_column)(SL_COLUMN_u + k), row)) <= 1.3e-7);
	}
	expect("energy", p->energy, energy / 1000, facts.wide);
	expect("time", p->time, float_at(t, SL_COLUMN_time, row) / 1e6, facts.wide);
	expect("weight", p->weight, float_at(t, SL_COLUMN_weight, row), facts.wide);
	assert_int_equal(p->pdg, facts.pdg ? facts.pdg : (int32_t)bits_at(t, SL_COLUMN_pdg, row));
	assert_int_equal(p->flags,
		facts.flags < SL_COLUMN_COUNT ? (uint32_t)bits_at(t, facts.flags, row) : 0);
}

/* All records, by the reader that stages/formats/mcpl.c compares with the reference. Returns the bytes of the header. */
static size_t check_list(const struct written *w, const uint8_t *file, size_t bytes)
{
	const struct sl_table_column *weight = sl_table_find(&w->t, SL_COLUMN_weight);
	const struct sl_table_column *pdg = sl_table_find(&w->t, SL_COLUMN_pdg);
	const struct sl_mcpl_facts facts = sl_mcpl_facts_of(&w->run);
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
		struct sl_mcpl_particle p;

		assert_ok(sl_mcpl_next(&s, &p));
		check_particle(w, &p, i);
	}
	assert_ok(sl_mcpl_end(&s, &trailing));
	assert_false(trailing);
	sl_mcpl_close(&s);
	return bytes - (size_t)w->t.n * s.header.record_bytes;
}

/* What a file contains, by other code than the reader of tables. */
static void check_by_hand(const struct written *w, const char *file, size_t bytes)
{
	size_t plain_bytes, first = 0, header;
	unsigned members = 0;
	uint8_t *plain;

	if (w->f == &sl_format_csv_gz)
		check_text(w, file, bytes);
	if (w->f == &sl_format_mcpl)
		check_list(w, (const uint8_t *)file, bytes);
	if (w->f != &sl_format_mcpl_gz)
		return;
	plain = inflate_members(file, bytes, &plain_bytes, &first, &members);
	header = check_list(w, plain, plain_bytes);
	assert_int_equal(first, header);
	/* the number of particles is stored uncompressed, so that it can be changed later */
	assert_memory_equal(file + 10 + 5 + 8, plain + 8, 8);
	assert_int_equal(members > 2, plain_bytes - header > 1 << 20);
	free(plain);
}

static void check_back(const struct written *w, const char *file, size_t bytes)
{
	struct sl_table back, exact;
	struct sl_arena a;

	assert_ok(read_back(w->f, file, bytes, &a, &back));
	if (sl_format_is_mcpl(w->f))
		check_rounded(&w->t, &back, sl_mcpl_facts_of(&w->run).wide);
	exact = exact_columns(w->t, &back);
	back = exact_columns(back, &back);
	assert_same_table(&exact, &back, w->f == &sl_format_csv || w->f == &sl_format_csv_gz);
	for (uint32_t i = 0; w->f == &sl_format_openpmd && i < w->t.n_columns; i++)
		assert_int_equal(back.column[i].constant, w->t.column[i].constant);
	free(a.base);
}

PROPERTY(tables_are_read_back, 600)
{
	const struct sl_format *f = rnd_of(g, formats);
	const bool large = f == &sl_format_mcpl_gz && rnd_one_in(g, 20);
	struct written w = any_written(g, f, large ? 40000 : rnd_size(g));
	size_t bytes, again;
	char *file = file_of(f, &w.run, &batch, &w.t, 0x00, &bytes);
	char *same = file_of(f, &w.run, &batch, &w.t, 0xff, &again);

	assert_int_equal(bytes, again);
	assert_memory_equal(file, same, bytes);
	check_by_hand(&w, file, bytes);
	check_back(&w, file, bytes);
	free(same);
	free(file);
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

/* Memory for many rows holds fewer, again and again; memory for few does not hold many. */
PROPERTY(memory_for_many_rows_serves_few, 200)
{
	const struct sl_format *f = rnd_of(g, formats);
	struct written w = any_written(g, f, 1 + rnd_size(g));
	struct packed k = lay_out_for(f, &w.run, &w.t);
	struct sl_table all = w.t;

	for (int i = 0; i < 3; i++) {
		size_t bytes, fresh_bytes;
		char *file, *fresh;

		w.t = rows_of(&all, rnd_below(g, all.n + 1));
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
		assert_fails(pack_into(&k, f, &w.run, &all), SL_USAGE, "scratch");
	}
	free_packed(&k);
	free_table(&all);
}

/* Memory for half of the rows is too little, also with enough scratch. */
PROPERTY(too_many_rows_are_refused, 60)
{
	const struct sl_format *f = rnd_of(g, formats);
	struct written w = any_written(g, f, 600 + 2 * rnd_size(g));
	struct sl_table half = rows_of(&w.t, w.t.n / 2);
	struct packed k = lay_out_for(f, &w.run, &half);
	bool varies = false;

	for (uint32_t i = 0; i < w.t.n_columns; i++)
		varies = varies || !w.t.column[i].constant;
	free(k.scratch.base);
	k.scratch = arena_of(f->scratch(&w.t, &w.run));
	if (varies)
		assert_fails(pack_into(&k, f, &w.run, &w.t), SL_USAGE, "laid out for");
	free_packed(&k);
	free_table(&w.t);
}

/* --- streams of a device ---------------------------------------------------------------------- */

/* The items of a column that varies, or is expanded. The caller frees them. */
static char *items_of(const struct sl_table_column *c, uint32_t n)
{
	const size_t item = sl_facts_of(c)->bytes;
	char *items = (char *)malloc(n * item + 1);

	assert_non_null(items);
	for (size_t i = 0; i < n; i++)
		memcpy(items + i * item, (const char *)c->data + (c->constant ? 0 : i * item),
			item);
	return items;
}

/* What a device would send for the table, by the specification of its encoder. */
static struct sl_device_packed packed_by_device(const struct written *w)
{
	const struct sl_device_packing *how = &w->f->packing;
	const struct sl_pack_rule rule = {.form = SL_AS_STREAMS, .packing = *how};
	struct sl_device_packed p = {.size = sl_pack_most(&rule, &w->t)};
	size_t *stream = (size_t *)calloc(sl_pack_streams(&rule, &w->t) + 1, sizeof(*stream));
	struct sl_arena scratch = arena_of((size_t)4 << 20);

	p.stream = stream;
	p.bytes = (uint8_t *)arena_of(p.size).base;
	for (uint32_t k = 0; w->t.n > 0 && k < w->t.n_columns; k++) {
		const struct sl_table_column *c = &w->t.column[k];
		const uint32_t item = sl_facts_of(c)->bytes;
		char *items = items_of(c, w->t.n);
		struct sl_exec x = {.space = SL_HOST, .scratch = scratch};
		struct sl_deflate_job job = {.in = items,
			.in_bytes = (size_t)w->t.n * item,
			.out = p.bytes,
			.out_size = p.size,
			.out_bytes = stream,
			.level = 6,
			.wrapper = how->wrapper,
			.chunk_bytes =
				(size_t)sl_chunk_items(w->t.n, item, how->chunk_bytes) * item,
			.item_bytes = how->planes ? item : 1,
			.whole_chunks = how->planes,
			.out_used = &p.used};

		if (!c->constant || how->constants) {
			assert_ok(sl_deflate(&sl_deflate_cpu, &x, &job));
			stream += sl_deflate_streams(job.in_bytes, job.chunk_bytes);
		}
		free(items);
	}
	free(scratch.base);
	return p;
}

/* The least and the greatest x, y and z. */
static void set_bounds(const struct sl_table *t, struct sl_device_packed *p)
{
	for (int axis = 0; axis < 3; axis++) {
		const struct sl_table_column *c =
			sl_table_find(t, (enum sl_column)(SL_COLUMN_x + axis));

		p->lo[axis] = INFINITY;
		p->hi[axis] = -INFINITY;
		for (uint32_t i = 0; c && i < t->n; i++) {
			float v = ((const float *)c->data)[c->constant ? 0 : i];

			p->lo[axis] = v < p->lo[axis] ? v + 0.0f : p->lo[axis];
			p->hi[axis] = v > p->hi[axis] ? v + 0.0f : p->hi[axis];
		}
	}
}

/* The file equals that of the same encoder on the host; columns that vary are not on the host. */
PROPERTY(streams_of_a_device_give_the_same_file, 200)
{
	const struct sl_format *const packs[] = {&sl_format_openpmd, &sl_format_npz};
	struct written w = any_written(g, rnd_of(g, packs), rnd_size(g));
	struct sl_device_packed sent = packed_by_device(&w);
	size_t bytes, expected_bytes;
	struct sl_table bare = w.t;
	char *file, *expected;
	struct packed k;

	w.run.deflate = &sl_deflate_cpu;
	w.run.level = 6;
	expected = file_of(w.f, &w.run, &batch, &w.t, 0, &expected_bytes);
	w.run.form = SL_AS_STREAMS;
	set_bounds(&w.t, &sent);
	for (uint32_t i = 0; i < w.t.n_columns; i++)
		bare.column[i].data = w.t.column[i].constant ? w.t.column[i].data : NULL;
	k = lay_out_for(w.f, &w.run, &w.t);
	assert_ok(w.f->take(&(struct sl_exec){.space = SL_HOST, .scratch = k.scratch}, &w.run,
		&bare, &sent, &k.p));
	if (w.f == &sl_format_openpmd)
		assert_ptr_equal(k.p.bytes, sent.bytes);
	file = assembled(w.f, &w.run, &batch, &k, &bytes);
	assert_int_equal(bytes, expected_bytes);
	assert_memory_equal(file, expected, bytes);
	free(file);
	free(expected);
	free(sent.stream);
	free(sent.bytes);
	free_packed(&k);
	free_table(&w.t);
}

/* Bytes before the version number of HDF5's superblock, which HDF5 always checks. */
enum { SUPERBLOCK_VERSION = 8 };

/* --- damage ----------------------------------------------------------------------------------- */

/* Reads a damaged file: an error, or with a checksum the same values, in bytes that gzip and zip ignore. */
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
		char *copy = (char *)malloc(cut + (cut == 0));

		memcpy(copy, file, cut);
		check_damaged(&w, &whole, copy, cut, w.f != &sl_format_csv || cut == bytes - 1);
		free(copy);
	}
	for (int i = 0; i < 150; i++) {
		size_t at = rnd_below(g, (uint32_t)bytes);
		char was = file[at];

		file[at] =
			rnd_one_in(g, 4) ? (char)rnd_bits(g) : (char)(was ^ (1 << rnd_below(g, 8)));
		if (file[at] != was)
			check_damaged(&w, &whole, file, bytes, w.f == &sl_format_openpmd);
		file[at] = was;
	}
	free(of_whole.base);
	free(file);
	free_table(&w.t);
}

/*
 * Anybody can write a valid checksum over changed bytes. Then HDF5 fails, crashes or asks for much memory, which is
 * reported as damage and does not end the process of the test. Chunks have checksums too.
 */
PROPERTY(damage_below_a_valid_checksum_does_no_harm, 42)
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
