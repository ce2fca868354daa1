/* tables_to_table.h - tables become one table. */
#ifndef SL_PIPELINE_CONVERT_TABLES_TO_TABLE_H
#define SL_PIPELINE_CONVERT_TABLES_TO_TABLE_H

#include "pipeline/convert/tables_scan.h"

/* Reads all inputs again, after sl_survey_add() has seen them, and writes the file. */
enum sl_status sl_make_table(struct sl_convert_tables_job *j);

#endif
