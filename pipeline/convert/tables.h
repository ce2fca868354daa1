/* tables.h - joins tables, or MCPL files read as tables, into one MCPL file or one table. */
#ifndef SL_PIPELINE_CONVERT_TABLES_H
#define SL_PIPELINE_CONVERT_TABLES_H

#include "pipeline/convert/common/context.h"

/* Converts all inputs of c. of_lists: they are MCPL files; otherwise tables of any other format. */
enum sl_status sl_convert_tables(struct sl_conversion *c, bool of_lists);

#endif
