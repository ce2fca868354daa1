/*
 * list.h - particles that are there already: lists of them in files of MCPL, one behind the other.
 *
 * Nothing is drawn and nothing flies. A batch's particles are read into columns (inputs.h) before
 * its stages; these rules say where they lie. Numbers are those of the files in single precision,
 * in units inside, directions unpacked.
 */
#ifndef SL_STAGES_MODELS_LIST_H
#define SL_STAGES_MODELS_LIST_H

#include "stages/particle/particle.h"

#define SL_COLUMNS_list                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) |    \
		SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_userflags) | SL_BIT(SL_COLUMN_pol_x) |   \
		SL_BIT(SL_COLUMN_pol_y) | SL_BIT(SL_COLUMN_pol_z) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_list SL_FATE_BIT(SL_FATE_listed)

/* Weights are whatever the files say: their sums stand beside counts, and are no part of anything.
 */
#define SL_REMADE_list   false
#define SL_WEIGHTED_list true

struct sl_list {
	uint64_t first_id;    /* of the particles in the columns */
	struct sl_columns at; /* where they lie; those of fates need not be there */
	uint32_t constants;   /* set of columns with one value in all files */
	struct sl_particle constant;
	int weight_shift; /* such that the sum of all weights fits (inputs.h) */
};

SL_HD struct sl_particle sl_list_generate(
	const struct sl_list *r, uint32_t wanted, uint64_t seed, uint64_t id)
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
	p.fate = SL_FATE_listed;
	return p;
}

/* There are no steps. */
SL_HD void sl_list_advance(
	const struct sl_list *r, uint32_t wanted, uint64_t seed, struct sl_particle *p, uint32_t n)
{
	(void)r, (void)wanted, (void)seed, (void)p, (void)n;
}

#ifdef SL_MODEL_HOST

#include "stages/models/model.h"

struct sl_list_config {
	struct sl_lines files;
	struct sl_counts checksums;
	uint32_t constants; /* as those above, from the files' headers */
	struct sl_particle constant;
	int weight_shift;
	uint64_t stamp; /* of the files of which this is known (inputs.h) */
};

static const struct sl_option sl_list_options[] = {
	{.key = "files",
		.kind = SL_KIND_LINES,
		.offset = offsetof(struct sl_list_config, files),
		.required = true,
		.help = "lists of particles, as [a.mcpl, \"run2/*.mcpl.gz\"]: MCPL of version 2 or 3, plain "
			"or in gzip; their particles one behind the other. With * ? or [..], all files "
			"that are called so, in the order of their names; up to 4096 in all, from "
			"the folder that sluice is started in"},
	{.key = "checksums",
		.kind = SL_KIND_COUNTS,
		.offset = offsetof(struct sl_list_config, checksums),
		.hi = UINT32_MAX,
		.help = "the CRC-32 of each item of files (of all that it stands for, one behind "
			"the other): what has another is refused; found by the program when left "
			"out, and kept in run.json, so that --resume and verify notice a file that "
			"was changed"},
};

static void sl_list_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_list_config *c = (const struct sl_list_config *)config;
	struct sl_list r = {.constants = c->constants,
		.constant = c->constant,
		.weight_shift = c->weight_shift};

	(void)common, (void)check;
	memcpy(rules, &r, sizeof(r));
}

/* Whole numbers have all that there are; other columns know no bounds. */
static bool sl_list_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	(void)rules;
	*lo = sl_least_whole(column);
	*hi = *lo + (double)UINT32_MAX;
	return column == SL_COLUMN_pdg || column == SL_COLUMN_userflags ||
	       (column != SL_COLUMN_weight &&
		       sl_model_common_range(column, 0, SL_FATES_list, lo, hi));
}

static uint32_t sl_list_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_list *r = (const struct sl_list *)rules;

	*values = r->constant;
	return r->constants;
}

static int sl_list_weight_shift(const void *rules)
{
	return ((const struct sl_list *)rules)->weight_shift;
}

SL_MODEL(list, .help = "particles of lists in files of MCPL: filtered, sorted and written anew",
	.species = "particles", .read = true, .weight_shift = sl_list_weight_shift);

#endif
#endif
