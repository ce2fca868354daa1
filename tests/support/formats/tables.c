/* tables.c - see tables.h. */
#include "tests/support/formats/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "primitives/files/files.h"
#include "stages/particle/digest.h"

/* A random number that depends on i only. */
static uint64_t mixed(uint64_t i)
{
	return sl_digest_mix(i, 0x5eed);
}

static float a_float(enum kind kind, uint64_t i)
{
	static const float hard[] = {0.0f, -0.0f, 1e-45f, -1e-45f, 1.17549435e-38f, 1.1754942e-38f,
		3.4028235e38f, -3.4028235e38f, 1.0f, 16777216.0f, 0.1f, 8388609.0f, 1e10f, 5e-5f};
	const float values[KIND_COUNT] = {(float)(mixed(i) >> 40) * 0x1p-23f - 1.0f,
		(float)i * 0.25f, 2.5f, hard[i % (sizeof(hard) / sizeof(*hard))],
		hard[10 + mixed(i) % 3]};

	return values[kind];
}

/* The bits of an item; integers of fewer than 64 bits are the first bytes. */
static uint64_t item_of(enum sl_column_type type, enum kind kind, uint64_t i)
{
	const uint64_t counts[KIND_COUNT] = {
		mixed(i), i * 3, 7, i % 2 ? UINT64_MAX : 0, mixed(i) % 3};
	uint64_t bits = 0;
	float v = a_float(kind, i);

	if (type != SL_TYPE_F32)
		return counts[kind];
	memcpy(&bits, &v, sizeof(v));
	return bits;
}

static const char *item_at(const struct sl_table_column *c, uint64_t i)
{
	return (const char *)c->data + (c->constant ? 0 : i * sl_facts_of(c)->bytes);
}

/* Independent of the library. */
void set_digest(struct sl_table_column *c, uint32_t n)
{
	c->digest = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = 0;

		memcpy(&bits, item_at(c, i), sl_facts_of(c)->bytes);
		c->digest += sl_digest_item(sl_digest_weight(i), bits);
	}
}

struct sl_table make_table(
	uint32_t n, sl_column_set columns, sl_column_set constants, enum kind kind)
{
	struct sl_table t = {.n = n};

	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		struct sl_table_column *c = &t.column[t.n_columns];
		const uint32_t items = SL_HAS(constants, i) ? 1 : n,
			       bytes = sl_column_facts[i].bytes;

		if (!SL_HAS(columns, i))
			continue;
		t.n_columns++;
		if (sl_is_named_column(i))
			snprintf(t.label[i - SL_COLUMN_derived_1].name, SL_COLUMN_NAME_BYTES, "%s",
				sl_column_facts[i].name);
		c->column = (enum sl_column)i;
		c->constant = SL_HAS(constants, i);
		c->data = malloc((size_t)items * bytes + (items == 0));
		assert_non_null(c->data);
		for (uint32_t row = 0; row < items; row++) {
			uint64_t bits = item_of(sl_column_facts[i].type, kind, row + (uint64_t)i);

			memcpy((char *)c->data + (size_t)row * bytes, &bits, bytes);
		}
		set_digest(c, n);
	}
	return t;
}

void free_table(struct sl_table *t)
{
	for (uint32_t i = 0; i < t->n_columns; i++)
		free(t->column[i].data);
}

/* Whether both items have the same bits; any_nan: or are NaNs of single precision. */
static bool is_same(const struct sl_table_column *c, const char *a, const char *b, bool any_nan)
{
	float x, y;

	if (memcmp(a, b, sl_facts_of(c)->bytes) == 0)
		return true;
	if (!any_nan || sl_facts_of(c)->type != SL_TYPE_F32)
		return false;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return isnan(x) && isnan(y);
}

void assert_same_table(const struct sl_table *a, const struct sl_table *b, bool any_nan)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_columns, b->n_columns);
	for (uint32_t k = 0; k < a->n_columns; k++) {
		const struct sl_table_column *c = &a->column[k], *d = &b->column[k];

		/* a reader numbers the named columns that it finds */
		if (!sl_is_named_column((int)c->column))
			assert_int_equal(c->column, d->column);
		assert_string_equal(sl_table_name(a, k), sl_table_name(b, k));
		for (uint32_t i = 0; i < a->n; i++)
			if (!is_same(c, item_at(c, i), item_at(d, i), any_nan))
				fail_msg("row %u of column %s differs", i, sl_table_name(a, k));
	}
}

