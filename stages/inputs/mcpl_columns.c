/* mcpl_columns.c - see inputs.h. */
#include "stages/inputs/inputs.h"

#include <math.h>

#include "primitives/base/record_copy.h"
#include "stages/formats/mcpl/mcpl_record.h"

/* Records that are decoded together: they stay in the first-level cache from column to column. */
enum { AT_ONCE = 256 };

/* Records in memory: their layout, and the next field to decode. */
struct records {
	const struct sl_mcpl_header *h;
	const uint8_t *at; /* the field of the first record */
	uint32_t n;
};

/* Moves to the field after a number of the record. */
static void skip_number(struct records *r)
{
	r->at += r->h->single ? sizeof(float) : sizeof(double);
}

/*
 * Single precision as a column. A signalling NaN becomes quiet, as in a conversion to double and
 * back, which a compiler may leave out.
 */
static float quiet(float value)
{
	uint32_t bits = sl_bits(value);

	return sl_float((bits & ~SL_SIGN_BIT) > SL_INFINITY_BITS ? bits | SL_NAN_BITS : bits);
}

/* Decodes numbers that keep their unit. */
static void get_numbers(struct records *r, float *to)
{
	const size_t stride = r->h->record_bytes;
	const uint8_t *at = r->at;
	float narrow;

	for (uint32_t i = 0; r->h->single && i < r->n; i++, at += stride) {
		memcpy(&narrow, at, sizeof(narrow));
		to[i] = quiet(narrow);
	}
	for (uint32_t i = 0; !r->h->single && i < r->n; i++, at += stride)
		to[i] = (float)sl_mcpl_number(false, at);
	skip_number(r);
}

/* The same for numbers in another unit; absolute: without their sign. */
static void get_in_unit(struct records *r, double unit, bool absolute, float *to)
{
	const size_t stride = r->h->record_bytes;
	const uint8_t *at = r->at;

	for (uint32_t i = 0; i < r->n; i++, at += stride) {
		double value = sl_mcpl_number(r->h->single, at);

		to[i] = (float)((absolute ? fabs(value) : value) * unit);
	}
	skip_number(r);
}

/*
 * The two numbers of the directions of some records, and the energies, whose signs belong to them.
 */
struct packed {
	uint32_t n;
	double first[AT_ONCE], second[AT_ONCE], signed_energy[AT_ONCE];
};

/*
 * Unpacks directions of version 3, with the bits of sl_mcpl_unpack(). Which component is missing
 * changes from record to record and cannot be predicted, so there are no branches: a compiler
 * vectorises these loops. It would divide and take the root once per case if they were one loop.
 */
static void unpack(const struct packed *packed, float *u, float *v, float *w)
{
	double inverse[AT_ONCE], one[AT_ONCE], other[AT_ONCE], missing[AT_ONCE];

	for (uint32_t i = 0; i < packed->n; i++) {
		const double first = packed->first[i], second = packed->second[i];
		const bool no_x = fabs(first) > 1;

		inverse[i] = no_x ? first : second;
		one[i] = no_x ? second : first;
	}
	/* a number above 1 is 1 / z */
	for (uint32_t i = 0; i < packed->n; i++) {
		const double stored = inverse[i], second = packed->second[i];

		inverse[i] = 1 / stored;
		other[i] = fabs(stored) > 1 ? inverse[i] : second;
	}
	for (uint32_t i = 0; i < packed->n; i++) {
		const double square = 1 - (one[i] * one[i] + other[i] * other[i]);

		missing[i] = copysign(sqrt(square > 0 ? square : 0), packed->signed_energy[i]);
	}
	for (uint32_t i = 0; i < packed->n; i++) {
		const double first = packed->first[i], second = packed->second[i];
		const double z = inverse[i], last = missing[i];
		const bool no_x = fabs(first) > 1, no_y = !no_x & (fabs(second) > 1);

		u[i] = (float)(no_x ? last : first);
		v[i] = (float)(no_y ? last : second);
		w[i] = (float)((no_x | no_y) ? z : last);
	}
}

