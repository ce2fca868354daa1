/*
 * number.h - reads numbers of an expression: decimal with a unit, or hexadecimal; and exponents.
 *
 *	5   5 cm   5 cm^2   5 /cm   0x1f
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_NUMBER_H
#define SL_PIPELINE_RESOLVE_CONDITION_NUMBER_H

#include "pipeline/resolve/condition/operand.h"

enum { SL_EXPONENT_MAX = 16 };

/* Stores a literal in the program and emits the step that pushes it. Returns its index. */
int sl_emit_number(struct sl_parser *p, const char *from, double number);

/*
 * If a number is next: reads it with its unit, emits the step that pushes it, and returns true. The
 * caller has set v->from and v->begin.
 */
bool sl_parse_number(struct sl_parser *p, struct sl_operand *v);

/*
 * If ^ or ** is next: reads it and the exponent after it, from -SL_EXPONENT_MAX to SL_EXPONENT_MAX but
 * not 0, and returns true. After a failure *exponent is 1.
 */
bool sl_parse_exponent(struct sl_parser *p, int *exponent);

#endif
