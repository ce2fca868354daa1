/*
 * format_check.h - tables of survivors for the tests of formats, and the round trip of a table
 * through a format.
 *
 * Each block comes from malloc with its exact size, so that AddressSanitizer detects overruns.
 */
#ifndef SL_TESTS_STAGES_FORMATS_FORMAT_CHECK_H
#define SL_TESTS_STAGES_FORMATS_FORMAT_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/particle/digest.h"
#include "stages/formats/common/format.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"

/* The kinds of values of a column. */
enum kind { RANDOM, SORTED, SAME, HARD, KIND_COUNT };

static inline uint64_t mixed(uint64_t i)
{
	return sl_digest_mix(i, 0x5eed);
}

/* A float of the given kind for row i. */
static inline float a_float(enum kind kind, uint64_t i)
{
	static const float hard[] = {0.0f, -0.0f, 1e-45f, -1e-45f, 1.17549435e-38f, 1.1754942e-38f,
		3.4028235e38f, -3.4028235e38f, 1.0f, 16777216.0f, 0.1f, 8388609.0f, 1e10f, 5e-5f};

	switch (kind) {
	case SORTED:
		return (float)i * 0.25f;
	case SAME:
		return 2.5f;
	case HARD:
		return hard[i % (sizeof(hard) / sizeof(*hard))];
	default:
		return (float)(mixed(i) >> 40) * 0x1p-23f - 1.0f;
	}
}

static inline uint64_t a_count(enum kind kind, uint64_t i)
{
	switch (kind) {
	case SORTED:
		return i * 3;
	case SAME:
		return 7;
	case HARD:
		return i % 2 ? UINT64_MAX : 0;
	default:
		return mixed(i);
	}
}

static inline void set_item(struct sl_table_column *c, enum kind kind, uint64_t i)
{
	switch (sl_column_facts[c->column].type) {
	case SL_TYPE_F32:
		((float *)c->data)[i] = a_float(kind, i + c->column);
		break;
	case SL_TYPE_U32:
		((uint32_t *)c->data)[i] = (uint32_t)a_count(kind, i + c->column);
		break;
	case SL_TYPE_U64:
		((uint64_t *)c->data)[i] = a_count(kind, i + c->column);
		break;
	case SL_TYPE_U8:
		((uint8_t *)c->data)[i] = (uint8_t)a_count(kind, i + c->column);
		break;
	case SL_TYPE_I32:
		((int32_t *)c->data)[i] = (int32_t)(uint32_t)a_count(kind, i + c->column);
		break;
	}
}

/* Computes the digest of a column independently of the library. */
static inline uint64_t digest_of(const struct sl_table_column *c, uint32_t n)
{
	size_t bytes = sl_column_facts[c->column].bytes;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = 0;

		memcpy(&bits, (const char *)c->data + (c->constant ? 0 : i * bytes), bytes);
		sum += sl_digest_item(sl_digest_weight(i), bits);
	}
	return sum;
}

/* Makes a table of n rows with these columns; columns in constants have one value. */
static inline struct sl_table make_table(
	uint32_t n, sl_column_set columns, sl_column_set constants, enum kind kind)
{
	struct sl_table t = {.n = n};

	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		struct sl_table_column *c = &t.column[t.n_columns];
		uint32_t items = SL_HAS(constants, i) ? 1 : n;

		if (!SL_HAS(columns, i))
			continue;
		t.n_columns++;
		if (sl_is_named_column(i))
			snprintf(t.label[i - SL_COLUMN_derived_1].name, SL_COLUMN_NAME_BYTES, "%s",
				sl_column_facts[i].name);
		c->column = (enum sl_column)i;
		c->constant = SL_HAS(constants, i);
		c->data = malloc((size_t)items * sl_column_facts[i].bytes + (items == 0));
		assert_non_null(c->data);
		for (uint32_t row = 0; row < items; row++)
			set_item(c, kind, row);
		c->digest = digest_of(c, n);
	}
	return t;
}

static inline void free_table(struct sl_table *t)
{
	for (uint32_t i = 0; i < t->n_columns; i++)
		free(t->column[i].data);
}

static const sl_column_set all_columns = SL_BIT(SL_COLUMN_COUNT) - 1;

/* Facts of a run for tests. */
static inline struct sl_file_facts run_facts(const struct sl_backend *deflate, int level)
{
	return (struct sl_file_facts){.run_name = "demo",
		.species = "photons",
		.software_version = "1.2.3",
		.config = "run: {name: demo, seed: 42}\n",
		.seed = 42,
		.deflate = deflate,
		.level = level};
}