/* The same for version 2. */
static void unpack_octahedron(const struct packed *packed, float *u, float *v, float *w)
{
	for (uint32_t i = 0; i < packed->n; i++) {
		const double numbers[3] = {packed->first[i], packed->second[i], 1};
		double direction[3];

		sl_mcpl_unpack_octahedron(numbers, direction);
		u[i] = (float)direction[0];
		v[i] = (float)direction[1];
		w[i] = (float)direction[2];
	}
}

/*
 * Decodes directions; the energies after them have the signs of the components that are not stored.
 */
static void get_directions(struct records *r, float *u, float *v, float *w)
{
	const bool single = r->h->single;
	const size_t bytes = single ? sizeof(float) : sizeof(double);
	const uint8_t *at = r->at;
	struct packed packed;

	packed.n = r->n;
	for (uint32_t i = 0; i < r->n; i++, at += r->h->record_bytes) {
		packed.first[i] = sl_mcpl_number(single, at);
		packed.second[i] = sl_mcpl_number(single, at + bytes);
		packed.signed_energy[i] = sl_mcpl_number(single, at + 2 * bytes);
	}
	if (r->h->version == 2)
		unpack_octahedron(&packed, u, v, w);
	else
		unpack(&packed, u, v, w);
	skip_number(r);
	skip_number(r);
}

static void fill(float *to, uint32_t n, float value)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = value;
}

/* Decodes words of 4 bytes; to can have any type of that size. */
static void get_words(struct records *r, bool stored, uint32_t common, void *to)
{
	const size_t stride = r->h->record_bytes;
	uint32_t *words = (uint32_t *)to;

	for (uint32_t i = 0; !stored && i < r->n; i++)
		words[i] = common;
	for (uint32_t i = 0; stored && i < r->n; i++)
		memcpy(&words[i], r->at + i * stride, sizeof(*words));
	r->at += stored ? sizeof(*words) : 0;
}

/* Decodes at most AT_ONCE records. */
static void to_columns(const struct sl_mcpl_header *h, const uint8_t *records, uint32_t n,
	const struct sl_columns *c, uint32_t place)
{
	struct records r = {h, records, n};
	float *const polarisation[] = {c->pol_x + place, c->pol_y + place, c->pol_z + place};

	for (int k = 0; k < 3; k++)
		if (h->polarised)
			get_numbers(&r, polarisation[k]);
		else
			fill(polarisation[k], n, 0);
	get_numbers(&r, c->x + place);
	get_numbers(&r, c->y + place);
	get_numbers(&r, c->z + place);
	get_directions(&r, c->u + place, c->v + place, c->w + place);
	get_in_unit(&r, SL_MCPL_KEV, true, c->energy + place);
	get_in_unit(&r, SL_MCPL_NS, false, c->time + place);
	if (h->weight == 0)
		get_numbers(&r, c->weight + place);
	else
		fill(c->weight + place, n, (float)h->weight);
	get_words(&r, h->pdg == 0, (uint32_t)h->pdg, c->pdg + place);
	get_words(&r, h->flags, 0, c->userflags + place);
}

void sl_mcpl_to_columns(const struct sl_mcpl_header *h, const uint8_t *records, uint32_t n,
	const struct sl_columns *c, uint32_t place)
{
	for (uint32_t from = 0, some; from < n; from += some) {
		some = n - from < AT_ONCE ? n - from : (uint32_t)AT_ONCE;
		to_columns(h, records + (size_t)from * h->record_bytes, some, c, place + from);
	}
}

void sl_mcpl_to_columns_from(const struct sl_mcpl_header *h, const void *records,
	const uint32_t *place, uint32_t n, const struct sl_columns *c)
{
	uint8_t together[AT_ONCE * SL_MCPL_RECORD_MOST];
	const size_t record_bytes = h->record_bytes;

	for (uint32_t from = 0, some; from < n; from += some) {
		some = n - from < AT_ONCE ? n - from : (uint32_t)AT_ONCE;
		for (uint32_t k = 0; k < some; k++)
			sl_record_copy(together + k * record_bytes,
				(const uint8_t *)records + place[from + k] * record_bytes,
				record_bytes);
		to_columns(h, together, some, c, from);
	}
}
