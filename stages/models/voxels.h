/*
 * voxels.h - particles in a volume of voxels, each of one of up to 255 media that absorb, scatter
 * and refract.
 *
 * The voxel (i, j, k) fills the box between face i and i + 1 of x, j and j + 1 of y, k and k + 1 of
 * z. Face i is at i times the edge of a voxel, as a float. A position strictly between two faces is
 * in the voxel between them; on a face, the direction decides, and a particle that flies along the
 * face is in the upper voxel. So position and direction determine the voxel.
 *
 * Label 0 is the outside: a particle that enters such a voxel has left the volume, as it does at
 * the outer faces. Labels of media that are equal in all values are made one label, so that a
 * boundary between equal media changes no bit of any history.
 *
 * Each step is one flight, whose optical length is exponentially distributed with mean 1. It is a
 * straight line, and ends in a collision (absorption, else scattering), where the refractive index
 * changes or the volume ends (reflection with Fresnel's probability for unpolarised light, else
 * refraction), or at the time max_time. Inside a step the particle walks from voxel to voxel: the
 * distance to a face is computed from the start of the step, (face - start)/direction, and the
 * nearest face is crossed; of equal distances x goes before y, and y before z. Where the medium
 * changes but not its index, the optical length that is left is flown in the next medium. No
 * position is added up, and none is moved by a small distance to be on one side of a face: at the
 * end of a step a position is moved to the nearest float inside its voxel, or onto the face.
 *
 * A source that is outside, or in a voxel of label 0, flies to the first voxel of another label,
 * which reflects it (fate specular) or refracts it. If there is none, its fate is missed.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 * Block 2^32, which no flight can reach, gives the place of the start on a source with a width.
 * (Fang, Boas, Opt. Express 17 (2009) 20178; Amanatides, Woo, Eurographics 1987, 3.)
 */
#ifndef SL_STAGES_MODELS_VOXELS_H
#define SL_STAGES_MODELS_VOXELS_H

#include "stages/models/volume/voxels_source.h"
#include "stages/models/volume/voxels_walk.h"

/* --- steps ------------------------------------------------------------------------------------ */

/* A medium of model.h is a voxel, so there are many, whatever the volume is. */
SL_HD uint32_t sl_voxels_media(const struct sl_voxels *r)
{
	(void)r;
	return UINT32_MAX;
}

/* The fate of the particles of leaves, which have left the volume. */
SL_HD_PART void sl_voxels_leave(const struct sl_voxels *r, sl_mask leaves, sl_lanes *p)
{
	sl_mask hits = sl_all_mask(false);

	for (uint32_t k = 0; k < r->detectors; k++) {
		const struct sl_voxels_detector *d = &r->detector[k];
		sl_f32 x = p->x - d->x, y = p->y - d->y, z = p->z - d->z;

		hits = hits | (fmaf(x, x, fmaf(y, y, z * z)) <= d->radius2);
	}
	p->fate =
		sl_select_fate(leaves, sl_select_fate(hits, SL_FATE_hit, SL_FATE_escaped), p->fate);
}

/* p has come to the face at which its walk stopped. Returns the voxel where it is then. */
SL_HD_PART sl_u32 sl_voxels_pass(
	const struct sl_voxels *r, const struct sl_voxels_walk *w, sl_lanes *p, sl_f32 uniform)
{
	sl_u32 next = sl_voxels_label(r, w->place);
	sl_mask passes = sl_voxels_refract(
		w, p, SL_VOXELS_OF(r, w->label, n), SL_VOXELS_OF(r, next, n), uniform);
	sl_mask leaves = passes & (next == 0);

	sl_voxels_leave(r, leaves, p);
	return sl_voxels_of_walk(w, sl_not(passes) | leaves);
}

/* p has come to a collision, which absorbs or scatters it. */
SL_HD_PART void sl_voxels_collide(const struct sl_voxels *r, const struct sl_voxels_walk *w,
	sl_lanes *p, struct sl_flight *f, const struct sl_words *random)
{
	p->collisions += 1;
	sl_absorb(&r->roulette, SL_VOXELS_OF(r, w->label, absorb), SL_VOXELS_OF(r, w->label, keep),
		p, sl_uniform(random->at[1]));
	if (sl_any(p->fate == SL_FATE_alive)) {
		sl_f32 cosine = sl_henyey_greenstein(SL_VOXELS_OF(r, w->label, g),
			SL_VOXELS_OF(r, w->label, g_plus_1_squared_2), sl_uniform(random->at[2]));
		sl_lanes q = *p;

		sl_scatter(&q, cosine, 2.0f * sl_uniform(random->at[3]));
		f->deflection = sl_select(p->fate == SL_FATE_alive, 1.0f - cosine, f->deflection);
		sl_assign_some_if(SL_VOXELS_MOVED, p->fate == SL_FATE_alive, p, &q);
	}
}

/*
 * One step of p, which is alive and in voxel i, described in *f. Returns the voxel where it is
 * then; where a particle has left the volume, the last one. *label: that of the flight's end. sums
 * is as of sl_voxels_change(). It is always inlined, and the compiler drops what is not used.
 */
