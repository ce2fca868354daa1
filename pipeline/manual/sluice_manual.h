/* sluice_manual.h - the description of sluice. */
#ifndef SL_PIPELINE_MANUAL_SLUICE_MANUAL_H
#define SL_PIPELINE_MANUAL_SLUICE_MANUAL_H

#include "pipeline/manual/manual.h"

/* Describes the commands, options, keys and exit codes of sluice. Every call returns the same object. */
const struct sl_manual *sl_manual_of_sluice(void);

#endif
