/*
 * score_lanes.h - adds the collisions of a step of all lanes to the scores of a batch
 * (stages/selection/grid.h), on the host. flight_loop.h adds the flights; on a device
 * stages/counting/score.cu does both.
 *
 * All lanes are computed, also those without a collision, which score 0: their number is hard to
 * predict for a processor. The cells of a step are added to during the next one. By then they are
 * in memory, and the additions overlap with the computation of the next cells.
 */
#ifndef SL_STAGES_COUNTING_SCORE_LANES_H
#define SL_STAGES_COUNTING_SCORE_LANES_H

#include "stages/counting/flight_loop.h"
#include "stages/counting/score_word.h"
#include "stages/models/common/flight.h"
#include "stages/particle/lanes_columns.h"

/* One collision of each lane. */
struct sl_scored_step {
	_Alignas(64) uint32_t cell[SL_SIMD_LANES];
	uint64_t score[SL_SIMD_LANES]; /* as sl_score_add() takes it; 0: no collision */
};

/* What a step of all lanes scores. */
struct sl_step_scores {
	struct sl_flight flight;
	sl_f32 slowness, deposit, fluence; /* see model.h */
};

struct sl_scores {
	const struct sl_grid_set *grids;
	uint64_t *count;                          /* of the part with scores; their sums follow */
	struct sl_scored_step last[SL_GRIDS_MAX]; /* of each grid, not added yet; zeros at first */
};

/* The places of the lanes on an axis. */
struct sl_axis_places {
	sl_mask inside, above;
	sl_u32 bin; /* from 0, if inside */
};

/* The values of the lanes on an axis of collisions. */
SL_HD_PART sl_f32 sl_score_values(const struct sl_grid_axis_rule *a, const sl_lanes *p)
{
	switch (a->even.column) {
	case SL_COLUMN_x:
		return p->x;
	case SL_COLUMN_y:
		return p->y;
	case SL_COLUMN_z:
		return p->z;
	case SL_COLUMN_r:
		return sqrtf(fmaf(p->x, p->x, p->y * p->y)); /* as sl_grid_radius() */
	default:
		return p->time;
	}
}

/* Bins of equal width, as sl_bin_of_float(). */
SL_HD_PART struct sl_axis_places sl_score_even(const struct sl_even_rule *t, sl_f32 value)
{
	struct sl_axis_places at;
	sl_u32 bin;

	at.inside = (value >= t->lo) & (value <= t->hi);
	at.above = value > t->hi;
	bin = sl_u32_of((sl_select(at.inside, value, sl_all(t->lo)) - t->lo) * t->scale);
	at.bin = sl_select_u32(bin < t->bins, bin, sl_all_u32(t->bins - 1));
	return at;
}

/* Other bins, one lane after the other. */
SL_HD_PART struct sl_axis_places sl_score_other(
	const struct sl_grid_axis_rule *a, const float *edge, sl_f32 value)
{
	float values[SL_SIMD_LANES];
	uint32_t bins[SL_SIMD_LANES];
	struct sl_axis_places at;

	memcpy(values, &value, sizeof(value));
	SL_AT_LEVEL(sl_loop_bins)(a, edge, values, bins);
	at.bin = sl_load_u32(bins) - 1;
	at.inside = at.bin < a->even.bins;
	at.above = at.bin == a->even.bins;
	return at;
}

/* The counters of the lanes, as sl_grid_cell() finds them in the row of a grid. */
SL_HD_PART sl_u32 sl_score_cells(const struct sl_grid_rule *g, const float *edge, const sl_lanes *p)
{
	sl_u32 cell = sl_all_u32(0), outside = sl_all_u32(g->base);
	sl_mask inside = sl_all_mask(true);

	for (uint32_t k = 0; k < g->n_axes; k++) {
		const struct sl_grid_axis_rule *a = &g->axis[k];
		const sl_f32 value = sl_score_values(a, p);
		const struct sl_axis_places at = a->spacing == SL_SPACING_EVEN
		                                         ? sl_score_even(&a->even, value)
		                                         : sl_score_other(a, edge, value);

		outside = sl_select_u32(
			inside & at.above, sl_all_u32(g->base + g->cells + 1), outside);
		inside = inside & at.inside;
		cell = cell * a->even.bins + at.bin;
	}
	return sl_select_u32(inside, cell + (g->base + 1), outside);
}

/* Adds the last step to the counters of a grid. */
SL_HD_PART void sl_score_add_step(const struct sl_scores *s, const struct sl_scored_step *last)
{
	uint64_t *count = s->count, *sum = count + s->grids->part[1].counters;

	for (uint32_t l = 0; l < SL_SIMD_LANES; l++)
		sl_score_add(&count[last->cell[l]], &sum[last->cell[l]], last->score[l]);
}

/* Replaces the last step. one is 1 for lanes with a collision, else 0. */
SL_HD_PART void sl_score_put_step(
	sl_u32 cell, sl_u32 one, sl_f32 score, struct sl_scored_step *last)
{
	sl_f32 units = sl_select(one == 0, 0.0f, score);

	/* as sl_weight_units(): the product is exact, so its sum is rounded as by fmaf() */
	units = units * 0x1p32f + sl_select(units < 0x1p-9f, 0.5f, 0.0f);
	memcpy(last->cell, &cell, sizeof(cell));
	for (uint32_t l = 0; l < SL_SIMD_LANES; l++)
		last->score[l] =
			SL_LANE(one, l) * SL_SCORE_ONE + (uint64_t)(int64_t)SL_LANE(units, l);
}

/*
 * Scores the collisions in which the lanes whose bit is set in busy ended a step, after which they
 * are *p.
 */
SL_HD_PART void sl_score_collisions(
	struct sl_scores *s, uint32_t busy, const sl_lanes *p, const struct sl_step_scores *step)
{
	sl_u32 one = sl_one_if(step->flight.collides) & sl_bits_of_lanes(busy);

	if (!(busy & sl_mask_bits(step->flight.collides)))
		return;
	for (uint32_t k = 0; k < s->grids->n; k++) {
		const struct sl_grid_rule *g = &s->grids->grid[k];
		const sl_f32 score = g->score == SL_SCORE_DEPOSIT ? step->deposit : step->fluence;
		sl_u32 cell;

		if (!sl_scores_collisions(g))
			continue;
		cell = sl_score_cells(g, s->grids->edge, p);
		sl_score_add_step(s, &s->last[k]);
		sl_score_put_step(cell, one, score * g->score_scale, &s->last[k]);
	}
}

/* Adds what is left after the last step. */
SL_HD_PART void sl_score_finish(struct sl_scores *s)
{
	for (uint32_t k = 0; k < s->grids->n; k++)
		sl_score_add_step(s, &s->last[k]);
}

#endif
