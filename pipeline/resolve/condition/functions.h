/* functions.h - the functions of expressions: sqrt, hypot and so on. */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_FUNCTIONS_H
#define SL_PIPELINE_RESOLVE_CONDITION_FUNCTIONS_H

#include "pipeline/resolve/condition/operand.h"

/* Is word the name of a function? */
bool sl_is_function(const char *word);

/*
 * If the name of a function is next: parses the call by means of parse, which parses an argument, emits
 * its steps, and returns true. The caller has set v->from and v->begin.
 */
typedef struct sl_operand sl_parse_argument(struct sl_parser *p);
bool sl_parse_function(struct sl_parser *p, sl_parse_argument *parse, struct sl_operand *v);

#endif
