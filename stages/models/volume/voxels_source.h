/*
 * voxels_source.h - how particles of the model voxels start.
 *
 *	pencil     at the position, in the direction
 *	gaussian   normally distributed in the plane across the direction (Box and Muller, 1958)
 *	disk       uniformly over a disk across the direction
 *	fibre      over a disk, in directions within the cone of a numerical aperture, in which the
 *	           radiance is the same: the squared sine is uniformly distributed
 *	isotropic  at the position, in all directions
 *	cone       at the position, in directions uniformly distributed within a cone
 *	planar     uniformly over a parallelogram
 *	line       uniformly over a line segment, in directions across it
 *	slit       uniformly over a line segment, in the direction
 *	pattern    over a parallelogram, with the chances of the pixels of an image, in the direction
 *	list       where particles of a list are
 */
#ifndef SL_STAGES_MODELS_VOLUME_VOXELS_SOURCE_H
#define SL_STAGES_MODELS_VOLUME_VOXELS_SOURCE_H

#include "stages/models/volume/voxels_walk.h"

/* The block of random words that gives the place on a source with a width: no flight reaches it. */
#define SL_VOXELS_PLACE_BLOCK (UINT64_C(1) << 32)

/*
 * The number of a random word in a list of n chances up to each of them, of which the last is 2^31:
 * comparisons of integers, exact everywhere. Bits are read as those of floats, which lanes gather.
 */
SL_HD_PART sl_u32 sl_voxels_pick(const struct sl_voxels *r, sl_u32 first, uint32_t n, sl_u32 word)
{
	const float *chance = (const float *)((const char *)r->data.at + r->pattern);
	sl_u32 at = sl_all_u32(0);

	for (uint32_t left = n; left > 1; left -= left / 2) {
		sl_u32 next = at + left / 2;

		at = sl_select_u32(
			sl_bits(SL_ITEM(chance, first + (next - 1u))) <= word >> 1, next, at);
	}
	return at;
}

/* Moves p from the position of the source to its place on it. */
SL_HD_PART void sl_voxels_start_place(const struct sl_voxels *r, sl_lanes *p, uint64_t seed)
{
	struct sl_words random = sl_draw(seed, p->id, sl_all_u64(SL_VOXELS_PLACE_BLOCK));
	sl_f32 a = sl_uniform(random.at[0]), b = sl_uniform(random.at[1]);

	if (r->source == SL_VOXELS_PATTERN) {
		sl_u32 none = sl_all_u32(0), i = sl_voxels_pick(r, none, r->rows, random.at[2]);
		sl_u32 j = sl_voxels_pick(r, i * r->columns + r->rows, r->columns, random.at[3]);

		a = (sl_f32_of(i) + a) / (float)r->rows;
		b = (sl_f32_of(j) + b) / (float)r->columns;
	}
	if (r->source >= SL_VOXELS_PLANAR) {
		p->x = fmaf(a, r->side_x[0], fmaf(b, r->side_x[1], p->x));
		p->y = fmaf(a, r->side_y[0], fmaf(b, r->side_y[1], p->y));
		p->z = fmaf(a, r->side_z[0], fmaf(b, r->side_z[1], p->z));
	} else {
		sl_lanes q = *p;
		sl_f32 radius =
			r->size * sqrtf(r->source == SL_VOXELS_GAUSSIAN ? -2.0f * sl_log(a) : a);

		sl_deflect(&q, p->u, p->v, p->w, radius, sl_all(0.0f), 2.0f * b);
		p->x += q.u;
		p->y += q.v;
		p->z += q.w;
	}
}

/* Turns p from the direction of the source into its own. */
SL_HD_PART void sl_voxels_start_direction(
	const struct sl_voxels *r, sl_lanes *p, sl_u32 word0, sl_u32 word1)
{
	sl_f32 spread = r->spread * sl_uniform(word0), sine, cosine;

	if (r->source == SL_VOXELS_FIBRE) {
		sine = sqrtf(spread);
		cosine = sqrtf(1.0f - spread);
	} else { /* of a line, the spread is 1 without a random number */
		spread = r->source == SL_VOXELS_LINE ? sl_all(1.0f) : spread;
		sine = sqrtf(spread * (2.0f - spread));
		cosine = 1.0f - spread;
	}
	sl_deflect(p, p->u, p->v, p->w, sine, cosine, 2.0f * sl_uniform(word1));
	sl_set_direction(p, p->u, p->v, p->w);
}

/* Where a flight is between the outer faces of an axis, by distance. */
struct sl_voxels_span {
	sl_f32 from, to;
};

SL_HD struct sl_voxels_span sl_voxels_between(sl_f32 start, sl_f32 direction, float end)
{
	sl_f32 inverse = 1.0f / (direction + 0.0f), a = -start * inverse,
	       b = (end - start) * inverse, never = sl_all(3e38f);
	sl_mask along = direction != 0.0f, inside = (start >= 0.0f) & (start < end), up = a < b;
	struct sl_voxels_span s;

	s.from = sl_select(along, sl_select(up, a, b), sl_select(inside, -never, never));
	s.to = sl_select(along, sl_select(up, b, a), sl_select(inside, never, -never));
	return s;
}

/* The coordinate of a particle that enters the volume: on the face, or between the faces. */
SL_HD sl_f32 sl_voxels_entry(sl_f32 at, sl_f32 direction, float end, sl_mask on_face)
{
	const sl_f32 low = sl_all(sl_float(1u)), high = sl_float(sl_bits(sl_all(end)) - 1u);

	at = sl_select(at < low, low, sl_select(at > high, high, at));
	return sl_select(on_face, sl_select(direction < 0.0f, end, 0.0f), at);
}

