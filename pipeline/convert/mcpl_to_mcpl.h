/* mcpl_to_mcpl.h - joins MCPL files into one MCPL file. */
#ifndef SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H
#define SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H

#include "pipeline/convert/common/context.h"

/* Reads every input twice: first the headers, which must agree, then the records. */
enum sl_status sl_convert_mcpl(struct sl_conversion *c);

#endif
