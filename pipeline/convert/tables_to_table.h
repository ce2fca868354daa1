/* tables_to_table.h - joins tables into one table. */
#ifndef SL_PIPELINE_CONVERT_TABLES_TO_TABLE_H
#define SL_PIPELINE_CONVERT_TABLES_TO_TABLE_H

#include "pipeline/convert/tables_scan.h"

/* Reads all inputs again and writes the file; j->all must have the survey of all inputs. */
enum sl_status sl_tables_to_table(struct sl_convert_tables_job *j);

#endif
