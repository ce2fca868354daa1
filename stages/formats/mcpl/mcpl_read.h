/*
 * mcpl_read.h - MCPL files in memory as tables of columns.
 *
 * sl_mcpl_read() reads files that this program wrote; sl_mcpl_table() reads files of any program.
 * Both take memory as sl_format.read does: an arena without a base only measures.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_READ_H
#define SL_STAGES_FORMATS_MCPL_MCPL_READ_H

#include "stages/formats/common/format.h"

/*
 * Sets *t to the columns that the file was made of. Directions come back rounded; energy and time
 * too, if numbers have 4 bytes. Any other file, and any damage, is SL_BAD_INPUT.
 */
enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* What a file has and its table lacks. */
struct sl_mcpl_lost {
	bool digits;                   /* numbers of 8 bytes were rounded to 4 */
	bool flags, polarisation, pdg; /* no column of this build takes them */
	uint32_t comments, blobs;      /* except those that this program adds to each file */
	bool recovered;                /* the header has no count: the writer did not finish, and a
	                                  partial record at the end is possible */
	bool behind;                   /* bytes after the last particle */
};

/*
 * Sets *t to the columns of a file of any program: those of sl_mcpl_read(), or else position,
 * direction, energy, weight and time, and also PDG codes, user flags and polarisation where this
 * build has columns for them. *lost says what was left out; bits about the records are only set if
 * the arena has a base.
 */
enum sl_status sl_mcpl_table(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t,
	struct sl_mcpl_lost *lost);

/* Columns of this build that a record contains only if a table has them: PDG, polarisation. */
uint32_t sl_mcpl_more_columns(void);

/* Columns of this build that a header can state once for all particles: weight, PDG. */
uint32_t sl_mcpl_stated_once(void);

#endif
