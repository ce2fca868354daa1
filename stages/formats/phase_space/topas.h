/*
 * topas.h - phase spaces of TOPAS in its layouts binary and ASCII: a header in text (.header) and
 * particles (.phsp). Its layout "limited" has the records and the header of the IAEA (iaea.h).
 *
 * The header, line by line; what follows the list of columns is not read:
 *
 *	TOPAS Binary Phase Space                                or: TOPAS ASCII Phase Space
 *
 *	Number of Original Histories: 100                       with those that left no particle
 *	Number of Original Histories that Reached Phase Space: 99
 *	Number of Scored Particles: 106
 *	Number of Bytes per Particle: 34                        only in binary
 *
 *	Byte order of each record is as follows:                ASCII: Columns of data are as follows:
 *	f4: Position X [cm]                                      1: Position X [cm]
 *	...                                                     ...
 *
 * The first ten columns are always the same: x y z in cm, u v, kinetic energy in MeV, weight (f4), PDG
 * code (i4), whether w is negative, and whether the particle is the first one of its history (b1).
 * Others can follow, of which "Time of Flight [ns]" is read. Binary numbers are little-endian and have
 * no padding; a line of text has the numbers of a particle. A negative weight stands for histories
 * without particles; such entries are not counted as particles, and are left out.
 *
 * (TOPAS User Guide, Phase Space Sources and Scorers; the source TsSourcePhaseSpace and the files in
 * tests/phasespaces of OpenTOPAS, github.com/OpenTOPAS/OpenTOPAS.)
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_TOPAS_H
#define SL_STAGES_FORMATS_PHASE_SPACE_TOPAS_H

#include "stages/formats/mcpl/mcpl_stream.h"

struct sl_topas {
	uint64_t particles;
	double histories;       /* primary particles; -1: unknown */
	const uint8_t *records; /* binary, of record_bytes bytes: in the file, or in block */
	uint32_t record_bytes;  /* 0: nothing was opened */
	uint32_t
		time_at; /* offset of the time of flight in a record, or number of its column; 0: none */
	void *block; /* records that were made of text, or that lie between empty histories */
	size_t block_bytes;
};

/* Whether a header is of one of the two layouts. */
bool sl_topas_is(const char *header, size_t bytes);

/*
 * Reads a header, the caller's copy with a 0 after its end, and finds the particles in the other file,
 * which stays in use. SL_BAD_INPUT with the line if they do not agree. Call sl_topas_close() even after
 * a failure.
 */
enum sl_status sl_topas_open(
	const char *header, const void *file, size_t file_bytes, struct sl_topas *t);
void sl_topas_close(struct sl_topas *t);

/*
 * Particle i, less than t->particles. Its user flags are 1 for the first one of a history. SL_BAD_INPUT if it
 * stands for empty histories.
 */
enum sl_status sl_topas_particle(const struct sl_topas *t, uint64_t i, struct sl_mcpl_particle *p);

#endif
