/*
 * slab_paths.h - the model slab, with the path length, the collisions and the momentum transfer of
 * each history in up to three regions of layers.
 *
 * Each layer belongs to a region, 1 to 3, or to none. A particle has, for each region k, the
 * columns
 *
 *	path_k        the length of its path in the layers of the region, cm
 *	collisions_k  its collisions there, the last one included
 *	momentum_k    the sum of 1 - cos(scattering angle) over its scatterings there
 *
 * Histories are those of the model slab, bit for bit, as long as layers of one medium are in one
 * region (other neighbours of one medium are not merged). The weight of a history changes by exp(-d
 * path_k) if the absorption of region k is increased by d afterwards
 * (scripts/change_absorption.py), and the momentum transfer gives the correlation of scattered
 * light.
 */
#ifndef SL_STAGES_MODELS_SLAB_PATHS_H
#define SL_STAGES_MODELS_SLAB_PATHS_H

#include "stages/models/slab.h"

#define SL_COLUMNS_slab_paths    (SL_COLUMNS_slab | SL_COLUMNS_OF_REGIONS)
#define SL_FATES_slab_paths      SL_FATES_slab
#define SL_RECOMPUTED_slab_paths false
#define SL_WEIGHTED_slab_paths   true

struct sl_slab_paths {
	struct sl_slab slab;
};

SL_HD sl_lanes sl_slab_paths_generate(
	const struct sl_slab_paths *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	return sl_slab_generate(&r->slab, wanted, seed, id);
}

/* Adds the flight f in a layer of the given region to the columns of p. */
SL_HD_PART void sl_slab_paths_add(sl_f32 region, const struct sl_flight *f, sl_lanes *p)
{
#define REGION(k)                                                        \
	do {                                                             \
		sl_mask here = region == (float)(k);                     \
                                                                         \
		p->path_##k += sl_select(here, f->length, 0.0f);         \
		p->collisions_##k += sl_one_if(here & f->collides);      \
		p->momentum_##k += sl_select(here, f->deflection, 0.0f); \
	} while (0);
	SL_EVERY_REGION(REGION)
#undef REGION
}

SL_HD_PART sl_u32 sl_slab_paths_step_in(const struct sl_slab_paths *paths, uint32_t most, sl_u32 i,
	uint64_t seed, sl_lanes *p, struct sl_flight *f)
{
	const struct sl_slab *r = &paths->slab;
	sl_f32 region = SL_SLAB_LAYER(i, region);

	i = sl_slab_step_in(r, most, i, seed, p, f);
	sl_slab_paths_add(region, f, p);
	return i;
}

/* All else is that of the slab. */
SL_HD uint32_t sl_slab_paths_media(const struct sl_slab_paths *r)
{
	return sl_slab_media(&r->slab);
}

SL_HD uint32_t sl_slab_paths_max_steps(const struct sl_slab_paths *r)
{
	return sl_slab_max_steps(&r->slab);
}

#define sl_slab_paths_medium_at(r, ...)   sl_slab_medium_at(&(r)->slab, __VA_ARGS__)
#define sl_slab_paths_slowness_in(r, ...) sl_slab_slowness_in(&(r)->slab, __VA_ARGS__)
#define sl_slab_paths_deposit_in(r, ...)  sl_slab_deposit_in(&(r)->slab, __VA_ARGS__)
#define sl_slab_paths_fluence_in(r, ...)  sl_slab_fluence_in(&(r)->slab, __VA_ARGS__)

SL_STEP_BY_MEDIA(slab_paths)

SL_ADVANCE_BY_STEPS(slab_paths)

#ifdef SL_MODEL_HOST

struct sl_slab_paths_config {
	struct sl_slab_config slab;
};

#define OPTION(...) SL_OPTION(sl_slab_config, __VA_ARGS__),
static const struct sl_option sl_slab_paths_options[] = {OPTION(regions, COUNTS, NUMBER, 0,
	SL_REGIONS,
	.help = "region of each layer, 1 to 3, or 0 for layers whose paths are not counted; "
		"if left out, up to three layers are the regions 1, 2 and 3")
#include "stages/models/config/slab_options.def"
};
#undef OPTION

/* Sets the regions that the configuration leaves out. n is the number of layers. */
static void sl_slab_paths_make_regions(
	struct sl_slab_config *c, uint32_t n, const struct sl_model_check *check)
{
	if (c->regions.n == 0) {
		if (n > SL_REGIONS)
			check->complain(check->ctx, "regions",
				"is missing: the slab has %u layers and there are %d regions; give "
				"the region of each layer, such as [1, 1, 2, 0]",
				n, SL_REGIONS);
		for (uint32_t i = 0; i < n && i < SL_REGIONS; i++)
			c->regions.at[c->regions.n++] = i + 1;
	} else if (c->regions.n != 1 && c->regions.n != n) {
		check->complain(check->ctx, "regions",
			"has %u values for %u layers: each layer needs one; give one per layer, or "
			"one for all",
			c->regions.n, n);
	}
}

static void sl_slab_paths_make(const void *config, const struct sl_model_common *common,
	void *rules, const struct sl_model_check *check)
{
	struct sl_slab_config c = *(const struct sl_slab_config *)config;
	const struct sl_reals *const lists[] = {&c.mu_a, &c.mu_s, &c.g, &c.thickness, &c.n};
	uint32_t n = 0;

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		n = lists[k]->n > n ? lists[k]->n : n;
	sl_slab_paths_make_regions(&c, n, check);
	sl_slab_make(&c, common, &((struct sl_slab_paths *)rules)->slab, check);
}

/*
 * Collisions have the range of the column collisions; paths and momentum transfers are unbounded.
 */
static bool sl_slab_paths_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_slab *r = &((const struct sl_slab_paths *)rules)->slab;

#define REGION(k)                               \
	if (column == SL_COLUMN_collisions_##k) \
		column = SL_COLUMN_collisions;
	SL_EVERY_REGION(REGION)
#undef REGION
	return sl_slab_range(r, column, lo, hi);
}

/* The columns of a region without layers are 0. */
static sl_column_set sl_slab_paths_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_slab *r = &((const struct sl_slab_paths *)rules)->slab;
	sl_column_set set = sl_slab_constants(r, values), used = 0;

	for (uint32_t i = 0; i < r->layers; i++)
		used |= 1u << (uint32_t)r->layer[i].region;
#define REGION(k)                                                                      \
	if (!SL_HAS(used, k)) {                                                        \
		set |= SL_BIT(SL_COLUMN_path_##k) | SL_BIT(SL_COLUMN_collisions_##k) | \
		       SL_BIT(SL_COLUMN_momentum_##k);                                 \
		values->path_##k = values->momentum_##k = 0;                           \
		values->collisions_##k = 0;                                            \
	}
	SL_EVERY_REGION(REGION)
#undef REGION
	return set;
}

SL_MODEL(slab_paths,
	.help = "the model slab, with path lengths, collisions and momentum transfers in regions",
	.species = "photons", .steps = true, .weight_fates = sl_slab_weight_fates,
	.unused_fates = sl_slab_unused_fates, .score_shift = sl_slab_score_shift,
	.track_shift = sl_slab_track_shift, .data = sl_slab_data,
	.source = offsetof(struct sl_slab_paths_config, slab.source.list),
	.source_key = "source.list");

#endif /* SL_MODEL_HOST */
#endif
