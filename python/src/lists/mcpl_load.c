/*
 * mcpl_load.c - see lists.h.
 *
 * A tile of records is decoded number by number into doubles, by the operations of sl_mcpl_decode()
 * and sl_mcpl_to_particle(), and stored column by column. A gzip file is decompressed first
 * (gunzip.h).
 */
#include "python/src/lists/lists.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/mcpl/mcpl_stream.h"

enum { TILE = 256, BLOCK = 1 << 15, FIXED_BYTES = 48 /* of a header, before the weight */ };

struct loading {
	struct sl_mcpl_header h;
	bool wide; /* real numbers have 8 bytes */
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

/*
 * Numbers in the units of a column: times scale, rounded once to single precision unless wide.
 * Whether some is beyond that precision.
 */
static bool store_numbers(
	const double *v, double scale, bool is_weight, uint32_t n, bool wide, void *column)
{
	double *wide_to = (double *)column;
	float *to = (float *)column;
	int beyond = 0;

	for (uint32_t i = 0; wide && i < n; i++)
		wide_to[i] = v[i] * scale;
	if (wide)
		return false;

	for (uint32_t i = 0; i < n; i++) {
		to[i] = (float)(v[i] * scale);
		beyond |= sl_mcpl_is_beyond(v[i], scale, is_weight);
	}
	return beyond != 0;
}

/*
 * The three components of directions; the energy has the sign of the largest one, and loses it. The
 * operations are those of sl_mcpl_unpack(), without branches, so that compilers use vector
 * instructions: a packed number above 1 is 1 / w, and stands for the component that is missing.
 */
static void unpack(uint32_t n, double *u, double *v, double *w, double *energy)
{
	for (uint32_t i = 0; i < n; i++) {
		double a = u[i], b = v[i];
		bool by_u = fabs(a) > 1, by_v = !by_u & (fabs(b) > 1), by_w = !(by_u | by_v);
		double inverse = 1 / (by_u ? a : b), first = by_u ? b : a;
		double second = by_w ? b : inverse, rest = 1 - (first * first + second * second);
		double third = copysign(sqrt(rest > 0 ? rest : 0), energy[i]);

		u[i] = by_u ? third : a;
		v[i] = by_v ? third : b;
		w[i] = by_w ? third : inverse;
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

/* Bytes of an item of a column. */
static uint32_t item_bytes(const struct loading *l, enum sl_column column)
{
	return l->wide && number_of(column) >= 0 ? sizeof(double) : sl_column_facts[column].bytes;
}

/* Whether some number is beyond single precision. */
static bool store_column(const struct loading *l, const struct sl_table_column *c,
	const uint8_t *at, size_t from, uint32_t n, double v[][TILE])
{
	const struct sl_mcpl_header *h = &l->h;
	uint32_t item = item_bytes(l, c->column);
	char *to = (char *)c->data + from * item;
	int number = number_of(c->column);
	size_t words = offset_of(h, h->weight == 0 ? NUMBERS : WEIGHT);

	if (number >= 0)
		return store_numbers(v[number],
			number == ENERGY ? SL_MCPL_KEV
			: number == TIME ? SL_MCPL_NS
					 : 1,
			number == WEIGHT, n, l->wide, to);
	if (c->column == SL_COLUMN_pdg)
		store_words(h, at + words, n, item, to);
	else
		store_words(h, at + words + (h->pdg == 0 ? 4 : 0), n, item, to);
	return false;
}

/* v: one row for each number, and one for the direction along z. */
static enum sl_status load_tile(const struct loading *l, size_t from, uint32_t n, double v[][TILE])
{
	const uint8_t *at = l->records + from * l->h.record_bytes;
	struct sl_mcpl_particle p;
	bool beyond = false;

	for (int k = l->h.polarised ? POL_X : X; k < (l->h.weight == 0 ? NUMBERS : WEIGHT); k++)
		load_numbers(&l->h, at, k, n, v[k]);
	for (uint32_t i = 0; l->h.weight != 0 && i < n; i++)
		v[WEIGHT][i] = l->h.weight;
	unpack(n, v[PACKED_U], v[PACKED_V], v[NUMBERS], v[ENERGY]);
	for (uint32_t k = 0; k < l->t->n_columns; k++)
		if (!l->t->column[k].constant)
			beyond |= store_column(l, &l->t->column[k], at, from, n, v);
	for (uint32_t i = 0; beyond && i < n; i++) {
		sl_mcpl_decode(&l->h, at + i * l->h.record_bytes, &p);
		SL_TRY(sl_mcpl_check_particle(from + i, &p));
	}
	return SL_OK;
}

static enum sl_status load_block(void *ctx, unsigned thread, size_t k)
{
	const struct loading *l = (const struct loading *)ctx;
	size_t from = k * BLOCK, end = l->t->n - from < BLOCK ? l->t->n : from + BLOCK;
	double v[NUMBERS + 1][TILE]; /* compilers can initialise it: once per block */

	(void)thread;
	for (; from < end; from += TILE)
		SL_TRY(load_tile(l, from, (uint32_t)(end - from < TILE ? end - from : TILE), v));
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/*
 * Whether the records can be decoded where they are. Others are MCPL 2, files with bytes after
 * their last record, and files of this program with more digits than columns have, which must be
 * counted.
 */
static bool is_common(const struct sl_mcpl_stream *s, bool wide, const struct sl_mcpl_lost *lost)
{
	const struct sl_mcpl_header *h = &s->header;

	return !s->recovered && h->version == 3 &&
	       (s->gzipped || s->left == h->particles * h->record_bytes) &&
	       (wide || lost->digits || (h->single && (double)(float)h->weight == h->weight));
}

/* Reads the strings of the header; *bytes: of the whole header. */
static enum sl_status skip_head(struct sl_mcpl_stream *s, size_t *bytes)
{
	uint32_t length;

	*bytes = FIXED_BYTES + (s->header.weight != 0 ? sizeof(double) : 0);
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&s->header); i++) {
		SL_TRY(sl_mcpl_string_length(s, &length));
		SL_TRY(sl_mcpl_string_bytes(s, length, NULL, 0));
		*bytes += sizeof(length) + length;
	}
	return sl_mcpl_begin(s);
}

/*
 * Finds the records; *common: they can be decoded here. *gzipped: at *head of the decompressed
 * file.
 */
static enum sl_status find_records(const void *file, size_t bytes, const struct sl_mcpl_lost *lost,
	struct loading *l, bool *common, bool *gzipped, size_t *head)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = skip_head(&s, head);
	if (status == SL_OK && s.header.particles != l->t->n)
		status = sl_fail(SL_BAD_INPUT,
			"the file was changed while it was read; read it again when its "
			"writer has ended");
	l->wide = l->wide && !s.header.single;
	*common = status == SL_OK && is_common(&s, l->wide, lost);
	*gzipped = s.gzipped;
	l->h = s.header;
	l->records = s.at;
	sl_mcpl_close(&s);
	return status;
}

/* The memory of the columns, in the order of sl_mcpl_table(). */
static void lay_out(const struct loading *l, struct sl_table *t, struct sl_arena *a)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *c = &t->column[k];

