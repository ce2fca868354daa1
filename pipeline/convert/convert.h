/*
 * convert.h - joins files of particles into one file of the same or of another format.
 *
 * An input is a file of any format (MCPL from any program), or a run directory, which stands for
 * the files of its committed batches. Inputs are joined in the order given. An existing file is
 * only replaced on request (force), and an input never. The output file gets its name only when it
 * is complete. Everything that the new format cannot hold is reported.
 *
 *	MCPL to MCPL      copies records unchanged; headers must agree (mcpl_head.h)
 *	tables to MCPL    packs records input by input; drops columns that a record lacks
 *	any to table      builds the whole file in memory
 *	runs to .tallies  adds up their histograms
 *
 * Runs that differ only in seed and number of particles are merged (runs.h).
 */
#ifndef SL_PIPELINE_CONVERT_CONVERT_H
#define SL_PIPELINE_CONVERT_CONVERT_H

#include <stdio.h>

#include "pipeline/convert/common/context.h"

/*
 * Runs the job. Prints the output file and the notes about lost information to out, which may be
 * NULL. SL_USAGE for inputs or settings that do not fit, SL_OUTPUT_IN_USE if the output exists,
 * SL_BAD_INPUT for damaged or different inputs, SL_STOPPED after a signal.
 */
enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out);

#endif
