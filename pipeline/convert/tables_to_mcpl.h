/* tables_to_mcpl.h - writes tables as one MCPL file. */
#ifndef SL_PIPELINE_CONVERT_TABLES_TO_MCPL_H
#define SL_PIPELINE_CONVERT_TABLES_TO_MCPL_H

#include "pipeline/convert/tables_scan.h"

/* Reads all inputs again and writes the file; j->all must have the survey of all inputs. */
enum sl_status sl_tables_to_mcpl(struct sl_convert_tables_job *j);

#endif
