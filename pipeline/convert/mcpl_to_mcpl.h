/* mcpl_to_mcpl.h - joins MCPL files into one MCPL file. */
#ifndef SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H
#define SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H

#include "pipeline/convert/runs.h"

/*
 * Reads every input twice: first the headers, which must agree except for merged runs, then the
 * records.
 */
enum sl_status sl_convert_mcpl(struct sl_conversion *c, const struct sl_runs *runs);

#endif
