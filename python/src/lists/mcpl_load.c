/*
 * mcpl_load.c - see mcpl_load.h.
 *
 * A tile of records is decoded number by number into doubles, by the operations of sl_mcpl_decode() and
 * sl_mcpl_to_particle(), and stored column by column.
 */
#include "python/src/lists/mcpl_load.h"

#include <string.h>

#include "python/src/lists/blocks.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/mcpl/mcpl_stream.h"

enum { TILE = 256, BLOCK = 1 << 15 };

struct loading {
	struct sl_mcpl_header h;
	const uint8_t *records;
	const struct sl_table *t;
};

/* --- one column of a tile --------------------------------------------------------------------- */

/* The numbers of a record, in their order; the words of PDG code and user flags follow. */
enum number { POL_X, POL_Y, POL_Z, X, Y, Z, PACKED_U, PACKED_V, ENERGY, TIME, WEIGHT, NUMBERS };

/* The offset of a number in a record. Every record has those from X to TIME. */
static size_t offset_of(const struct sl_mcpl_header *h, int number)
{
	return (size_t)(number - (h->polarised ? 0 : X)) * (h->single ? 4u : 8u);
}

static void load_numbers(
	const struct sl_mcpl_header *h, const uint8_t *at, int number, uint32_t n, double *to)
{
	const size_t bytes = h->record_bytes;

	at += offset_of(h, number);
	if (h->single)
		for (uint32_t i = 0; i < n; i++)
			to[i] = sl_mcpl_number(true, at + i * bytes);
	else
		for (uint32_t i = 0; i < n; i++)
			to[i] = sl_mcpl_number(false, at + i * bytes);
}

/* The user flags as the value of a column, cut to its type; the words are little-endian. */
static void store_words(
	const struct sl_mcpl_header *h, const uint8_t *at, uint32_t n, uint32_t item, char *to)
{
	for (uint32_t i = 0; i < n; i++, at += h->record_bytes, to += item) {
		uint64_t word = 0;

		memcpy(&word, at, sizeof(uint32_t));
		memcpy(to, &word, item);
	}
}

/* Numbers in the units of a column: times scale, rounded once. */
static void store_numbers(const double *v, double scale, uint32_t n, float *to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (float)(v[i] * scale);
}

/* The three components of directions; the energy has the sign of the largest one, and loses it. */
static void unpack(uint32_t n, double *u, double *v, double *w, double *energy)
{
	for (uint32_t i = 0; i < n; i++) {
		const double packed[3] = {u[i], v[i], copysign(1, energy[i])};
		double direction[3];

		sl_mcpl_unpack(packed, direction);
		u[i] = direction[0];
		v[i] = direction[1];
		w[i] = direction[2];
		energy[i] = fabs(energy[i]);
	}
}

/* --- tiles ------------------------------------------------------------------------------------ */

/* The number that a column is, or NUMBERS; the direction along z follows the numbers. */
static int number_of(enum sl_column column)
{
	switch (column) {
#define NUMBER(column, number)   \
	case SL_COLUMN_##column: \
		return number;
		NUMBER(pol_x, POL_X)
		NUMBER(pol_y, POL_Y)
		NUMBER(pol_z, POL_Z)
		NUMBER(x, X)
		NUMBER(y, Y)
		NUMBER(z, Z)
		NUMBER(u, PACKED_U)
		NUMBER(v, PACKED_V)
		NUMBER(w, NUMBERS)
		NUMBER(energy, ENERGY)
		NUMBER(time, TIME)
		NUMBER(weight, WEIGHT)
#undef NUMBER
	default:
		return -1;
	}
}

static void store_column(const struct loading *l, const struct sl_table_column *c,
	const uint8_t *at, size_t from, uint32_t n, double v[][TILE])
{
	const struct sl_mcpl_header *h = &l->h;
	uint32_t item = sl_column_facts[c->column].bytes;
	char *to = (char *)c->data + from * item;
	int number = number_of(c->column);
	size_t words = offset_of(h, h->weight == 0 ? NUMBERS : WEIGHT);

	if (number >= 0)
		store_numbers(v[number],
			number == ENERGY ? SL_MCPL_KEV
			: number == TIME ? SL_MCPL_NS
					 : 1,
			n, (float *)(void *)to);
	else if (c->column == SL_COLUMN_pdg)
		store_words(h, at + words, n, item, to);
	else
		store_words(h, at + words + (h->pdg == 0 ? 4 : 0), n, item, to);
}

