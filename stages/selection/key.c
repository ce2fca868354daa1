/* key.c - makes the rule of a key field from its range. */
#include "stages/selection/key.h"

#include <math.h>

/*
 * Integer fields are shifted until the range fits in the bits, because a shift keeps the order and
 * needs no division in the kernel. The steps of a float field are computed in double precision and
 * then rounded to the float that the rule multiplies by.
 */
struct sl_key_rule sl_key_rule_make(const struct sl_key_field *field)
{
	struct sl_key_rule f = {.column = field->column,
		.is_float = sl_column_facts[field->column].type == SL_TYPE_F32 &&
	                    !field->logarithmic && !field->exact,
		.is_log = field->logarithmic,
		.is_exact = field->exact,
		.bits = field->bits};

	f.most = field->bits < 64 ? (UINT64_C(1) << field->bits) - 1 : UINT64_MAX;
	f.reverse = field->descending ? f.most : 0;
	if (f.is_exact)
		return f;
	if (f.is_float) {
		f.lo = (float)field->lo;
		f.top = ldexpf(1.0f, (int)field->bits);
		f.scale = (float)(ldexp(1.0, (int)field->bits) / (field->hi - field->lo));
	} else {
		double least = sl_least_whole(field->column);
		uint64_t span;

		f.flip = least < 0 ? SL_SIGN_BIT : 0;
		if (f.is_log) {
			f.base = sl_bits((float)field->lo);
			span = sl_bits((float)field->hi) - f.base;
		} else {
			f.base = (uint64_t)(field->lo - least);
			span = (uint64_t)(field->hi - field->lo);
		}
		while (span >> f.shift > f.most)
			f.shift++;
	}
	return f;
}
