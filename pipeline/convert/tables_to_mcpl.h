/* tables_to_mcpl.h - tables become an MCPL list. */
#ifndef SL_PIPELINE_CONVERT_TABLES_TO_MCPL_H
#define SL_PIPELINE_CONVERT_TABLES_TO_MCPL_H

#include "pipeline/convert/tables_scan.h"

/* Reads all inputs again, after sl_survey_add() has seen them, and writes the file. */
enum sl_status sl_make_list(struct sl_convert_tables_job *j);

#endif
