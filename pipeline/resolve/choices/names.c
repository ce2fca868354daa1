/*
 * names.c - one look-up serves fates and columns: both are sets of at most 64 named items.
 *
 * A set is a bit per item, so the same code suggests names, refuses items outside a set and
 * collects lists. The message differs between an unknown name and a known one that the model does
 * not have.
 *
 * Names of particles are a table of their own, made from species.def.
 */
#include "pipeline/resolve/choices/choices.h"

#include <string.h>

/* The name of column or fate number i. */
static const char *name_of(bool column, int i)
{
	return column ? sl_column_facts[i].name : sl_fate_facts[i].name;
}

/*
 * Names of columns in other programs (MCNP, Geant4, OpenMC, McStas, MCPL), where a suggestion by
 * spelling would be wrong: ux is nearer to x than to u.
 */
static const struct {
	enum sl_column column;
	const char *words[6];
} usual[] = {
	{SL_COLUMN_u, {"ux", "dirx", "dir_x", "cosx"}},
	{SL_COLUMN_v, {"uy", "diry", "dir_y", "cosy"}},
	{SL_COLUMN_w, {"uz", "dirz", "dir_z", "cosz", "mu"}},
	{SL_COLUMN_energy, {"e", "E", "erg"}},
	{SL_COLUMN_time, {"t", "tof", "tme"}},
	{SL_COLUMN_weight, {"wgt", "wt"}},
	{SL_COLUMN_z, {"depth"}},
	{SL_COLUMN_pdg, {"pdgcode", "type", "particle"}},
	{SL_COLUMN_userflags, {"flags"}},
	{SL_COLUMN_pol_x, {"polx"}},
	{SL_COLUMN_pol_y, {"poly"}},
	{SL_COLUMN_pol_z, {"polz"}},
};

const char *sl_column_meant(const char *word, sl_column_set allowed)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		for (int k = 0; usual[i].words[k]; k++)
			if (strcmp(word, usual[i].words[k]) == 0 &&
				SL_HAS(allowed, usual[i].column))
				return name_of(true, (int)usual[i].column);
	return NULL;
}

/*
 * The column or fate of the set allowed with the name word. If there is none: adds a problem that
 * suggests the nearest name of allowed, or lists all of them, and returns their number.
 */
static int resolve_word(
	struct sl_resolver *v, const char *key, const char *word, bool column, uint64_t allowed)
{
	const char *words[64]; /* a set has 64 bits */
	const char *meant = column ? sl_column_meant(word, (sl_column_set)allowed) : NULL,
		   *why = "";
	const int all = column ? (int)SL_COLUMN_COUNT : (int)SL_FATE_COUNT;
	int found = all;
	size_t n = 0;

	for (int i = 0; i < all; i++) {
		if (strcmp(name_of(column, i), word) == 0)
			found = i;
		if (SL_HAS(allowed, i))
			words[n++] = name_of(column, i);
	}
	if (found < all && SL_HAS(allowed, found))
		return found;
	if (found < all)
		why = !column ? ": no particle of this model ends with it"
		      : SL_HAS(SL_DERIVED_COLUMNS, found) ? ": it is derived after the last step"
		                                          : ": particles of this model lack it";
	sl_config_add_problem(v->r, key, "%s is not a %s of model %s%s; use %s", sl_shown(word),
		column ? "column" : "fate", v->to->model->name, why,
		meant ? meant : sl_suggested(word, words, n));
	return all;
}

sl_fate_set sl_final_fates(const struct sl_choices *choices)
{
	return (choices->model->fates & ~choices->unused_fates & ~SL_FATE_BIT(SL_FATE_alive)) |
	       (choices->condition.n > 0 ? SL_FATE_BIT(SL_FATE_dropped) : 0);
}

bool sl_resolve_fate(struct sl_resolver *v, const char *key, const char *word, enum sl_fate *fate)
{
	*fate = (enum sl_fate)resolve_word(v, key, word, false, sl_final_fates(v->to));
	return *fate < SL_FATE_COUNT;
}

bool sl_resolve_fate_once(struct sl_resolver *v, const char *key, const char *word,
	sl_fate_set *set, enum sl_fate *fate)
{
	if (!sl_resolve_fate(v, key, word, fate))
		return false;
	if (SL_HAS(*set, *fate))
		return sl_config_add_problem(
			v->r, key, "%s is repeated; remove it", sl_shown(word));
	*set |= SL_FATE_BIT(*fate);
	return true;
}

/* MCPL calls the kinetic energy ekin, and its users expect that name. */
enum sl_column sl_column_named(const char *word)
{
	return strcmp(word, "ekin") == 0 ? SL_COLUMN_energy : sl_column_find(word);
}

bool sl_resolve_column(struct sl_resolver *v, const char *key, const char *word,
	sl_column_set allowed, enum sl_column *column)
{
	enum sl_column named = sl_column_named(word);

	if (named < SL_COLUMN_COUNT)
		word = name_of(true, (int)named);
	*column = (enum sl_column)resolve_word(v, key, word, true, allowed);
	return *column < SL_COLUMN_COUNT;
}

bool sl_column_range(
	const struct sl_choices *choices, enum sl_column column, double *lo, double *hi)
{
	bool angle = column == SL_COLUMN_theta || column == SL_COLUMN_phi;

	if (!angle || SL_HAS(choices->replaced, column))
		return choices->model->range(choices->rules.bytes, column, lo, hi);
	*hi = SL_PI;
	*lo = column == SL_COLUMN_phi ? -*hi : 0;
	return true;
}

/* --- species ---------------------------------------------------------------------------------- */

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
