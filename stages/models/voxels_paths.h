/*
 * voxels_paths.h - the model voxels, with the path length, the collisions and the momentum transfer
 * of each history in up to three regions of media.
 *
 * The columns are those of slab_paths.h. Each medium belongs to a region, 1 to 3, or to none.
 * Histories are those of the model voxels, bit for bit: a flight adds up the parts of its path
 * while it walks, and media of equal values stay separate labels, whose boundaries change nothing.
 */
#ifndef SL_STAGES_MODELS_VOXELS_PATHS_H
#define SL_STAGES_MODELS_VOXELS_PATHS_H

#include "stages/models/voxels.h"

#define SL_COLUMNS_voxels_paths    (SL_COLUMNS_voxels | SL_COLUMNS_OF_REGIONS)
#define SL_FATES_voxels_paths      SL_FATES_voxels
#define SL_RECOMPUTED_voxels_paths false
#define SL_WEIGHTED_voxels_paths   true

struct sl_voxels_paths {
	struct sl_voxels voxels; /* the first member, so that rules of both models are one */
	/* of each label: its region; the least label with the same medium */
	uint8_t region[SL_VOXELS_MEDIA], same[SL_VOXELS_MEDIA];
};

SL_HD sl_lanes sl_voxels_paths_generate(
	const struct sl_voxels_paths *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	return sl_voxels_generate(&r->voxels, wanted, seed, id);
}

SL_HD_PART sl_u32 sl_voxels_paths_step_in(const struct sl_voxels_paths *r, uint32_t most, sl_u32 i,
	uint64_t seed, sl_lanes *p, struct sl_flight *f)
{
	const sl_f32 zero = sl_all(0.0f);
	struct sl_voxels_sums s = {r->region, r->same, zero, zero, zero, zero, sl_all_u32(0)};

	(void)most;
	i = sl_voxels_flight(&r->voxels, i, seed, p, f, &s);
#define REGION(k)                                                        \
	do {                                                             \
		sl_mask here = s.region_at_end == k;                     \
                                                                         \
		p->path_##k += s.path_##k;                               \
		p->collisions_##k += sl_one_if(here & f->collides);      \
		p->momentum_##k += sl_select(here, f->deflection, 0.0f); \
	} while (0);
	SL_EVERY_REGION(REGION)
#undef REGION
	return i;
}

/* All else is that of the voxels. */
SL_HD uint32_t sl_voxels_paths_media(const struct sl_voxels_paths *r)
{
	return sl_voxels_media(&r->voxels);
}

SL_HD uint32_t sl_voxels_paths_max_steps(const struct sl_voxels_paths *r)
{
	return sl_voxels_max_steps(&r->voxels);
}

#define sl_voxels_paths_medium_at(r, ...)   sl_voxels_medium_at(&(r)->voxels, __VA_ARGS__)
#define sl_voxels_paths_slowness_in(r, ...) sl_voxels_slowness_in(&(r)->voxels, __VA_ARGS__)
#define sl_voxels_paths_deposit_in(r, ...)  sl_voxels_deposit_in(&(r)->voxels, __VA_ARGS__)
#define sl_voxels_paths_fluence_in(r, ...)  sl_voxels_fluence_in(&(r)->voxels, __VA_ARGS__)

SL_STEP_BY_MEDIA(voxels_paths)

SL_ADVANCE_BY_VOXELS(voxels_paths)

#ifdef SL_MODEL_HOST

struct sl_voxels_paths_config {
	struct sl_voxels_config voxels;
};

#define OF_REGION   OF_MEDIUM
#define OPTION(...) SL_OPTION(sl_voxels_config, __VA_ARGS__),
static const struct sl_option sl_voxels_paths_options[] = {
#include "stages/models/config/voxels_options.def"
};
#undef OPTION
#undef OF_REGION

/* Labels of equal media are not made one: they may belong to different regions. */
static enum sl_status sl_voxels_paths_load(
	void *config, const void *rules, const struct sl_volume_reader *reader, const char **key)
{
	((struct sl_voxels_config *)config)->separate = true;
	return sl_voxels_load(config, rules, reader, key);
}

static void sl_voxels_paths_make(const void *config, const struct sl_model_common *common,
	void *rules, const struct sl_model_check *check)
{
	const struct sl_voxels_config *c = (const struct sl_voxels_config *)config;
	struct sl_voxels_paths *r = (struct sl_voxels_paths *)rules;
	bool any = false;

	memset(r, 0, sizeof(*r));
	sl_voxels_make(c, common, &r->voxels, check);
	for (uint64_t k = 0; k < c->n_media; k++)
		any |= c->media[k].region > 0;
	if (!any && c->n_media > SL_REGIONS)
		check->complain(check->ctx, "media",
			"has %" PRIu64
			" items and there are %d regions: give media a region, such as "
			"region: 1; paths in media without one are not counted",
			c->n_media, SL_REGIONS);
	for (uint64_t k = 1; k <= c->n_media; k++) {
		r->region[k] = (uint8_t)(any ? c->media[k - 1].region : k);
		r->same[k] = sl_voxels_same_label(c, k);
	}
}

/*
 * Collisions have the range of the column collisions; paths and momentum transfers are unbounded.
 */
static bool sl_voxels_paths_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
#define REGION(k)                               \
	if (column == SL_COLUMN_collisions_##k) \
		column = SL_COLUMN_collisions;
	SL_EVERY_REGION(REGION)
#undef REGION
	return sl_voxels_range(rules, column, lo, hi);
}

/* The columns of a region without media are 0. */
static sl_column_set sl_voxels_paths_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_voxels_paths *r = (const struct sl_voxels_paths *)rules;
	sl_column_set set = sl_voxels_constants(r, values), used = 0;

	for (uint32_t label = 0; label < SL_VOXELS_MEDIA; label++)
		used |= 1u << r->region[label];
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

SL_MODEL(voxels_paths,
	.help = "the model voxels, with path lengths, collisions and momentum transfers in regions",
	.species = "photons", .steps = true, .weight_fates = sl_voxels_weight_fates,
	.unused_fates = sl_voxels_unused_fates, .score_shift = sl_voxels_score_shift,
	.track_shift = sl_voxels_track_shift, .data = sl_voxels_data, .load = sl_voxels_paths_load,
	.voxels = sl_voxels_sizes);

#endif /* SL_MODEL_HOST */
#endif