/* Returns an arena of exactly this many bytes; the caller frees its base. */
static inline struct sl_arena arena_of(size_t bytes)
{
	size_t whole = sl_round_up(bytes ? bytes : 1, SL_ALIGN);
	struct sl_arena a = {.base = aligned_alloc(SL_ALIGN, whole), .size = bytes};

	assert_non_null(a.base);
	memset(a.base, 0xa5, whole);
	return a;
}

/* A packed batch and its memory. */
struct packed {
	struct sl_packed p;
	struct sl_arena arena, scratch;
};

/* Memory laid out for most. */
static inline struct packed lay_out_for(
	const struct sl_format *f, const struct sl_file_facts *run, const struct sl_table *most)
{
	struct sl_arena measure = {0};
	struct packed k;

	f->lay_out(&measure, most, run, &k.p);
	k.arena = arena_of(measure.used);
	k.scratch = arena_of(f->scratch(most, run));
	f->lay_out(&k.arena, most, run, &k.p);
	assert_true(sl_fits(&k.arena));
	return k;
}

static inline void free_packed(struct packed *k)
{
	free(k->arena.base);
	free(k->scratch.base);
}

static inline enum sl_status pack_into(struct packed *k, const struct sl_format *f,
	const struct sl_file_facts *run, const struct sl_table *t)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = k->scratch};

	return f->pack(&x, run, t, &k->p);
}

/* Joins the pieces to a file, which the caller frees, and checks its checksum. */
static inline char *joined(const struct sl_pieces *pieces, size_t *bytes)
{
	char *file = (char *)malloc(pieces->bytes);

	assert_non_null(file);
	*bytes = pieces->bytes;
	sl_pieces_join(pieces, file);
	assert_int_equal(sl_crc32(file, *bytes), pieces->crc);
	return file;
}

/* Returns the file of a table, which the caller frees. Image and scratch are first filled with fill. */
static inline char *file_of(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_table *t, int fill, size_t *bytes)
{
	struct packed k = lay_out_for(f, run, t);
	struct sl_arena image = arena_of(f->image_bytes(t, run));
	struct sl_pieces pieces;
	char *file;

	memset(image.base, fill, image.size);
	memset(k.scratch.base, fill, k.scratch.size);
	assert_ok(pack_into(&k, f, run, t));
	assert_ok(sl_format_check_written(&k.p.written, t->n));
	assert_ok(f->assemble(run, batch, &k.p, image.base, image.size, &pieces));
	file = joined(&pieces, bytes);
	assert_true(*bytes <= image.size + k.p.size);
	free(image.base);
	free_packed(&k);
	return file;
}

/* Reads a file: measures, then cuts *a to what was measured. */
static inline enum sl_status read_back(const struct sl_format *f, const void *file, size_t bytes,
	struct sl_arena *a, struct sl_table *t)
{
	struct sl_arena measure = {0};

	a->base = NULL;
	SL_TRY(f->read(file, bytes, &measure, t));
	*a = arena_of(measure.used);
	return f->read(file, bytes, a, t);
}

/* Returns whether two columns have the same bits in all rows. */
static inline bool same_values(
	const struct sl_table_column *a, const struct sl_table_column *b, uint32_t n)
{
	size_t bytes = sl_column_facts[a->column].bytes;

	for (size_t i = 0; i < n; i++)
		if (memcmp((const char *)a->data + (a->constant ? 0 : i * bytes),
			    (const char *)b->data + (b->constant ? 0 : i * bytes), bytes) != 0)
			return false;
	return true;
}

static inline void assert_same_table(const struct sl_table *a, const struct sl_table *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_columns, b->n_columns);
	for (uint32_t i = 0; i < a->n_columns; i++) {
		/* a reader numbers the named columns that it finds */
		if (!sl_is_named_column((int)a->column[i].column))
			assert_int_equal(a->column[i].column, b->column[i].column);
		assert_string_equal(sl_table_name(a, i), sl_table_name(b, i));
		if (!same_values(&a->column[i], &b->column[i], a->n))
			fail_msg("column %s differs from that of the expected table",
				sl_column_facts[a->column[i].column].name);
	}
}

/* Truncated files are refused: cut at each of the first bytes, then at equal steps. */
static inline void assert_cuts_are_refused(
	const struct sl_format *f, const char *file, size_t bytes, uint32_t step)
{
	enum { FIRST = 3000 };

	for (size_t cut = 0; cut < bytes; cut += sl_sampling_step(cut < FIRST ? 1 : step)) {
		char *copy = (char *)malloc(cut + (cut == 0));
		struct sl_arena a = {0};
		struct sl_table back;

		memcpy(copy, file, cut);
		assert_int_equal(f->read(copy, cut, &a, &back), SL_BAD_INPUT);
		free(copy);
	}
}

#endif
