/*
 * flight_score.h - what a flight scores: the length of its path in each cell of a grid, or where it crosses
 * a plane.
 *
 * A flight is a straight line in one layer. Its path is cut where it leaves a bin of an axis: at a plane
 * on the axes x, y and z, at a time on the axis time, at a cylinder on the axis r. sl_track_next() gives
 * the pieces in the order of the flight. All of this is computed in single precision, by the same
 * operations on the host and on a device, so the pieces have the same bits.
 *
 *	struct sl_track t = sl_track_begin(g, edge, &flight);
 *
 *	while (sl_track_next(g, edge, &flight, &t))
 *		... t.length is the length of a piece, t.cell its counter within the row
 *
 * Each axis moves from one of its bins to the next, so that there are at most as many pieces as bins of all
 * axes, twice that of r. A place within rounding of an edge may be in the bin on either side.
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

/* A place on the flight: how the pieces go on from there. */
struct sl_track {
	float at;                         /* distance from the beginning */
	float exit[SL_GRID_AXES_MAX];     /* where the flight leaves the bin of an axis */
	uint32_t bin[SL_GRID_AXES_MAX];   /* 0: below; bins + 1: above */
	uint32_t after[SL_GRID_AXES_MAX]; /* the next bin */
	bool outward[SL_GRID_AXES_MAX];   /* on the axis r, which it no longer approaches */
	bool ended;
	float length; /* of the piece */
	uint32_t cell;
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

/* Sets where the flight leaves its bin of axis k, one of planes. */
SL_HD void sl_track_find_plane(const struct sl_grid_axis_rule *a, const float *edge,
	const struct sl_scored_flight *f, uint32_t k, struct sl_track *t)
{
	float rate, start = sl_track_start(a->even.column, f, &rate);
	uint32_t bin = t->bin[k];

	t->exit[k] = SL_TRACK_NEVER;
	if (rate > 0 && bin <= a->even.bins) {
		t->after[k] = bin + 1;
		t->exit[k] = (sl_track_edge(a, edge, bin) - start) / rate;
	} else if (rate < 0 && bin > 0) {
		t->after[k] = bin - 1;
		t->exit[k] = (sl_track_edge(a, edge, bin - 1) - start) / rate;
	}
}

/*
 * The same for the axis r. At distance s the squared radius is a s^2 + 2 b s + c. A flight goes inwards, to the
 * inner edge of its bin if it reaches it; after it has gone outwards once, it goes inwards no more.
 */
SL_HD void sl_track_find_ring(const struct sl_grid_axis_rule *axis, const float *edge,
	const struct sl_scored_flight *f, uint32_t k, struct sl_track *t)
{
	float a = fmaf(f->u, f->u, f->v * f->v), b = fmaf(f->x, f->u, f->y * f->v);
	float c = fmaf(f->x, f->x, f->y * f->y), inner, outer, root;
	uint32_t bin = t->bin[k];

	t->exit[k] = SL_TRACK_NEVER;
	if (!(a > 0))
		return;
	inner = bin > 0 ? sl_track_edge(axis, edge, bin - 1) : 0.0f;
	root = fmaf(b, b, -a * fmaf(-inner, inner, c));
	if (!t->outward[k] && inner > 0 && root > 0 && fmaf(a, t->at, b) < 0) {
		t->after[k] = bin - 1;
		t->exit[k] = (-b - sqrtf(root)) / a;
		return;
	}
	t->outward[k] = true;
	if (bin > axis->even.bins)
		return;
	outer = sl_track_edge(axis, edge, bin);
	root = fmaf(b, b, -a * fmaf(-outer, outer, c));
	t->after[k] = bin + 1;
	t->exit[k] = (sqrtf(root > 0 ? root : 0.0f) - b) / a;
}

SL_HD void sl_track_find(const struct sl_grid_rule *g, const float *edge,
	const struct sl_scored_flight *f, uint32_t k, struct sl_track *t)
{
	if (g->axis[k].even.column == SL_COLUMN_r)
		sl_track_find_ring(&g->axis[k], edge, f, k, t);
	else
		sl_track_find_plane(&g->axis[k], edge, f, k, t);
}

SL_HD struct sl_track sl_track_begin(
	const struct sl_grid_rule *g, const float *edge, const struct sl_scored_flight *f)
{
	struct sl_track t = {0};

	for (uint32_t k = 0; k < g->n_axes; k++) {
		const struct sl_grid_axis_rule *a = &g->axis[k];
		float rate, at = a->even.column == SL_COLUMN_r
		                         ? sl_grid_radius(f->x, f->y)
		                         : sl_track_start(a->even.column, f, &rate);

		t.bin[k] = sl_grid_bin_of_float(a, edge, at);
		sl_track_find(g, edge, f, k, &t);
	}
	return t;
}

/* The counter within the row, as sl_grid_cell(). */
SL_HD uint32_t sl_track_cell(const struct sl_grid_rule *g, const struct sl_track *t)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < g->n_axes; k++)
		if (!sl_grid_add_bin(g, k, t->bin[k], &cell))
			return cell;
	return cell + 1;
}

/* Sets the next piece of the flight; false: there is none. Only the last piece can have no length. */
SL_HD bool sl_track_next(const struct sl_grid_rule *g, const float *edge,
	const struct sl_scored_flight *f, struct sl_track *t)
{
	while (!t->ended) {
		float from = t->at, to = f->length;
		uint32_t first = SL_GRID_AXES_MAX;

		for (uint32_t k = 0; k < g->n_axes; k++)
			if (t->exit[k] < to) {
				to = t->exit[k];
				first = k;
			}
		t->cell = sl_track_cell(g, t);
		t->at = to > from ? to : from;
		t->length = t->at - from;
		if (first < SL_GRID_AXES_MAX) {
			t->bin[first] = t->after[first];
			sl_track_find(g, edge, f, first, t);
		} else
			t->ended = true;
		if (t->length > 0 || t->ended)
			return true;
	}
	return false;
}

/*
 * The score of a piece in units of 2^(score_shift - 32). *count is the number of counts for it: one for each
 * unit of 2^score_shift that it has begun, so that 2^32 counts cannot overflow a sum. The limit of 2^30
 * is that of 64 bits; no flight reaches it but one along a clear layer.
 */
SL_HD uint64_t sl_track_fixed(
	const struct sl_grid_rule *g, float weight, float length, uint64_t *count)
{
	float score = weight * length * g->score_scale;

	score = score < 0x1p30f ? score : 0x1p30f;
	*count = (uint64_t)score + 1;
	return sl_fixed_weight(score);
}

/*
 * Whether a flight crosses the plane of a grid; the particle at the place where it does has the columns of
 * *p. A flight that ends on the plane from above, or begins on it and goes up, crosses it.
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
