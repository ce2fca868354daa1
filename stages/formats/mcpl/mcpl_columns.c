/* mcpl_columns.c - see mcpl.h. */
#include "stages/formats/mcpl/mcpl.h"

#include "primitives/base/record_copy.h"

/* Records that are decoded together: they stay in the first-level cache from column to column. */
enum { TILE = 256 };

/* Records in memory: their layout, and the next field to decode. */
struct tile {
	const struct sl_mcpl_header *h;
	const uint8_t *at; /* the field of the first record */
	uint32_t n;
	const struct sl_mcpl_target *to;
	size_t place;      /* of the first record in the columns */
	unsigned found;    /* enum sl_mcpl_found */
	double (*v)[TILE]; /* ROWS rows of numbers */
};

/* --- numbers ---------------------------------------------------------------------------------- */

static size_t number_bytes(const struct sl_mcpl_header *h)
{
	return h->single ? sizeof(float) : sizeof(double);
}

/* Where the numbers of a column go; NULL: it is not wanted. */
static void *place_of(const struct tile *t, enum sl_column column)
{
	char *to = (char *)t->to->column[column];

	return to ? to + t->place * (t->to->wide ? sizeof(double) : sizeof(float)) : NULL;
}

/* Decodes the next number of each record. */
static void load(struct tile *t, double *v)
{
	const size_t stride = t->h->record_bytes;
	const uint8_t *at = t->at;

	if (t->h->single)
		for (uint32_t i = 0; i < t->n; i++, at += stride)
			v[i] = sl_mcpl_number(true, at);
	else
		for (uint32_t i = 0; i < t->n; i++, at += stride)
			v[i] = sl_mcpl_number(false, at);
	t->at += number_bytes(t->h);
}

/* What single precision loses of numbers; digits count for those that keep their unit. */
static unsigned find_lost(const double *v, uint32_t n, double unit, bool is_weight, bool digits)
{
	int beyond = 0, rounded = 0;

	for (uint32_t i = 0; i < n; i++) {
		beyond |= sl_mcpl_is_beyond(v[i], unit, is_weight);
		rounded |= (double)(float)v[i] != v[i];
	}
	return (beyond ? SL_MCPL_BEYOND : 0u) | (rounded && digits ? SL_MCPL_ROUNDED : 0u);
}

/* Stores numbers in another unit, in the precision of the columns. */
static void store(struct tile *t, enum sl_column column, double unit, const double *v)
{
	const bool absolute = column == SL_COLUMN_energy; /* its sign belongs to the direction */
	const bool is_direction = column >= SL_COLUMN_u && column <= SL_COLUMN_w;
	void *to = place_of(t, column);
	double *wide = (double *)to;
	float *narrow = (float *)to;

	if (!to)
		return;
	for (uint32_t i = 0; t->to->wide && i < t->n; i++)
		wide[i] = (absolute ? fabs(v[i]) : v[i]) * unit;
	for (uint32_t i = 0; !t->to->wide && i < t->n; i++)
		narrow[i] = (float)((absolute ? fabs(v[i]) : v[i]) * unit);
	if (t->to->checked)
		t->found |= find_lost(
			v, t->n, unit, column == SL_COLUMN_weight, unit == 1 && !is_direction);
}

/*
 * Numbers of single precision that keep their unit. A signalling NaN becomes quiet, as in a
 * conversion to double and back.
 */
static void copy_narrow(struct tile *t, float *to)
{
	const uint8_t *at = t->at;
	float value;

	for (uint32_t i = 0; i < t->n; i++, at += t->h->record_bytes) {
		uint32_t bits;

		memcpy(&value, at, sizeof(value));
		bits = sl_bits(value);
		to[i] = sl_float(
			(bits & ~SL_SIGN_BIT) > SL_INFINITY_BITS ? bits | SL_NAN_BITS : bits);
	}
	t->at += sizeof(value);
}

