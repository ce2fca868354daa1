/*
 * mcpl_columns.h - decodes consecutive MCPL records to columns, column by column.
 *
 * The values have the bits of those of sl_mcpl_decode() and sl_mcpl_to_particle(), which decode one
 * record at a time. A loop over one column has no branches that depend on the layout, so it is
 * several times faster.
 */
#ifndef SL_STAGES_INPUTS_MCPL_COLUMNS_H
#define SL_STAGES_INPUTS_MCPL_COLUMNS_H

#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/particle/particle.h"

/*
 * Decodes n records of a header to the places from `place` on of the columns that a list fills:
 * position, direction, energy, time, weight, PDG code, user flags and polarisation.
 */
void sl_mcpl_to_columns(const struct sl_mcpl_header *h, const uint8_t *records, uint32_t n,
	const struct sl_columns *c, uint32_t place);

/*
 * The same for the records numbered place[0], place[1], ..., to the first n places of the columns.
 */
void sl_mcpl_to_columns_from(const struct sl_mcpl_header *h, const void *records,
	const uint32_t *place, uint32_t n, const struct sl_columns *c);

#endif
