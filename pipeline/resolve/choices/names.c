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

#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"

/* Bytes for a list of suggested names. */
enum { SUGGESTION_BYTES = 400 };

/* Fates or columns: named items of which a model has a set. */
struct name_table {
	const char *what, *lacking; /* "fate"; why a known one is not allowed */
	int n;
	const char *(*name)(int i);
};

/* Name of fate number i, for struct name_table. */
static const char *fate_name(int i)
{
	return sl_fate_facts[i].name;
}

/* Name of column number i, for struct name_table. */
static const char *column_name(int i)
{
	return sl_column_facts[i].name;
}

static const struct name_table fates = {
	"fate", "no particle of this model ends with it", SL_FATE_COUNT, fate_name};
static const struct name_table columns = {
	"column", "particles of this model lack it", SL_COLUMN_COUNT, column_name};

static const char derived[] = "it is derived after the last step";

/*
 * Names of columns in other programs (MCNP, Geant4, OpenMC, McStas, MCPL), where a suggestion by
 * spelling would be wrong: ux is nearer to x than to u.
 */
static const struct {
	const char *word;
	enum sl_column column;
} usual[] = {
	{"ux", SL_COLUMN_u},
	{"uy", SL_COLUMN_v},
	{"uz", SL_COLUMN_w},
	{"dirx", SL_COLUMN_u},
	{"diry", SL_COLUMN_v},
	{"dirz", SL_COLUMN_w},
	{"dir_x", SL_COLUMN_u},
	{"dir_y", SL_COLUMN_v},
	{"dir_z", SL_COLUMN_w},
	{"cosx", SL_COLUMN_u},
	{"cosy", SL_COLUMN_v},
	{"cosz", SL_COLUMN_w},
	{"mu", SL_COLUMN_w},
	{"e", SL_COLUMN_energy},
	{"E", SL_COLUMN_energy},
	{"erg", SL_COLUMN_energy},
	{"t", SL_COLUMN_time},
	{"tof", SL_COLUMN_time},
	{"tme", SL_COLUMN_time},
	{"wgt", SL_COLUMN_weight},
	{"wt", SL_COLUMN_weight},
	{"depth", SL_COLUMN_z},
	{"pdgcode", SL_COLUMN_pdg},
	{"type", SL_COLUMN_pdg},
	{"particle", SL_COLUMN_pdg},
	{"flags", SL_COLUMN_userflags},
	{"polx", SL_COLUMN_pol_x},
	{"poly", SL_COLUMN_pol_y},
	{"polz", SL_COLUMN_pol_z},
};

const char *sl_column_meant(const char *word, sl_column_set allowed)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(word, usual[i].word) == 0 && SL_HAS(allowed, usual[i].column))
			return column_name((int)usual[i].column);
	return NULL;
}

/*
 * The member of allowed with the name word. If there is none: adds a problem that suggests the
 * nearest name of allowed, or lists all of them, and returns table->n.
 */
static int resolve_word(struct sl_reader *r, const char *key, const char *word,
	const struct name_table *table, uint64_t allowed, const char *model)
{
	char shown[SL_SHOWN_BYTES], text[SUGGESTION_BYTES];
	const char *words[64]; /* a set has 64 bits */
	const char *meant = table == &columns ? sl_column_meant(word, (uint32_t)allowed) : NULL;
	int found = table->n;
	size_t n = 0;

	for (int i = 0; i < table->n; i++) {
		if (strcmp(table->name(i), word) == 0)
			found = i;
		if (SL_HAS(allowed, i))
			words[n++] = table->name(i);
	}
	if (found < table->n && SL_HAS(allowed, found))
		return found;
	sl_config_add_problem(r, key, "%s is not a %s of model %s%s%s; use %s",
		sl_show(shown, word), table->what, model, found < table->n ? ": " : "",
		found == table->n                                        ? ""
		: table == &columns && SL_HAS(SL_DERIVED_COLUMNS, found) ? derived
									 : table->lacking,
		meant ? meant : sl_suggest(word, words, n, text, sizeof(text)));
	return table->n;
}

sl_fate_set sl_final_fates(const struct sl_choices *choices)
{
	return (choices->model->fates & ~choices->unused_fates & ~SL_FATE_BIT(SL_FATE_alive)) |
	       (choices->condition.n > 0 ? SL_FATE_BIT(SL_FATE_dropped) : 0);
}

bool sl_resolve_fate(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, enum sl_fate *fate)
{
	*fate = (enum sl_fate)resolve_word(
		r, key, word, &fates, sl_final_fates(choices), choices->model->name);
	return *fate < SL_FATE_COUNT;
}

bool sl_resolve_fate_once(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, sl_fate_set *set, enum sl_fate *fate)
{
	char shown[SL_SHOWN_BYTES];

	if (!sl_resolve_fate(r, key, word, choices, fate))
		return false;
	if (SL_HAS(*set, *fate))
		return sl_config_add_problem(
			r, key, "%s is repeated; remove it", sl_show(shown, word));
	*set |= SL_FATE_BIT(*fate);
	return true;
}

/* MCPL calls the kinetic energy ekin, and its users expect that name. */
enum sl_column sl_column_named(const char *word)
{
	return strcmp(word, "ekin") == 0 ? SL_COLUMN_energy : sl_column_find(word);
}

bool sl_resolve_column(struct sl_reader *r, const char *key, const char *word,
	const struct sl_model *model, sl_column_set allowed, enum sl_column *column)
{
	enum sl_column named = sl_column_named(word);

	if (named < SL_COLUMN_COUNT)
		word = column_name((int)named);
	*column = (enum sl_column)resolve_word(r, key, word, &columns, allowed, model->name);
	return *column < SL_COLUMN_COUNT;
}

const char *sl_column_name(const struct sl_named_columns *named, enum sl_column column)
{
	return sl_label_name(named->label, column);
}

enum sl_unit sl_column_unit(const struct sl_named_columns *named, enum sl_column column)
{
	return sl_label_unit(named->label, column);
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
