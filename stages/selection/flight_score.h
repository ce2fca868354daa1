/*
 * flight_score.h - what a flight scores: the length of its path in each cell of a grid, or where it
 * crosses a plane.
 *
 * A flight is a straight line in one layer. Its path is cut where it leaves a bin of an axis: at a
 * plane on the axes x, y and z, at a time on the axis time, at a cylinder on the axis r.
 * sl_track_next() gives the pieces in the order of the flight. All of this is computed in single
 * precision, by the same operations on the host and on a device, so the pieces have the same bits.
 *
 *	struct sl_track t = sl_track_begin(g, edge, &flight);
 *
 *	while (sl_track_next(g, edge, &flight, &t))
 *		... t.length is the length of a piece, t.cell its counter within the row
 *
 * Each axis moves from one of its bins to the next, so that there are at most as many pieces as
 * bins of all axes, twice that of r. A place within rounding of an edge may be in the bin on either
 * side.
 */
#ifndef SL_STAGES_SELECTION_FLIGHT_SCORE_H
#define SL_STAGES_SELECTION_FLIGHT_SCORE_H

#include "stages/selection/grid.h"

#define SL_TRACK_NEVER 3e38f /* farther than any flight */

struct sl_scored_flight {
	float x, y, z, time; /* where it begins */
	float u, v, w;
	float slowness; /* ns/cm */
	float length;   /* cm */
	float end_z;    /* where it ends */
	float weight;
};

/*
 * A place on the flight: how the pieces go on from there. Loops over the axes have a constant
 * number of rounds and compare the axis, because a device keeps arrays in registers only if no
 * variable indexes them.
 */
struct sl_track {
	float at;                       /* distance from the beginning */
	float exit[SL_GRID_AXES_MAX];   /* where the flight leaves the bin of an axis */
	uint32_t bin[SL_GRID_AXES_MAX]; /* 0: below; bins + 1: above */
	uint32_t
		up; /* set of axes on which the next bin is the next higher one, else the next lower one */
	uint32_t outward; /* set of axes r that the flight no longer approaches */
	bool ended;
	float length; /* of the piece */
	uint32_t cell;
};

/* Where a flight leaves a bin. */
struct sl_track_exit {
	float at;
	bool up, outward;
};

/* Edge k of an axis, from 0 to bins. */
SL_HD float sl_track_edge(const struct sl_grid_axis_rule *a, const float *edge, uint32_t k)
{
	if (a->spacing == SL_SPACING_EDGES)
		return edge[a->first_edge + k];
	return k == a->even.bins ? a->even.hi : fmaf((float)k, a->width, a->even.lo);
}

/* Where a flight begins on an axis, and how far it moves on it per cm. Not for r. */
SL_HD float sl_track_start(enum sl_column column, const struct sl_scored_flight *f, float *rate)
{
	switch (column) {
	case SL_COLUMN_x:
		*rate = f->u;
		return f->x;
	case SL_COLUMN_y:
		*rate = f->v;
		return f->y;
	case SL_COLUMN_z:
		*rate = f->w;
		return f->z;
	default:
		*rate = f->slowness;
		return f->time;
	}
}

/* Finds where the flight leaves a bin of an axis of planes. */
SL_HD struct sl_track_exit sl_track_find_plane(const struct sl_grid_axis_rule *a, const float *edge,
	const struct sl_scored_flight *f, uint32_t bin)
{
	float rate, start = sl_track_start(a->even.column, f, &rate);
	struct sl_track_exit e = {SL_TRACK_NEVER, rate > 0, false};

	if (rate > 0 ? bin <= a->even.bins : rate < 0 && bin > 0)
		e.at = (sl_track_edge(a, edge, e.up ? bin : bin - 1) - start) / rate;
	return e;
}

/*
 * The same for the axis r. At distance s the squared radius is a s^2 + 2 b s + c. A flight goes
 * inwards, to the inner edge of its bin if it reaches it; after it has gone outwards once, it goes
 * inwards no more.
 */
SL_HD struct sl_track_exit sl_track_find_ring(const struct sl_grid_axis_rule *axis,
	const float *edge, const struct sl_scored_flight *f, uint32_t bin, bool outward, float at)
{
	float a = fmaf(f->u, f->u, f->v * f->v), b = fmaf(f->x, f->u, f->y * f->v);
	float c = fmaf(f->x, f->x, f->y * f->y), inner, outer, root;
	struct sl_track_exit e = {SL_TRACK_NEVER, true, outward};

	if (!(a > 0))
		return e;
	inner = bin > 0 ? sl_track_edge(axis, edge, bin - 1) : 0.0f;
	root = fmaf(b, b, -a * fmaf(-inner, inner, c));
	if (!outward && inner > 0 && root > 0 && fmaf(a, at, b) < 0) {
		e.up = false;
		e.at = (-b - sqrtf(root)) / a;
		return e;
	}
	e.outward = true;
	if (bin > axis->even.bins)
		return e;
	outer = sl_track_edge(axis, edge, bin);
	root = fmaf(b, b, -a * fmaf(-outer, outer, c));
	e.at = (sqrtf(root > 0 ? root : 0.0f) - b) / a;
	return e;
}

