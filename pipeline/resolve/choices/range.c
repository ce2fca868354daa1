/* range.c - both ends have a unit, or neither. */
#include "pipeline/resolve/choices/range.h"

#include <stdio.h>
#include <string.h>

#include "stages/models/option.h"

/* Reads one end; *unit: it has a unit, otherwise it is in the unit of the column. */
static bool parse_end(const char *text, enum sl_dimension dimension, double *value, bool *unit,
	char why[SL_WHY_BYTES])
{
	*unit = false;
	if (sl_real_parse(text, SL_DIM_NUMBER, value, why))
		return true;
	*unit = true;
	return sl_real_parse(text, dimension, value, why);
}

bool sl_range_parse(
	const char *text, enum sl_column column, double *lo, double *hi, char why[SL_WHY_BYTES])
{
	enum sl_dimension dimension = sl_units[sl_column_facts[column].unit].dimension;
	const char *dots = strstr(text, "..");
	bool unit_lo, unit_hi;
	char from[SL_WORD_BYTES];

	if (!dots)
		return sl_refuse(why,
			"'%s' is not a range; write two numbers with .. between them, such as -1..1",
			text);
	snprintf(from, sizeof(from), "%.*s", (int)(dots - text), text);
	if (!parse_end(from, dimension, lo, &unit_lo, why) ||
		!parse_end(dots + 2, dimension, hi, &unit_hi, why))
		return false;
	if (unit_lo == unit_hi || *lo == 0 || *hi == 0)
		return true;
	return sl_refuse(
		why, "'%s' has a unit at one end only; add the unit to the other end", text);
}
