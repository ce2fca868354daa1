/*
 * mcpl_survey.h - all particles of a list are looked at once, before any of them is used.
 *
 * So it is known beforehand that the file can be read to its end, what its weights add up to, and
 * that its numbers have a place in columns of single precision.
 */
#ifndef SL_STAGES_INPUTS_MCPL_SURVEY_H
#define SL_STAGES_INPUTS_MCPL_SURVEY_H

#include "stages/formats/mcpl/mcpl_stream.h"

/*
 * Reads the particles of a stream that is at the first of them, and adds their weights, without
 * signs, to *weights. SL_BAD_INPUT, with the number of the particle (from 0 on), where they are
 * damaged or cut short, where a weight is none, and where a finite number has no finite one nearest
 * to it in single precision, in units inside.
 */
enum sl_status sl_check_mcpl_particles(struct sl_mcpl_stream *s, double *weights);

#endif
