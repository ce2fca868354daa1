/* units.c - the tables of dimensions and units, made from units.def. */
#include "stages/particle/units.h"

#include <string.h>

const struct sl_dimension_facts sl_dimensions[SL_DIMENSION_COUNT] = {
#define DIMENSION(name, unit, si, l, m, t) {unit, si, l, m, t},
#define UNIT(name, text, dimension, factor)
#include "stages/particle/units.def"
#undef DIMENSION
#undef UNIT
};

const struct sl_unit_facts sl_units[SL_UNIT_COUNT] = {
#define DIMENSION(name, unit, si, l, m, t)
#define UNIT(name, text, dimension, factor) {text, SL_DIM_##dimension, factor},
#include "stages/particle/units.def"
#undef DIMENSION
#undef UNIT
};

enum sl_unit sl_stored_unit(const char *text)
{
	int u = 0;

	while (u < SL_UNIT_COUNT && strcmp(sl_units[u].text, text) != 0)
		u++;
	return (enum sl_unit)(u < SL_UNIT_COUNT && sl_units[u].factor != 1.0 ? SL_UNIT_COUNT : u);
}
