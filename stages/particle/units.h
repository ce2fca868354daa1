/*
 * units.h - the units of configurations and files.
 *
 * Internally all numbers of a dimension have one unit: cm, ns, keV, rad. A configuration may use
 * any unit of units.def; files state the internal unit.
 */
#ifndef SL_STAGES_PARTICLE_UNITS_H
#define SL_STAGES_PARTICLE_UNITS_H

#include "primitives/base/hd.h"

SL_C_BEGIN

enum sl_dimension {
#define DIMENSION(name, unit, si, l, m, t) SL_DIM_##name,
#define UNIT(name, text, dimension, factor)
#include "stages/particle/units.def"
#undef DIMENSION
#undef UNIT
	SL_DIMENSION_COUNT
};

enum sl_unit {
#define DIMENSION(name, unit, si, l, m, t)
#define UNIT(name, text, dimension, factor) SL_UNIT_##name,
#include "stages/particle/units.def"
#undef DIMENSION
#undef UNIT
	SL_UNIT_COUNT
};

struct sl_dimension_facts {
	const char *unit;       /* the internal unit: "cm"; "" for plain numbers */
	double si;              /* that unit in SI units */
	int length, mass, time; /* powers, for openPMD's unitDimension */
};

struct sl_unit_facts {
	const char *text;
	enum sl_dimension dimension;
	double factor; /* in internal units */
};

extern const struct sl_dimension_facts sl_dimensions[SL_DIMENSION_COUNT];
extern const struct sl_unit_facts sl_units[SL_UNIT_COUNT];

/* The unit of that text in which columns are stored; SL_UNIT_COUNT if there is none. */
enum sl_unit sl_stored_unit(const char *text);

SL_C_END

#endif