/* Moves the flight to a bin of axis k. */
SL_HD void sl_track_enter(const struct sl_grid_rule *g, const float *edge,
	const struct sl_scored_flight *f, uint32_t k, uint32_t bin, struct sl_track *t)
{
	const struct sl_grid_axis_rule *a = &g->axis[k];
	const uint32_t axis = UINT32_C(1) << k;
	const struct sl_track_exit e =
		a->even.column == SL_COLUMN_r
			? sl_track_find_ring(a, edge, f, bin, (t->outward & axis) != 0, t->at)
			: sl_track_find_plane(a, edge, f, bin);

	for (uint32_t i = 0; i < SL_GRID_AXES_MAX; i++) {
		t->bin[i] = i == k ? bin : t->bin[i];
		t->exit[i] = i == k ? e.at : t->exit[i];
	}
	t->up = e.up ? t->up | axis : t->up & ~axis;
	t->outward |= e.outward ? axis : 0;
}

SL_HD struct sl_track sl_track_begin(
	const struct sl_grid_rule *g, const float *edge, const struct sl_scored_flight *f)
{
	struct sl_track t = {0, {SL_TRACK_NEVER, SL_TRACK_NEVER, SL_TRACK_NEVER, SL_TRACK_NEVER},
		{0}, 0, 0, false, 0, 0};

	for (uint32_t k = 0; k < SL_GRID_AXES_MAX; k++) {
		const struct sl_grid_axis_rule *a = &g->axis[k];
		float rate, at;

		if (k == g->n_axes)
			break;
		at = a->even.column == SL_COLUMN_r ? sl_grid_radius(f->x, f->y)
		                                   : sl_track_start(a->even.column, f, &rate);
		sl_track_enter(g, edge, f, k, sl_grid_bin_of_float(a, edge, at), &t);
	}
	return t;
}

/* The counter within the row, as sl_grid_cell(). */
SL_HD uint32_t sl_track_cell(const struct sl_grid_rule *g, const struct sl_track *t)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < SL_GRID_AXES_MAX; k++) {
		if (k == g->n_axes)
			break;
		if (!sl_grid_add_bin(g, k, t->bin[k], &cell))
			return cell;
	}
	return cell + 1;
}

/*
 * Sets the next piece of the flight; false: there is none. Only the last piece can have no length.
 */
SL_HD bool sl_track_next(const struct sl_grid_rule *g, const float *edge,
	const struct sl_scored_flight *f, struct sl_track *t)
{
	while (!t->ended) {
		float from = t->at, to = f->length;
		uint32_t first = SL_GRID_AXES_MAX, bin = 0;

		for (uint32_t k = 0; k < SL_GRID_AXES_MAX; k++) {
			bool is_first = t->exit[k] < to;

			to = is_first ? t->exit[k] : to;
			bin = is_first ? t->bin[k] : bin;
			first = is_first ? k : first;
		}
		t->cell = sl_track_cell(g, t);
		t->at = to > from ? to : from;
		t->length = t->at - from;
		if (first < SL_GRID_AXES_MAX)
			sl_track_enter(
				g, edge, f, first, t->up >> first & 1 ? bin + 1 : bin - 1, t);
		else
			t->ended = true;
		if (t->length > 0 || t->ended)
			return true;
	}
	return false;
}

/*
 * The score of a piece in units of 2^(score_shift - 32). *count is the number of counts for it: one
 * for each unit of 2^score_shift that it has begun, so that 2^32 counts cannot overflow a sum. The
 * limit of 2^30 is that of 64 bits; no flight reaches it but one along a clear layer.
 */
SL_HD uint64_t sl_track_fixed(float score_scale, float weight, float length, uint64_t *count)
{
	float score = weight * length * score_scale;

	score = score < 0x1p30f ? score : 0x1p30f;
	*count = (uint32_t)score + 1;
	return sl_fixed_weight(score);
}

/*
 * Whether a flight crosses the plane of a grid; the particle at the place where it does has the
 * columns of *p. A flight that ends on the plane from above, or begins on it and goes up, crosses
 * it.
 */
SL_HD bool sl_flight_crosses(
	const struct sl_grid_rule *g, const struct sl_scored_flight *f, struct sl_particle *p)
{
	bool above = f->z < g->plane, ends_above = f->end_z < g->plane;
	float at;

	if (above == ends_above)
		return false;
	at = (g->plane - f->z) / f->w;
	at = at > 0 ? at : 0.0f;
	at = at < f->length ? at : f->length;
	p->x = fmaf(at, f->u, f->x);
	p->y = fmaf(at, f->v, f->y);
	p->time = fmaf(at, f->slowness, f->time);
	p->u = f->u;
	p->v = f->v;
	p->w = f->w;
	p->r = sl_grid_radius(p->x, p->y);
	return true;
}

#endif
