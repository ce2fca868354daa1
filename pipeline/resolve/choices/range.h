/*
 * range.h - parses "LO..HI", the range of a column in sort keys and histograms.
 */
#ifndef SL_PIPELINE_RESOLVE_CHOICES_RANGE_H
#define SL_PIPELINE_RESOLVE_CHOICES_RANGE_H

#include <stdbool.h>

#include "pipeline/config/quantity.h"
#include "stages/particle/particle.h"

/*
 * Reads LO..HI into *lo and *hi, in the unit of the column. Each end is a plain number in that unit,
 * or has a unit of the same dimension. False, with why set, when text is not such a range.
 */
bool sl_range_parse(
	const char *text, enum sl_column column, double *lo, double *hi, char why[SL_WHY_BYTES]);

#endif
