/* phase_space_mcpl.h - particle lists of other formats as MCPL records and files. */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_MCPL_H
#define SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_MCPL_H

#include "stages/formats/phase_space/phase_space.h"

/* Writes a particle as a record with the layout of a header of version 3. */
void sl_phase_space_record(
	const struct sl_mcpl_header *to, const struct sl_mcpl_particle *p, uint8_t *out);

/* Writes s->head, with another number of particles, and returns its size. */
size_t sl_phase_space_head(
	const struct sl_phase_space *s, uint64_t particles, uint8_t out[SL_PHASE_SPACE_HEAD_BYTES]);

/* Makes the MCPL file of the whole list in memory, which the caller frees with sl_memory_give(); NULL
 * after a failure. */
enum sl_status sl_phase_space_to_mcpl(const struct sl_phase_space *s, void **file, size_t *bytes);

#endif