struct sl_file_facts run_facts(const struct sl_backend *deflate, int level)
{
	return (struct sl_file_facts){.run_name = "demo",
		.species = "photons",
		.software_version = "1.2.3",
		.config = "run: {name: demo, seed: 42}\n",
		.seed = 42,
		.deflate = deflate,
		.level = level};
}

/* --- files ------------------------------------------------------------------------------------ */

struct sl_arena arena_of(size_t bytes)
{
	size_t whole = sl_round_up(bytes ? bytes : 1, SL_ALIGN);
	struct sl_arena a = {.base = aligned_alloc(SL_ALIGN, whole), .size = bytes};

	assert_non_null(a.base);
	memset(a.base, 0xa5, whole);
	return a;
}

struct packed lay_out_for(
	const struct sl_format *f, const struct sl_file_facts *run, const struct sl_table *most)
{
	struct sl_arena measure = {0};
	struct packed k;

	sl_format_lay_out(f, &measure, most, run, &k.p);
	k.arena = arena_of(measure.used);
	k.scratch = arena_of(f->sizes(most, run).scratch);
	sl_format_lay_out(f, &k.arena, most, run, &k.p);
	assert_true(sl_fits(&k.arena));
	return k;
}

void free_packed(struct packed *k)
{
	free(k->arena.base);
	free(k->scratch.base);
}

enum sl_status pack_into(struct packed *k, const struct sl_format *f,
	const struct sl_file_facts *run, const struct sl_table *t)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = k->scratch};

	return sl_format_pack(f, &x, run, t, NULL, &k->p);
}

char *assembled(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct packed *k, size_t *bytes)
{
	struct sl_arena image = arena_of(f->sizes(&k->p.table, run).image);
	struct sl_pieces pieces;
	char *file;

	assert_ok(sl_format_check_written(&k->p.written, k->p.table.n));
	if (image.size > 0)
		assert_fails(sl_format_assemble(
				     f, run, batch, &k->p, image.base, image.size - 1, &pieces),
			SL_USAGE, "image");
	assert_ok(sl_format_assemble(f, run, batch, &k->p, image.base, image.size, &pieces));
	*bytes = pieces.bytes;
	file = (char *)malloc(*bytes + (*bytes == 0));
	assert_non_null(file);
	sl_pieces_join(&pieces, file);
	assert_int_equal(sl_crc32(file, *bytes), pieces.crc);
	free(image.base);
	return file;
}

char *file_of(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_table *t, int fill, size_t *bytes)
{
	struct packed k = lay_out_for(f, run, t);
	char *file;

	memset(k.scratch.base, fill, k.scratch.size);
	if (k.arena.size > 0)
		memset(k.arena.base, fill, k.arena.size);
	k.arena.used = 0;
	sl_format_lay_out(f, &k.arena, t, run, &k.p);
	assert_ok(pack_into(&k, f, run, t));
	file = assembled(f, run, batch, &k, bytes);
	assert_true(*bytes <= f->sizes(t, run).image + k.p.used);
	free_packed(&k);
	return file;
}

enum sl_status read_back(const struct sl_format *f, const void *file, size_t bytes,
	struct sl_arena *a, struct sl_table *t)
{
	struct sl_arena measure = {0};

	a->base = NULL;
	*t = (struct sl_table){0};
	SL_TRY(f->read(file, bytes, &measure, t));
	*a = arena_of(measure.used);
	return f->read(file, bytes, a, t);
}

/*
 * A child begins with no processor time and inherits the limit, which this process must not reach.
 */
void limit_hdf5(bool on)
{
	struct rlimit cpu;

	assert_int_equal(getrlimit(RLIMIT_CPU, &cpu), 0);
	cpu.rlim_cur = on ? (rlim_t)(clock() / CLOCKS_PER_SEC) + 3 : cpu.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_CPU, &cpu), 0);
}
