/*
 * list.h - particles from lists (MCPL and other formats), one file after another.
 *
 * This model draws no random numbers and moves no particle. The particles of a batch are read into
 * columns (stages/inputs/inputs.h) instead of the generate stage; in fused mode the rules
 * below read them from there. The values are those of the files in single precision and internal
 * units, with directions unpacked.
 */
#ifndef SL_STAGES_MODELS_LIST_H
#define SL_STAGES_MODELS_LIST_H

#include "stages/models/common/flight.h"

#define SL_COLUMNS_list                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) |    \
		SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_userflags) | SL_BIT(SL_COLUMN_pol_x) |   \
		SL_BIT(SL_COLUMN_pol_y) | SL_BIT(SL_COLUMN_pol_z) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_list (SL_FATE_BIT(SL_FATE_listed) | SL_FATE_BIT(SL_FATE_damaged))

/* Weights are those of the files. They can have any size and sign, so their sums are reported next
 * to the counts and not as fractions. */
#define SL_RECOMPUTED_list false
#define SL_WEIGHTED_list   true

struct sl_list {
	uint64_t first_id;       /* of the particles in the columns */
	struct sl_columns at;    /* the columns; fate may be missing */
	sl_column_set constants; /* set of columns with one value in all files */
	struct sl_particle constant;
	bool drops; /* damaged particles are dropped */
};

#if SL_SIMD_LANES == 1
SL_HD struct sl_particle sl_list_generate(
	const struct sl_list *r, sl_column_set wanted, uint64_t seed, uint64_t id)
{
	struct sl_particle p = {0};
	uint64_t i = id - r->first_id;

	(void)seed;
#define COLUMN(name, type, unit, record, component, help)                                     \
	if (SL_HAS(SL_STORED(SL_COLUMNS_list) & ~SL_BIT(SL_COLUMN_fate), SL_COLUMN_##name) && \
		SL_HAS(wanted | SL_BIT(SL_COLUMN_weight), SL_COLUMN_##name))                  \
		p.name = r->at.name[i];
#include "stages/particle/columns.def"
#undef COLUMN
	p.fate = r->at.fate ? r->at.fate[i] : (uint8_t)SL_FATE_listed;
	return p;
}
#endif

/* Particles of a list are never alive, so they take no steps. */
SL_HD void sl_list_step(const struct sl_list *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	(void)r, (void)wanted, (void)seed, (void)p;
}

SL_ADVANCE_BY_STEPS(list)

#ifdef SL_MODEL_HOST

#include "stages/models/config/list_config.h"

static const struct sl_option sl_list_options[] = {
	SL_OPTION(sl_list_config, files, LINES, NUMBER, 0, 0, .required = true,
		.help = "particle lists, for example [a.mcpl, \"run2/*.mcpl.gz\"]: MCPL version 2 or 3, "
			"plain or gzip; phase space of the IAEA (.IAEAphsp) or of TOPAS (.phsp); source "
			"file of OpenMC (.h5); npz, csv or openPMD of Sluice, or npz or csv with such columns; particles are read one file after another. An item with "
			"* ? or [..] is a pattern and means all matching files in the order of their "
			"names; the directory of a run means the files of its committed batches; at "
			"most 4096 files; relative to the working directory"),
	SL_OPTION(sl_list_config, checksums, COUNTS, NUMBER, 0, UINT32_MAX,
		.help = "the CRC-32 of each item of files (of all its files one after another): a "
			"different one is an error. If left out, the program computes it and stores "
			"it in run.json, so that --resume and verify detect a changed file"),
	SL_OPTION(sl_list_config, damaged, CHOICE, NUMBER, 0, 0, .choices = sl_list_damaged,
		.help = "refuse (the default) ends the run before it starts if a particle has a weight "
			"that is NaN or infinite, or a number that single precision cannot hold; drop "
			"gives such particles the fate damaged: they are counted and never kept"),
};

/*
 * Makes the rules from the headers of the files. The columns of a batch are set later, per batch,
 * by the mode that reads them (device_modes.c).
 */
static void sl_list_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_list_config *c = (const struct sl_list_config *)config;
	struct sl_list r = {.constants = c->constants,
		.constant = c->constant,
		.drops = c->damaged == SL_LIST_DROPS};

	(void)common, (void)check;
	memcpy(rules, &r, sizeof(r));
}

/* Columns of whole numbers have the range of their type; other columns are unbounded. */
static bool sl_list_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	(void)rules;
	*lo = sl_least_whole(column);
	*hi = *lo + (double)UINT32_MAX;
	return column == SL_COLUMN_pdg || column == SL_COLUMN_userflags ||
	       (column != SL_COLUMN_weight &&
		       sl_model_common_range(
			       column, 0, SL_FATE_BIT(SL_FATE_listed), lo, hi)); /* that is kept */
}

/* Columns that have one value in all files, as input_reader.c found them in the headers. */
static sl_column_set sl_list_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_list *r = (const struct sl_list *)rules;

	*values = r->constant;
	return r->constants;
}

/* Without drop, a damaged particle ends the run. */
static sl_fate_set sl_list_unused_fates(const void *rules)
{
	return ((const struct sl_list *)rules)->drops ? 0 : SL_FATE_BIT(SL_FATE_damaged);
}

SL_MODEL(list,
	.help = "particles from lists (MCPL, IAEA, OpenMC): filtered, sorted and written again",
	.species = "particles", .read = true, .unused_fates = sl_list_unused_fates);

#endif
#endif
