/*
 * key.h - the sort key of a survivor: quantised fields packed into one integer, first field on top.
 *
 * A float field maps its range [lo, hi] to 0 .. 2^bits - 1 in equal steps; values outside go to the
 * nearest end, NaN to 0. An integer field is the value minus lo, shifted right until the range
 * fits. A logarithmic field is an integer field of the bits of a float: for positive floats their
 * order is that of the values, and they grow as the logarithm to base 2, linear between powers of 2
 * (Mitchell, Computer multiplication and division using binary logarithms, 1962); values of at most
 * 0 become 0. An exact field is the order of all floats in 32 bits: NaN, then -inf to inf, -0 as 0.
 * A descending field inverts the bits of its part of the key. Survivors with equal keys keep their
 * id order, because all sort backends are stable.
 */
#ifndef SL_STAGES_SELECTION_KEY_H
#define SL_STAGES_SELECTION_KEY_H

#include <stdbool.h>

#include "stages/particle/math.h"
#include "stages/particle/particle.h"

enum { SL_KEY_FIELDS_MAX = 8 };

/* A field as the configuration states it. */
struct sl_key_field {
	enum sl_column column;
	uint32_t bits;    /* 1..32 for floats, 1..64 for integers */
	double lo, hi;    /* its range, in the unit of the column */
	bool logarithmic; /* floats only */
	bool exact;       /* floats only: 32 bits and no range */
	bool descending;
};

/* A field as the rule uses it. */
struct sl_key_rule {
	enum sl_column column;
	bool is_float, is_log, is_exact;
	uint32_t bits;
	uint32_t shift; /* integer field: right shift */
	uint32_t flip;  /* integer field: the sign bit of a signed column, whose inversion makes
	                         the order that of unsigned numbers; else 0 */
	float lo, scale, top; /* float field: lower end; steps per unit; 2^bits */
	uint64_t base, most;  /* integer field: smallest value; all: 2^bits - 1 */
	uint64_t reverse;     /* bits of the part that are inverted: all or none */
};

/* The quantised value of a float field. */
SL_HD uint64_t sl_key_of_float(const struct sl_key_rule *f, float value)
{
	float step = (value - f->lo) * f->scale;

	if (!(step > 0.0f))
		return 0;
	return step < f->top ? (uint32_t)step : f->most; /* top is 2^32 at most */
}

/* The quantised value of an integer field. */
SL_HD uint64_t sl_key_of_integer(const struct sl_key_rule *f, uint64_t value)
{
	uint64_t step = value < f->base ? 0 : (value - f->base) >> f->shift;

	return step < f->most ? step : f->most;
}

/* The quantised value of a logarithmic field. */
SL_HD uint64_t sl_key_of_log(const struct sl_key_rule *f, float value)
{
	return sl_key_of_integer(f, value > 0.0f ? sl_bits(value) : 0);
}

/* The value of an exact field. NaN is 0; the bits of negative floats grow downwards from -0. */
SL_HD uint64_t sl_key_of_exact(float value)
{
	uint32_t bits = sl_bits(value), size = bits & ~SL_SIGN_BIT;

	if (size > SL_INFINITY_BITS)
		return 0;
	return size == bits || size == 0 ? size | SL_SIGN_BIT : ~bits;
}

/* The part of a field of floats. */
SL_HD uint64_t sl_key_of_real(const struct sl_key_rule *f, float value)
{
	if (f->is_exact)
		return sl_key_of_exact(value);
	return f->is_log ? sl_key_of_log(f, value) : sl_key_of_float(f, value);
}

/* Appends the next field to a key. */
SL_HD uint64_t sl_key_join(const struct sl_key_rule *f, uint64_t key, uint64_t part)
{
	part ^= f->reverse;
	return f->bits < 64 ? key << f->bits | part : part;
}

/* The packed key of n fields of particle i, which has the given id. */
SL_HD uint64_t sl_key_pack(const struct sl_key_rule *field, uint32_t n, const struct sl_columns *c,
	uint64_t i, uint64_t id)
{
	uint64_t key = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct sl_key_rule *f = &field[k];
		uint64_t part = 0;

		switch (f->column) {
#define sl_key_part_float(name)    sl_key_of_real(f, c->name[i])
#define sl_key_part_int32_t(name)  sl_key_of_integer(f, (uint32_t)c->name[i] ^ f->flip)
#define sl_key_part_uint32_t(name) sl_key_of_integer(f, c->name[i])
#define sl_key_part_uint8_t(name)  sl_key_of_integer(f, c->name[i])
#define sl_key_part_uint64_t(name) sl_key_of_integer(f, id)
#define COLUMN(name, type, unit, record, component, help) \
	case SL_COLUMN_##name:                            \
		part = sl_key_part_##type(name);          \
		break;
#include "stages/particle/columns.def"
#undef COLUMN
		case SL_COLUMN_COUNT:
			break;
		}
		key = sl_key_join(f, key, part);
	}
	return key;
}

/* Makes the rule of a field. */
struct sl_key_rule sl_key_rule_make(const struct sl_key_field *field);

#endif
