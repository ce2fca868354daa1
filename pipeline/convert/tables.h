/* tables.h - tables, or lists read as tables, become one list or one table. */
#ifndef SL_PIPELINE_CONVERT_TABLES_H
#define SL_PIPELINE_CONVERT_TABLES_H

#include "pipeline/convert/context.h"

/* of_lists: the inputs are MCPL lists. Otherwise they are tables of any other format. */
enum sl_status sl_convert_tables(struct sl_converting *c, bool of_lists);

#endif
