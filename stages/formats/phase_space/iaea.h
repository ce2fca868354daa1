/*
 * iaea.h - IAEA phase space files: a header in text (.IAEAheader) and binary records (.IAEAphsp). TOPAS
 * and others name them .header and .phsp.
 *
 * The header has sections, "$KEY:" and lines of values. Programs also write keys in lower case and
 * without the colon, and the value on the line of its key. These are read:
 *
 *	$FILE_TYPE        0: particles; 1: an event generator, which has no particles
 *	$CHECKSUM         bytes of the .IAEAphsp file
 *	$RECORD_CONTENTS  nine numbers: are x y z u v w and weight stored (0 or 1), how many extra floats
 *	                  and extra longs; then the type of each extra value
 *	$RECORD_CONSTANT  the value of each of the seven that is not stored
 *	$RECORD_LENGTH    bytes of a record
 *	$BYTE_ORDER       1234: least significant byte first, also if the section is missing, as in files of
 *	                  TOPAS; 4321: most significant byte first
 *	$ORIG_HISTORIES   primary particles that were simulated
 *	$PARTICLES        records
 *	$TITLE
 *
 * A record has no padding:
 *
 *	i8    1 photon, 2 electron, 3 positron, 4 neutron, 5 proton; negative if w is negative
 *	f32   kinetic energy in MeV; negative for the first particle of a history
 *	f32   x y z in cm, u v, weight, each if it is stored; w is never stored
 *	f32   extra floats
 *	i32   extra longs; one of type 2 is LATCH of EGS
 *
 * (Capote, Jeraj, Ma, Rogers, Sanchez-Doblado, Sempau, Seuntjens, Siebers: Phase-Space Database for
 * External Beam Radiotherapy, INDC(NDS)-0484, IAEA 2006.)
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_IAEA_H
#define SL_STAGES_FORMATS_PHASE_SPACE_IAEA_H

#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/phase_space/iaea_header.h"

/*
 * The direction with these components, and w negative if it is down. u and v with u^2 + v^2 > 1 are divided by
 * their length, and w is then 0 (as in the reference implementation).
 */
void sl_iaea_direction(double u, double v, bool down, double direction[3]);

/*
 * Reads a record of h->record_bytes bytes. The user flags are LATCH if records have it; otherwise 1 for
 * the first particle of a history and 0 for others. SL_BAD_INPUT if the type of the particle is unknown.
 */
enum sl_status sl_iaea_particle(
	const struct sl_iaea *h, const uint8_t *record, struct sl_mcpl_particle *p);

#endif