/* Numbers of a record in another unit. */
static void copy_numbers(struct tile *t, double unit, float *to)
{
	const size_t stride = t->h->record_bytes;
	const uint8_t *at = t->at;

	for (uint32_t i = 0; t->h->single && i < t->n; i++, at += stride)
		to[i] = (float)(sl_mcpl_number(true, at) * unit);
	for (uint32_t i = 0; !t->h->single && i < t->n; i++, at += stride)
		to[i] = (float)(sl_mcpl_number(false, at) * unit);
	t->at += number_bytes(t->h);
}

/* The next number of each record. */
static void copy(struct tile *t, enum sl_column column, double unit)
{
	float *to = (float *)place_of(t, column);

	if (!to) {
		t->at += number_bytes(t->h);
	} else if (t->h->single && !t->to->wide && unit == 1) {
		copy_narrow(t, to);
	} else if (t->to->wide || t->to->checked) {
		load(t, t->v[0]);
		store(t, column, unit, t->v[0]);
	} else {
		copy_numbers(t, unit, to);
	}
}

/* A number that all records have. */
static void fill(struct tile *t, enum sl_column column, double number)
{
	void *to = place_of(t, column);
	double *wide = (double *)to;
	float *narrow = (float *)to;

	for (uint32_t i = 0; to && i < t->n; i++)
		if (t->to->wide)
			wide[i] = number;
		else
			narrow[i] = (float)number;
}

/* --- directions ------------------------------------------------------------------------------- */

/*
 * Unpacks directions of version 3, with the bits of sl_mcpl_unpack(). Which component is missing
 * changes from record to record and cannot be predicted, so there are no branches: a compiler
 * vectorises these loops. It would divide and take the root once per case if they were one loop.
 * scratch: the energies with their signs, and four rows.
 */
