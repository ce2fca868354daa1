/* mcpl_to_mcpl.h - MCPL lists become one list. */
#ifndef SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H
#define SL_PIPELINE_CONVERT_MCPL_TO_MCPL_H

#include "pipeline/convert/context.h"

/* Reads every input twice: first the headers, which must agree, then the records. */
enum sl_status sl_convert_lists(struct sl_converting *c);

#endif
