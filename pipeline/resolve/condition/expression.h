/*
 * expression.h - parses a condition on particles and appends it to a postfix program.
 *
 *	or      = and { "or" and }
 *	and     = not { "and" not }
 *	not     = "not" not | compare
 *	compare = bits { ("<" | "<=" | ">" | ">=" | "==" | "!=") bits }
 *	        | bits [ "not" ] "in" "[" bits { "," bits } "]"
 *	bits    = sum { "&" sum }
 *	sum     = product { ("+" | "-") product }
 *	product = factor { ("*" | "/") factor }
 *	factor  = "-" factor | value [ ("^" | "**") exponent ]
 *	value   = "abs" "(" sum ")" | call | "(" or ")" | number | column | fate | particle
 *	call    = function "(" sum { "," sum } ")"
 *	number  = digits [ unit [ ("^" | "**") exponent ] ] | "0x" hexadecimal digits
 *
 * Dimensions are checked: a length can only be compared with a length. A number that is compared with
 * a column of single precision is rounded to single precision first, so that == can be true. Powers
 * are whole numbers. A call in a condition becomes a derived column. The result of a bit test is a
 * number, and as a condition true unless it is 0.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_EXPRESSION_H
#define SL_PIPELINE_RESOLVE_CONDITION_EXPRESSION_H

#include "pipeline/config/reader/reader.h"
#include "stages/models/model.h"
#include "pipeline/resolve/condition/operand.h"
#include "stages/selection/condition.h"

/*
 * The steps that compute a number, for a derived column, with its unit; k is empty before the call. False
 * after adding a problem for key.
 */
bool sl_expression_compute(struct sl_reader *r, const char *key, const char *text,
	const struct sl_model *model, const struct sl_more_names *more, struct sl_condition *k,
	enum sl_unit *unit);

/*
 * Append an expression, or the test for a fate, to the program k. Several are joined by "or". False
 * after adding a problem for key; k is then unusable.
 */
bool sl_expression_add(struct sl_reader *r, const char *key, const char *text,
	const struct sl_model *model, const struct sl_more_names *more, struct sl_condition *k);
bool sl_expression_add_fate(
	struct sl_reader *r, const char *key, enum sl_fate fate, struct sl_condition *k);

#endif