static void unpack(uint32_t n, double *u, double *v, double *w, double scratch[][TILE])
{
	const double *signed_energy = scratch[0];
	double *inverse = scratch[1], *one = scratch[2], *other = scratch[3], *missing = scratch[4];

	for (uint32_t i = 0; i < n; i++) {
		const bool no_x = fabs(u[i]) > 1;

		inverse[i] = no_x ? u[i] : v[i];
		one[i] = no_x ? v[i] : u[i];
	}
	/* a number above 1 is 1 / z */
	for (uint32_t i = 0; i < n; i++) {
		const double stored = inverse[i], second = v[i];

		inverse[i] = 1 / stored;
		other[i] = fabs(stored) > 1 ? inverse[i] : second;
	}
	for (uint32_t i = 0; i < n; i++) {
		const double square = 1 - (one[i] * one[i] + other[i] * other[i]);

		missing[i] = copysign(sqrt(square > 0 ? square : 0), signed_energy[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const double first = u[i], second = v[i], z = inverse[i], last = missing[i];
		const bool no_x = fabs(first) > 1, no_y = !no_x & (fabs(second) > 1);

		u[i] = no_x ? last : first;
		v[i] = no_y ? last : second;
		w[i] = (no_x | no_y) ? z : last;
	}
}

/* The same for version 2. */
static void unpack_octahedron(uint32_t n, double *u, double *v, double *w)
{
	for (uint32_t i = 0; i < n; i++) {
		const double numbers[3] = {u[i], v[i], 1};
		double direction[3];

		sl_mcpl_unpack_octahedron(numbers, direction);
		u[i] = direction[0];
		v[i] = direction[1];
		w[i] = direction[2];
	}
}

/* Directions, and the energies after them, whose signs belong to the directions. */
static void copy_directions(struct tile *t)
{
	const bool single = t->h->single;
	const size_t bytes = number_bytes(t->h);
	const uint8_t *at = t->at;
	double *u = t->v[0], *v = t->v[1], *w = t->v[2], *energy = t->v[3];

	for (uint32_t i = 0; i < t->n; i++, at += t->h->record_bytes) {
		u[i] = sl_mcpl_number(single, at);
		v[i] = sl_mcpl_number(single, at + bytes);
		energy[i] = sl_mcpl_number(single, at + 2 * bytes);
	}
	t->at += 3 * bytes;
	if (t->h->version == 2)
		unpack_octahedron(t->n, u, v, w);
	else
		unpack(t->n, u, v, w, t->v + 3);
	store(t, SL_COLUMN_u, 1, u);
	store(t, SL_COLUMN_v, 1, v);
	store(t, SL_COLUMN_w, 1, w);
	store(t, SL_COLUMN_energy, SL_MCPL_KEV, energy);
}

/* --- records ---------------------------------------------------------------------------------- */

/* The next word of each record, or one that all have, cut to the type of a column. */
static void copy_words(const struct tile *t, enum sl_column column, bool stored, uint32_t common)
{
	const uint32_t item = sl_column_facts[column].bytes;
	char *to = (char *)t->to->column[column];

	for (uint32_t i = 0; to && i < t->n; i++) {
		const size_t place = t->place + i;
		uint32_t word = common;

		if (stored)
			memcpy(&word, t->at + (size_t)i * t->h->record_bytes, sizeof(word));
		if (item == sizeof(uint64_t))
			((uint64_t *)(void *)to)[place] = word;
		else if (item == sizeof(uint32_t))
			((uint32_t *)(void *)to)[place] = word;
		else
			((uint8_t *)to)[place] = (uint8_t)word;
	}
}

/* Decodes at most TILE records. */
static void decode_tile(struct tile *t)
{
	const struct sl_mcpl_header *h = t->h;

	for (int k = SL_COLUMN_pol_x; k <= SL_COLUMN_pol_z; k++)
		if (h->polarised)
			copy(t, (enum sl_column)k, 1);
		else
			fill(t, (enum sl_column)k, 0);
	copy(t, SL_COLUMN_x, 1);
	copy(t, SL_COLUMN_y, 1);
	copy(t, SL_COLUMN_z, 1);
	copy_directions(t);
	copy(t, SL_COLUMN_time, SL_MCPL_NS);
	if (h->weight == 0)
		copy(t, SL_COLUMN_weight, 1);
	else
		fill(t, SL_COLUMN_weight, h->weight);
	copy_words(t, SL_COLUMN_pdg, h->pdg == 0, (uint32_t)h->pdg);
	t->at += h->pdg == 0 ? sizeof(uint32_t) : 0;
#define FLAGS(name) copy_words(t, SL_COLUMN_##name, h->flags, 0);
	SL_MCPL_FLAG_COLUMNS(FLAGS)
#undef FLAGS
}

/* Rows of a tile; compilers can initialise them, so once for many tiles. */
enum { ROWS = 8 };

static unsigned decode(const struct sl_mcpl_header *h, const uint8_t *records, size_t n,
	const struct sl_mcpl_target *to, size_t place, double (*v)[TILE])
{
	struct tile t = {.h = h, .to = to, .v = v};

	for (size_t from = 0; from < n; from += TILE) {
		t.at = records + from * h->record_bytes;
		t.n = (uint32_t)(n - from < TILE ? n - from : TILE);
		t.place = place + from;
		decode_tile(&t);
	}
	return t.found;
}

unsigned sl_mcpl_to_columns(const struct sl_mcpl_header *h, const uint8_t *records, size_t n,
	const struct sl_mcpl_target *to, size_t place)
{
	double v[ROWS][TILE];

	return decode(h, records, n, to, place, v);
}

void sl_mcpl_to_columns_from(const struct sl_mcpl_header *h, const void *records,
	const uint32_t *place, uint32_t n, const struct sl_mcpl_target *to)
{
	uint8_t together[TILE * SL_MCPL_RECORD_MOST];
	const size_t record_bytes = h->record_bytes;
	double v[ROWS][TILE];

	for (uint32_t from = 0, some; from < n; from += some) {
		some = n - from < TILE ? n - from : (uint32_t)TILE;
		for (uint32_t k = 0; k < some; k++)
			sl_record_copy(together + k * record_bytes,
				(const uint8_t *)records + place[from + k] * record_bytes,
				record_bytes);
		decode(h, together, some, to, from, v);
	}
}