SL_HD_PART sl_u32 sl_voxels_flight(const struct sl_voxels *r, sl_u32 i, uint64_t seed, sl_lanes *p,
	struct sl_flight *f, struct sl_voxels_sums *sums)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(1, p->steps));
	struct sl_voxels_walk w = sl_voxels_begin(r, p, i);
	sl_f32 slowness = SL_VOXELS_OF(r, w.label, slowness);
	sl_mask alive = p->fate == SL_FATE_alive, late;

	w.length = -SL_VOXELS_OF(r, w.label, mean_free_path) * sl_log(sl_uniform(random.at[0]));
	w.latest = (r->max_time - p->time) / slowness;
	w.latest = sl_select(w.latest > 0.0f, w.latest, 0.0f);
	sl_voxels_go(r, p, &w, alive, sums);
	late = alive & sl_not(w.stops) & (w.latest <= w.length);
	f->length = sl_select(w.stops, w.stopped, sl_select(late, w.latest, w.length));
	f->collides = alive & sl_not(w.stops | late);
	f->deflection = sl_all(0.0f);
	if (sums)
		sl_voxels_add_path(sums, &w, alive, f->length);
	p->steps += 1;
	sl_voxels_fly(r, &w, p, f->length, slowness);
	i = sl_voxels_of_walk(&w, sl_all_mask(false));
	if (sl_any(f->collides)) {
		sl_lanes q = *p;
		struct sl_flight flight = *f;

		sl_voxels_collide(r, &w, &q, &flight, &random);
		f->deflection = sl_select(f->collides, flight.deflection, f->deflection);
		sl_assign_some_if(SL_VOXELS_MOVED, f->collides, p, &q);
	}
	if (sl_any(w.stops)) {
		sl_lanes q = *p;
		sl_u32 next = sl_voxels_pass(r, &w, &q, sl_uniform(random.at[1]));

		i = sl_select_u32(w.stops, next, i);
		sl_assign_some_if(SL_VOXELS_MOVED, w.stops, p, &q);
	}
	p->fate = sl_select_fate(late, SL_FATE_max_time, p->fate);
	sl_end_after(p, r->max_steps);
	return i;
}

SL_HD_PART sl_u32 sl_voxels_step_in(const struct sl_voxels *r, uint32_t most, sl_u32 i,
	uint64_t seed, sl_lanes *p, struct sl_flight *f)
{
	(void)most;
	return sl_voxels_flight(r, i, seed, p, f, NULL);
}

SL_STEP_BY_MEDIA(voxels)

#if SL_SIMD_LANES == 1
/*
 * Advances p by at most n steps. The voxel is known from step to step, and looked up only once.
 */
#define SL_ADVANCE_BY_VOXELS(model)                                                       \
	SL_HD void sl_##model##_advance(const struct sl_##model *r, sl_column_set wanted, \
		uint64_t seed, struct sl_particle *p, uint32_t n)                         \
	{                                                                                 \
		uint32_t i = sl_##model##_medium_at(r, UINT32_MAX, p);                    \
		struct sl_flight f;                                                       \
                                                                                          \
		(void)wanted;                                                             \
		while (n-- > 0 && p->fate == SL_FATE_alive)                               \
			i = sl_##model##_step_in(r, UINT32_MAX, i, seed, p, &f);          \
	}
#else
#define SL_ADVANCE_BY_VOXELS(model)
#endif
SL_ADVANCE_BY_VOXELS(voxels)

/* --- scores ----------------------------------------------------------------------------------- */

SL_HD uint32_t sl_voxels_max_steps(const struct sl_voxels *r)
{
	return r->max_steps;
}

SL_HD sl_u32 sl_voxels_label_in(const struct sl_voxels *r, sl_u32 i)
{
	return sl_voxels_label(r, sl_voxels_place(r, i));
}

SL_HD_PART sl_f32 sl_voxels_slowness_in(const struct sl_voxels *r, uint32_t most, sl_u32 i)
{
	(void)most;
	return SL_VOXELS_OF(r, sl_voxels_label_in(r, i), slowness);
}

SL_HD_PART sl_f32 sl_voxels_deposit_in(
	const struct sl_voxels *r, uint32_t most, sl_u32 i, const sl_lanes *p, sl_f32 weight)
{
	(void)most;
	return sl_deposit(&r->roulette, SL_VOXELS_OF(r, sl_voxels_label_in(r, i), keep), p, weight);
}

/* A clear medium has no mean free path, and so no estimate by collisions. */
SL_HD_PART sl_f32 sl_voxels_fluence_in(
	const struct sl_voxels *r, uint32_t most, sl_u32 i, sl_f32 weight)
{
	sl_f32 path = SL_VOXELS_OF(r, sl_voxels_label_in(r, i), mean_free_path);

	(void)most;
	return weight * sl_select(path < SL_VOXELS_CLEAR_PATH, path, 0.0f);
}

#ifdef SL_MODEL_HOST
#include "stages/models/model.h"

#include "stages/models/config/voxels_config.h"
#endif
#endif
