/* mcpl_table.h - a list of particles of anybody's as a table. */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_TABLE_H
#define SL_STAGES_FORMATS_MCPL_MCPL_TABLE_H

#include "stages/formats/common/format.h"

/* What a list had and the table has not. */
struct sl_mcpl_lost {
	bool digits;                   /* numbers of 8 bytes became 4 */
	bool flags, polarisation, pdg; /* there is no column for them */
	uint32_t comments, blobs;      /* but for those that this program makes */
	bool recovered;                /* its writer died: a part of a record, perhaps */
	bool behind;                   /* what follows its last particle */
};

/*
 * Sets of columns, as far as this build has them: PDG codes and polarisation, of which a record is
 * made where a table has them; what a header can state for all particles.
 */
uint32_t sl_mcpl_more_columns(void);
uint32_t sl_mcpl_stated_once(void);

/*
 * Reads a file of MCPL that is in memory: of ours the columns that it is made of, as the format
 * does; of others position, direction, energy, weight and time, and PDG codes, user flags and
 * polarisation where there are columns for them. Memory as for sl_format.read; *lost is set only
 * where it is read.
 */
enum sl_status sl_mcpl_table(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t,
	struct sl_mcpl_lost *lost);

#endif
