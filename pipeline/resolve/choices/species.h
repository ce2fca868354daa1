/* species.h - names of particles, which stand for codes of the Particle Data Group. */
#ifndef SL_PIPELINE_RESOLVE_CHOICES_SPECIES_H
#define SL_PIPELINE_RESOLVE_CHOICES_SPECIES_H

#include <stdint.h>

struct sl_species {
	const char *name;
	int32_t code;
};

enum {
#define SPECIES(name, code) SL_SPECIES_##name,
#include "pipeline/resolve/choices/species.def"
#undef SPECIES
	SL_SPECIES_COUNT
};

extern const struct sl_species sl_species[SL_SPECIES_COUNT];

/* The particle with that name, or NULL. */
const struct sl_species *sl_species_find(const char *name);
/* The name of a code, or NULL if the table has none. */
const char *sl_species_name(int32_t code);

#endif
