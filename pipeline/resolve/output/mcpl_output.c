/*
 * mcpl_output.c - the record contents of MCPL files: precision, particle type, energy, user flags.
 *
 * An MCPL record has fixed contents, so the columns of the run follow from them and output.columns
 * is refused.
 */
#define SL_MODEL_HOST
#include "pipeline/resolve/output/output.h"

#include <math.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl.h"
#include "stages/models/list.h"

enum { PHOTON = 22 }; /* number of the Particle Data Group */

/* What the input files of model list contain; NULL for other models. */
static const struct sl_list_config *list_of(const struct sl_config *c)
{
	return c->model->read ? (const struct sl_list_config *)(const void *)c->model_config.bytes
	                      : NULL;
}

/* The column for the user flags; SL_COLUMN_COUNT for none, or after adding a problem. */
static enum sl_column resolve_flags(struct sl_resolver *v, sl_column_set constants)
{
	sl_column_set allowed = (v->to->model->columns | SL_BIT(SL_COLUMN_id)) & SL_MCPL_FLAGS;
	const char *word = v->c->output.mcpl.userflags;
	enum sl_column column;

	/* by default a list keeps its user flags, unless all of them are equal */
	if (word[0] == '\0' && v->to->model->read)
		return SL_HAS(constants, SL_COLUMN_userflags) ? SL_COLUMN_COUNT
		                                              : SL_COLUMN_userflags;
	if (word[0] == '\0')
		return SL_HAS(allowed, SL_COLUMN_pixel) ? SL_COLUMN_pixel : SL_COLUMN_fate;
	if (strcmp(word, "none") == 0)
		return SL_COLUMN_COUNT;
	column = sl_column_named(word);
	if (column < SL_COLUMN_COUNT && SL_HAS(v->to->model->columns, column) &&
		!SL_HAS(SL_MCPL_FLAGS, column)) {
		sl_config_add_problem(v->r, "output.mcpl.userflags",
			"is the column %s, but user flags are integers; use an integer column such as fate, or none",
			word);
		return SL_COLUMN_COUNT;
	}
	sl_resolve_column(v, "output.mcpl.userflags", word, allowed, &column);
	if (column == SL_COLUMN_id && v->c->run.particles > (uint64_t)UINT32_MAX + 1)
		sl_config_add_problem(v->r, "output.mcpl.userflags",
			"cannot be id: user flags have 32 bits, and run.particles exceeds 2^32; use "
			"none, or run.particles of at most 4294967296");
	return column;
}

/* Is the precision double? Otherwise it is single. By default a list keeps its own. */
static bool resolve_precision(struct sl_resolver *v)
{
	const char *word = v->c->output.mcpl.precision;
	bool wide = strcmp(word, "double") == 0;

	if (word[0] && !wide && strcmp(word, "single") != 0)
		sl_config_add_problem(v->r, "output.mcpl.precision",
			"%s is not a precision; use single (4 bytes) or double (8 bytes)",
			sl_shown(word));
	return word[0] ? wide : list_of(v->c) && list_of(v->c)->doubles;
}

/* The PDG number of all particles; 0: each particle has its own. */
static int32_t resolve_pdg(struct sl_resolver *v)
{
	bool has_own = SL_HAS(v->to->model->columns, SL_COLUMN_pdg);
	double pdg = v->c->output.mcpl.pdg;

	if (isnan(pdg))
		return has_own ? 0 : PHOTON;
	if (has_own)
		sl_config_add_problem(v->r, "output.mcpl.pdg",
			"has no effect: each particle of model %s has its own code; remove it",
			v->to->model->name);
	if (pdg != rint(pdg) || pdg == 0)
		sl_config_add_problem(v->r, "output.mcpl.pdg",
			"is %g, but a Particle Data Group code is an integer other than 0; use 22 for photons "
			"or 2112 for neutrons",
			pdg);
	return (int32_t)pdg;
}

/* An MCPL particle has an energy: from its column, or the same for all. */
static void check_energy(struct sl_resolver *v)
{
	bool has_own = SL_HAS(v->to->model->columns, SL_COLUMN_energy),
	     given = !isnan(v->c->output.mcpl.energy);

	if (sl_config_has_problem(v->r, "output.mcpl.energy") || has_own != given)
		return;
	if (has_own)
		sl_config_add_problem(v->r, "output.mcpl.energy",
			"has no effect: each particle of model %s has its own energy; remove it",
			v->to->model->name);
	else
		sl_config_add_problem(v->r, "output.mcpl.energy",
			"is missing: an MCPL particle has a kinetic energy, and model %s has "
			"none; add one for all, such as --set output.mcpl.energy='2 eV'",
			v->to->model->name);
}

/*
 * A record has each of these columns, whatever the model. A particle has no part of a polarisation.
 */
static void check_columns(struct sl_resolver *v)
{
	const struct sl_model *m = v->to->model;
	sl_column_set needed =
		SL_MCPL_NEEDED |
		(m->columns & SL_MCPL_POLARISATION ? (sl_column_set)SL_MCPL_POLARISATION : 0);
	const char *words[SL_COLUMN_COUNT];
	size_t n = 0;

	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(needed & ~m->columns, i))
			words[n++] = sl_column_facts[i].name;
	if (n > 0)
		sl_config_add_problem(v->r, "output.format",
			"is %s, whose particles have position, direction, weight and time, but model %s has "
			"no column %s; use openpmd, npz or csv",
			v->to->format->name, m->name, sl_listed(words, n));
}

sl_column_set sl_resolve_mcpl(struct sl_resolver *v, sl_column_set set)
{
	const struct sl_model *m = v->to->model;
	struct sl_particle values;
	sl_column_set constants = v->ranges ? m->constants(v->to->rules.bytes, &values) : 0;
	enum sl_column flags;

	if (!sl_format_is_mcpl(v->to->format)) {
		for (size_t i = 0; v->to->format && i < sl_n_options; i++)
			if (sl_key_below(sl_options[i].key, "output.mcpl"))
				sl_config_refuse_unused(v->r, sl_options[i].key,
					"only the formats mcpl and mcpl.gz use it",
					"remove it or add output.format: mcpl");
		return set;
	}
	if (v->c->output.columns.n > 0)
		sl_config_add_problem(v->r, "output.columns",
			"has no effect: an MCPL particle has position, direction, energy, weight, "
			"time and output.mcpl.userflags; remove it");
	check_columns(v);
	check_energy(v);
	flags = resolve_flags(v, constants);
	v->to->mcpl = (struct sl_mcpl_facts){.wide = resolve_precision(v),
		.pdg = resolve_pdg(v),
		.energy = v->c->output.mcpl.energy,
		.flags = flags,
		.weight = list_of(v->c) ? list_of(v->c)->weight : 0};
	/* records of a list are copied; the number of a particle leads to its record */
	v->to->internal = m->read ? SL_BIT(SL_COLUMN_id) : 0;
	if (flags < SL_COLUMN_COUNT)
		v->to->internal &= ~SL_BIT(flags);
	/* a polarisation that is the same for all particles needs no column */
	return SL_MCPL_NEEDED | (m->columns & (SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pdg))) |
	       (SL_MCPL_POLARISATION & ~constants ? m->columns & SL_MCPL_POLARISATION : 0) |
	       v->to->internal | (flags < SL_COLUMN_COUNT ? SL_BIT(flags) : 0);
}