/* Moves an axis of a walk back to the voxel before the volume. */
SL_HD_PART void sl_voxels_step_back(
	sl_mask m, sl_f32 start, float edge, struct sl_voxels_axis *a, sl_u32 *place)
{
	*place = sl_select_u32(m, *place - a->places, *place);
	a->face = sl_select(m, a->face - a->way, a->face);
	a->at = sl_select(m, (a->face * edge - start) * a->inverse, a->at);
}

/* The distance to the outer face ahead, exactly as the walk computes it. */
SL_HD sl_f32 sl_voxels_outer(const struct sl_voxels_axis *a, sl_f32 start, float n, float edge)
{
	return (sl_select(a->way > 0.0f, n, 0.0f) * edge - start) * a->inverse;
}

SL_HD sl_f32 sl_voxels_least(sl_f32 a, sl_f32 b)
{
	return sl_select(a < b, a, b);
}

/*
 * Flies p from outside the volume to its surface. Returns the lanes in which it does so; *misses:
 * it flies past. The walk begins before the face by which p comes in.
 */
SL_HD_PART struct sl_voxels_walk sl_voxels_come_in(
	const struct sl_voxels *r, sl_lanes *p, sl_f32 slowness, sl_mask *misses)
{
	const float end_x = r->nx * r->dx, end_y = r->ny * r->dy, end_z = r->nz * r->dz;
	struct sl_voxels_span x = sl_voxels_between(p->x, p->u, end_x),
			      y = sl_voxels_between(p->y, p->v, end_y),
			      z = sl_voxels_between(p->z, p->w, end_z);
	sl_f32 from = -sl_voxels_least(-x.from, sl_voxels_least(-y.from, -z.from));
	sl_f32 to = sl_voxels_least(x.to, sl_voxels_least(y.to, z.to));
	sl_mask outside = from > 0.0f, at_x = outside & (x.from == from),
		at_y = outside & sl_not(at_x) & (y.from == from),
		at_z = outside & sl_not(at_x | at_y);
	struct sl_voxels_walk w;

	*misses = sl_not((from < to) & (to > 0.0f));
	outside = outside & sl_not(*misses);
	if (sl_any(outside)) {
		sl_lanes q = *p;

		sl_fly(&q, from, slowness);
		q.x = sl_voxels_entry(q.x, p->u, end_x, at_x);
		q.y = sl_voxels_entry(q.y, p->v, end_y, at_y);
		q.z = sl_voxels_entry(q.z, p->w, end_z, at_z);
		sl_assign_some_if(SL_VOXELS_MOVED, outside, p, &q);
	}
	w = sl_voxels_begin(r, p, sl_voxels_medium_at(r, 1, p));
	sl_voxels_step_back(outside & at_x, p->x, r->dx, &w.x, &w.place);
	sl_voxels_step_back(outside & at_y, p->y, r->dy, &w.y, &w.place);
	sl_voxels_step_back(outside & at_z, p->z, r->dz, &w.z, &w.place);
	w.label = sl_select_u32(outside, 0u, w.label);
	return w;
}

/* Brings p to the first voxel that is not of label 0, whose surface reflects or refracts it. */
SL_HD_PART void sl_voxels_launch(const struct sl_voxels *r, sl_lanes *p, sl_f32 uniform)
{
	sl_u32 none = sl_all_u32(0);
	sl_f32 slowness = SL_VOXELS_OF(r, none, slowness);
	sl_lanes q = *p;
	sl_mask misses, walks;
	struct sl_voxels_walk w = sl_voxels_come_in(r, &q, slowness, &misses);

	walks = sl_not(misses) & (w.label == 0);
	if (sl_any(walks)) {
		w.latest = sl_all(HUGE_VALF);
		w.length = sl_voxels_least(sl_voxels_outer(&w.x, q.x, r->nx, r->dx),
			sl_voxels_least(sl_voxels_outer(&w.y, q.y, r->ny, r->dy),
				sl_voxels_outer(&w.z, q.z, r->nz, r->dz)));
		sl_voxels_go(r, &q, &w, walks, NULL);
		misses = misses | (walks & sl_not(w.stops));
		if (sl_any(w.stops)) {
			sl_lanes in = q;
			sl_u32 label = sl_voxels_label(r, w.place);
			sl_mask passes;

			sl_voxels_fly(r, &w, &in, w.stopped, slowness);
			passes = sl_voxels_refract(&w, &in, SL_VOXELS_OF(r, none, n),
				SL_VOXELS_OF(r, label, n), uniform);
			in.fate = sl_select_fate(passes, SL_FATE_alive, SL_FATE_specular);
			sl_assign_some_if(SL_VOXELS_MOVED, w.stops, &q, &in);
		}
	}
	p->fate = sl_all_fate(SL_FATE_missed);
	sl_assign_some_if(SL_VOXELS_MOVED, sl_not(misses), p, &q);
}

SL_HD sl_lanes sl_voxels_generate(
	const struct sl_voxels *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	if (r->data.list.n > 0) {
		sl_list_start(&r->data, seed, &p);
	} else {
		p.x = sl_all(r->position_x);
		p.y = sl_all(r->position_y);
		p.z = sl_all(r->position_z);
		p.u = sl_all(r->direction_x);
		p.v = sl_all(r->direction_y);
		p.w = sl_all(r->direction_z);
		if (r->size > 0.0f)
			sl_voxels_start_place(r, &p, seed);
		if (r->spread > 0.0f)
			sl_voxels_start_direction(r, &p, random.at[1], random.at[2]);
	}
	sl_voxels_launch(r, &p, sl_uniform(random.at[0]));
	return p;
}

#endif
