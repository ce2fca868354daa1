/* species.c - the table of particle names, made from species.def. */
#include "pipeline/resolve/choices/choices.h"

#include <stddef.h>
#include <string.h>

const struct sl_species sl_species[SL_SPECIES_COUNT] = {
#define SPECIES(name, code) {#name, code},
#include "pipeline/resolve/choices/species.def"
#undef SPECIES
};

const struct sl_species *sl_species_find(const char *name)
{
	for (int i = 0; i < SL_SPECIES_COUNT; i++)
		if (strcmp(sl_species[i].name, name) == 0)
			return &sl_species[i];
	return NULL;
}

const char *sl_species_name(int32_t code)
{
	for (int i = 0; i < SL_SPECIES_COUNT; i++)
		if (sl_species[i].code == code)
			return sl_species[i].name;
	return NULL;
}
