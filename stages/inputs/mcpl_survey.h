/*
 * mcpl_survey.h - reads all particles of a list once, before any of them is used.
 *
 * The survey proves that the file can be read to its end and that its numbers fit into columns of single
 * precision, and it sums the weights.
 */
#ifndef SL_STAGES_INPUTS_MCPL_SURVEY_H
#define SL_STAGES_INPUTS_MCPL_SURVEY_H

#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/phase_space/phase_space.h"

/*
 * Reads all particles of a stream, which is at the first one, and adds the absolute values of their
 * weights to *weights. keep, if it is not NULL, gets all records; it has room for
 * header.particles * header.record_bytes bytes. SL_BAD_INPUT with the number of the particle (from 0) if the file is damaged or
 * truncated, if a weight is not finite, or if a finite number overflows in single precision and
 * internal units; also if the common weight is outside the range of single precision.
 */
enum sl_status sl_check_mcpl_particles(struct sl_mcpl_stream *s, uint8_t *keep, double *weights);

/* The same for all particles of a list of another format. */
enum sl_status sl_check_phase_space(const struct sl_phase_space *s, double *weights);

#endif