/* v: one row for each number, and one for the direction along z. */
static void load_tile(const struct loading *l, size_t from, uint32_t n, double v[][TILE])
{
	const uint8_t *at = l->records + from * l->h.record_bytes;

	for (int k = l->h.polarised ? POL_X : X; k < (l->h.weight == 0 ? NUMBERS : WEIGHT); k++)
		load_numbers(&l->h, at, k, n, v[k]);
	unpack(n, v[PACKED_U], v[PACKED_V], v[NUMBERS], v[ENERGY]);
	for (uint32_t k = 0; k < l->t->n_columns; k++)
		if (!l->t->column[k].constant)
			store_column(l, &l->t->column[k], at, from, n, v);
}

static enum sl_status load_block(void *ctx, unsigned thread, size_t k)
{
	const struct loading *l = (const struct loading *)ctx;
	size_t from = k * BLOCK, end = l->t->n - from < BLOCK ? l->t->n : from + BLOCK;
	double v[NUMBERS + 1][TILE]; /* compilers can initialise it: once per block */

	(void)thread;
	for (; from < end; from += TILE)
		load_tile(l, from, (uint32_t)(end - from < TILE ? end - from : TILE), v);
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/*
 * Whether the records can be decoded here. Others are MCPL 2, files with bytes after their last record,
 * and files of this program with more digits than columns have, which must be counted.
 */
static bool is_common(const struct sl_mcpl_stream *s, const struct sl_mcpl_lost *lost)
{
	const struct sl_mcpl_header *h = &s->header;

	return !s->gzipped && !s->recovered && h->version == 3 &&
	       s->left == h->particles * h->record_bytes &&
	       (lost->digits || (h->single && (double)(float)h->weight == h->weight));
}

/* Finds the records; *common: they can be decoded here. */
static enum sl_status find_records(const void *file, size_t bytes, const struct sl_mcpl_lost *lost,
	struct loading *l, bool *common)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_skip_head(&s);
	*common = status == SL_OK && is_common(&s, lost);
	l->h = s.header;
	l->records = s.at;
	sl_mcpl_close(&s);
	return status;
}

/* The memory of the columns, in the order of sl_mcpl_table(). */
static void lay_out(struct sl_table *t, struct sl_arena *a)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *c = &t->column[k];

		c->data = sl_cut_items(a, c->constant ? 1 : t->n, sl_column_facts[c->column].bytes);
	}
}

/* The values that the header states once. */
static void set_constants(const struct sl_mcpl_header *h, struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *c = &t->column[k];

		if (c->constant && c->column == SL_COLUMN_weight)
			*(float *)c->data = (float)h->weight;
		else if (c->constant)
			*(int32_t *)c->data = h->pdg;
	}
}

static enum sl_status load(struct loading *l, struct sl_table *t, struct sl_arena *a)
{
	struct sl_py_blocks b = {
		.n = (t->n + (size_t)BLOCK - 1) / BLOCK, .ctx = l, .make = load_block};

	l->t = t;
	lay_out(t, a);
	set_constants(&l->h, t);
	b.threads = sl_py_blocks_threads(b.n);
	return sl_py_blocks_run(&b);
}

enum sl_status sl_py_mcpl_load(
	const void *file, size_t bytes, struct sl_table *t, struct sl_mcpl_lost *lost, void **block)
{
	struct sl_arena a = {0};
	struct loading l;
	enum sl_status s;
	bool common;

	*block = NULL;
	SL_TRY(sl_mcpl_table(file, bytes, &a, t, lost));
	SL_TRY(find_records(file, bytes, lost, &l, &common));
	SL_TRY(sl_memory_get(SL_HOST, a.used, block));
	a = (struct sl_arena){*block, 0, a.used};
	s = common ? load(&l, t, &a) : sl_mcpl_table(file, bytes, &a, t, lost);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *block);
		*block = NULL;
	}
	return s;
}
