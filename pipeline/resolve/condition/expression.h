/*
 * expression.h - a condition as people write it, added to a program.
 *
 *	or      = and { "or" and }
 *	and     = not { "and" not }
 *	not     = "not" not | compare
 *	compare = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
 *	sum     = product { ("+" | "-") product }
 *	product = factor { ("*" | "/") factor }
 *	factor  = "-" factor | "abs" "(" sum ")" | "(" or ")" | number [unit] | column | fate
 *
 * Units are watched over: lengths are compared with lengths. A number that a column is compared
 * with is rounded to single precision, as the column's are.
 */
#ifndef SL_PIPELINE_RESOLVE_EXPRESSION_H
#define SL_PIPELINE_RESOLVE_EXPRESSION_H

#include "pipeline/config/reader/reader.h"
#include "stages/models/model.h"
#include "stages/selection/condition.h"

/*
 * Adds the expression text, or the name of a fate, to the program k: what meets any of those that
 * were added meets all. False, with a complaint about key, when it is none of the model's.
 */
bool sl_expression_add(struct sl_reader *r, const char *key, const char *text,
	const struct sl_model *model, struct sl_condition *k);
bool sl_expression_add_fate(
	struct sl_reader *r, const char *key, enum sl_fate fate, struct sl_condition *k);

#endif