		c->constant &= !l->wide || c->column != SL_COLUMN_weight;
		c->data = sl_cut_items(a, c->constant ? 1 : t->n, item_bytes(l, c->column));
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

static enum sl_status load(struct loading *l, struct sl_table *t)
{
	struct sl_py_blocks b = {
		.n = (t->n + (size_t)BLOCK - 1) / BLOCK, .ctx = l, .make = load_block};

	set_constants(&l->h, t);
	b.threads = sl_py_blocks_threads(b.n);
	return sl_py_blocks_run(&b);
}

/*
 * Decompresses a gzip file to *image. *common becomes false if the file does not have exactly the
 * records that its header counts: sl_mcpl_table() then says what is wrong.
 */
static enum sl_status decompress(
	const void *file, size_t bytes, size_t head, struct loading *l, void **image, bool *common)
{
	size_t size = head + (size_t)l->h.particles * l->h.record_bytes;
	enum sl_status s;

	SL_TRY(sl_memory_get(SL_HOST, size, image));
	s = sl_py_gunzip(file, bytes, *image, size);
	if (s == SL_BAD_INPUT)
		*common = false;
	l->records = (const uint8_t *)*image + head;
	return s == SL_BAD_INPUT ? SL_OK : s;
}

/* Makes records of MCPL 3 of those that cannot be decoded where they are, in *image. */
static enum sl_status recode(
	const void *file, size_t bytes, struct loading *l, struct sl_mcpl_lost *lost, void **image)
{
	const size_t record_bytes = l->h.record_bytes;
	const uint8_t *record;
	struct sl_mcpl_stream s;
	enum sl_status status;

	l->h.version = 3;
	SL_TRY(sl_memory_get(SL_HOST, sl_size_mul(l->t->n, record_bytes), image));
	l->records = (const uint8_t *)*image;
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_skip_head(&s);
	for (size_t i = 0; status == SL_OK && i < l->t->n; i++) {
		status = sl_mcpl_next_record(&s, &record);
		if (status == SL_OK)
			sl_mcpl_recode(
				&s.header, record, &l->h, (uint8_t *)*image + i * record_bytes);
	}
	if (status == SL_OK)
		status = sl_mcpl_end(&s, &lost->trailing);
	sl_mcpl_close(&s);
	return status;
}

/* The columns in memory of *block; common: the records are at l->records. */
static enum sl_status load_columns(const void *file, size_t bytes, bool common, struct loading *l,
	struct sl_table *t, struct sl_mcpl_lost *lost, void **block)
{
	struct sl_arena a = {0};

	lay_out(l, t, &a);
	SL_TRY(sl_memory_get(SL_HOST, a.used, block));
	a = (struct sl_arena){*block, 0, a.used};
	if (!common)
		return sl_mcpl_table(file, bytes, &a, t, lost);
	lay_out(l, t, &a);
	return load(l, t);
}

/* The records of the file as columns, in memory of *block. */
static enum sl_status load_file(const void *file, size_t bytes, bool *wide, struct sl_table *t,
	struct sl_mcpl_lost *lost, void **block)
{
	struct loading l = {.wide = *wide, .t = t};
	bool common, gzipped;
	void *image = NULL;
	enum sl_status s;
	size_t head;

	SL_TRY(find_records(file, bytes, lost, &l, &common, &gzipped, &head));
	*wide = l.wide;
	s = common && gzipped ? decompress(file, bytes, head, &l, &image, &common) : SL_OK;
	if (s == SL_OK && !common && l.wide) {
		sl_memory_give(SL_HOST, image);
		image = NULL;
		s = recode(file, bytes, &l, lost, &image);
		common = true;
	}
	if (s == SL_OK)
		s = load_columns(file, bytes, common, &l, t, lost, block);
	sl_memory_give(SL_HOST, image);
	return s;
}

enum sl_status sl_py_mcpl_load(const void *file, size_t bytes, bool *wide, struct sl_table *t,
	struct sl_mcpl_lost *lost, void **block)
{
	struct sl_arena measured = {0};
	enum sl_status s;

	*block = NULL;
	SL_TRY(sl_mcpl_table(file, bytes, &measured, t, lost));
	s = load_file(file, bytes, wide, t, lost, block);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *block);
		*block = NULL;
	}
	return s;
}
