/*
 * mcpl_read.h - MCPL files in memory as tables of columns.
 *
 * sl_mcpl_read() reads files that this program wrote; sl_mcpl_table() reads files of any program.
 * Both take memory as sl_format.read does: an arena without a base only measures.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_READ_H
#define SL_STAGES_FORMATS_MCPL_MCPL_READ_H

#include <math.h>

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/*
 * Sets *t to the columns that the file was made of. Directions come back rounded; energy and time
 * too, if numbers have 4 bytes. Any other file, and any damage, is SL_BAD_INPUT.
 */
enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* How a file is read, and what it has and its table lacks. */
struct sl_mcpl_reading {
	bool wide; /* columns of real numbers shall be doubles if the file has doubles; then
	              whether they are */
	struct sl_job_pool *pool; /* whose threads decode a plain file; or NULL */
	bool digits;              /* numbers of 8 bytes were rounded to 4; of a file of this program
	                             only set if the arena has a base */
	uint32_t comments, blobs; /* except those that this program adds to each file */
	bool recovered;           /* the header has no count: the writer did not finish, and a
	                             partial record at the end is possible */
	bool trailing;            /* bytes after the last particle */
};

/*
 * Sets *t to the columns of a file of any program: those of sl_mcpl_read(), or else position,
 * direction, energy, weight, time and PDG code, and the user flags and polarisation that the
 * records have. Sets the members of *r that say what was left out; trailing only if the arena has a
 * base.
 */
enum sl_status sl_mcpl_table(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t,
	struct sl_mcpl_reading *r);

/* Columns that a header can state once for all particles. */
enum { SL_MCPL_STATED_ONCE = SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_pdg) };

/*
 * Whether single precision cannot hold a number after its conversion by a factor: a finite one
 * would be infinite, or a weight other than 0 would be 0. Small numbers that lose digits, and other
 * numbers that become 0, are accepted: the error is below 1e-45.
 */
static inline bool sl_mcpl_is_beyond(double value, double factor, bool is_weight)
{
	const float narrow = (float)(value * factor);

	return (isinf(narrow) & !isinf(value)) | (is_weight & (narrow == 0) & (value != 0));
}

/* How a message about a particle that a run cannot have ends. */
#define SL_MCPL_REMOVE_PARTICLE \
	"remove the particle from the list, or drop it by a run with model.list.damaged: drop"

/*
 * SL_BAD_INPUT for such a number of a particle, or if a particle has one; particle: its number in
 * the file.
 */
enum sl_status sl_mcpl_check_number(
	uint64_t particle, const char *name, double value, double factor, bool is_weight);
enum sl_status sl_mcpl_check_particle(uint64_t particle, const struct sl_mcpl_particle *p);

#endif
