/*
 * slab_source.h - how particles start in the model slab: on the surface z = 0, which reflects some of
 * them, or at a point inside.
 *
 *	pencil     at the origin
 *	gaussian   normally distributed in x and in y (Box and Muller, 1958)
 *	disk       uniformly over a disk about the origin
 *	fibre      uniformly over the end of a fibre about the origin, in directions within the cone
 *	           of its numerical aperture. The radiance is the same in the whole cone, so the
 *	           squared sine of the angle to the axis is uniformly distributed.
 *	isotropic  at a point on the axis inside the slab, in all directions
 *
 * slab.h includes it.
 */
#ifndef SL_STAGES_MODELS_SLAB_SOURCE_H
#define SL_STAGES_MODELS_SLAB_SOURCE_H

/* The block of random words that gives the place on a source with a width: no flight reaches it. */
#define SL_SLAB_PLACE_BLOCK (UINT64_C(1) << 32)

/* Moves p from the origin to its place on a source with a width. */
SL_HD_PART void sl_slab_start_place(const struct sl_slab *r, sl_lanes *p, uint64_t seed)
{
	struct sl_words random = sl_draw(seed, p->id, sl_all_u64(SL_SLAB_PLACE_BLOCK));
	sl_f32 uniform = sl_uniform(random.at[0]), radius, sine, cosine;

	radius = r->size * sqrtf(r->source == SL_SLAB_GAUSSIAN ? -2.0f * sl_log(uniform) : uniform);
	sl_sincospi(2.0f * sl_uniform(random.at[1]), &sine, &cosine);
	p->x = radius * cosine;
	p->y = radius * sine;
}

/* Sets the direction in which p starts, before the surface refracts it. */
SL_HD_PART void sl_slab_start_direction(
	const struct sl_slab *r, sl_lanes *p, sl_u32 word0, sl_u32 word1)
{
	sl_f32 sine, s, c;

	p->u = sl_all(r->sin_in);
	p->w = sl_all(r->cos_in);
	if (r->source == SL_SLAB_FIBRE || r->source == SL_SLAB_ISOTROPIC) {
		sl_f32 uniform = sl_uniform(word0);

		if (r->source == SL_SLAB_FIBRE) {
			sine = sqrtf(r->sine2 * uniform);
			p->w = sqrtf(fmaf(-r->sine2, uniform, 1.0f));
		} else { /* 1 - uniform with full resolution at both ends, as in sl_lambertian() */
			sine = 2.0f * sqrtf(uniform * sl_uniform(~word0));
			p->w = fmaf(-2.0f, uniform, 1.0f);
		}
		sl_sincospi(2.0f * sl_uniform(word1), &s, &c);
		p->u = sine * c;
		p->v = sine * s;
	} else if (r->incidence == SL_SLAB_DIFFUSE) {
		sl_lambertian(p, sl_all(0.0f), sl_all(0.0f), sl_all(1.0f), word0, word1);
	}
}

/* The surface reflects p, or refracts it into the first layer. */
SL_HD_PART void sl_slab_enter(const struct sl_slab *r, sl_lanes *p, sl_f32 uniform)
{
	const float n_above = r->layer[0].n_above, n = r->layer[0].n;
	sl_lanes inside = *p;
	sl_f32 beyond;
	sl_mask reflects = uniform <= sl_fresnel(sl_all(n_above), sl_all(n), p->w, &beyond);

	sl_refract(&inside, sl_all(n_above / n), beyond);
	p->w = -p->w;
	p->fate = sl_all_fate(r->bounced);
	sl_assign_if(sl_not(reflects), p, &inside);
}

SL_HD sl_lanes sl_slab_generate(const struct sl_slab *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	if (r->size > 0.0f)
		sl_slab_start_place(r, &p, seed);
	sl_slab_start_direction(r, &p, random.at[1], random.at[2]);
	if (r->source == SL_SLAB_ISOTROPIC)
		p.z = sl_all(r->depth);
	else
		sl_slab_enter(r, &p, sl_uniform(random.at[0]));
	return p;
}

#endif
