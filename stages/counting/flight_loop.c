/*
 * flight_loop.c - adds the flights of a step to the scores, on the host: their numbers of pieces
 * differ.
 */
#include "stages/counting/flight_loop.h"

#include "stages/batch/recipe.h"
#include "stages/selection/flight_score.h"

static struct sl_scored_flight flight_of(const struct sl_flown *lanes, uint32_t l)
{
	return (struct sl_scored_flight){
#define X(name) .name = lanes->name[l],
		SL_FLIGHT_COLUMNS(X) X(slowness) X(length) X(end_z)
#undef X
	};
}

/* Adds the pieces of a flight. */
static void add_track(const struct sl_grid_set *grids, const struct sl_grid_rule *g,
	const struct sl_scored_flight *f, uint64_t *sum)
{
	struct sl_track t = sl_track_begin(g, grids->edge, f);

	while (sl_track_next(g, grids->edge, f, &t)) {
		uint64_t count, fixed = sl_track_fixed(g->score_scale, f->weight, t.length, &count);

		sum[g->base + t.cell] += count;
		sum[g->stride + g->base + t.cell] += fixed;
	}
}

/* Adds the crossing of a flight, if there is one. */
static void add_crossing(const struct sl_grid_set *grids, const struct sl_grid_rule *g,
	const struct sl_scored_flight *f, uint64_t *sum)
{
	struct sl_particle p = {0};
	const struct sl_columns columns = sl_columns_of(&p);
	uint32_t at;

	if (!sl_flight_crosses(g, f, &p))
		return;
	at = g->base + sl_grid_cell(g, grids->edge, &columns, 0);
	sum[at]++;
	sum[g->stride + at] += sl_fixed_weight(f->weight);
}

void SL_AT_LEVEL(sl_loop_flights)(const struct sl_recipe *recipe, uint32_t moved,
	const struct sl_flown *lanes, uint64_t *bins)
{
	const struct sl_grid_set *grids = &recipe->grids;
	uint64_t *sum = sl_grid_counters_of(recipe, bins);

	for (; moved; moved &= moved - 1) {
		struct sl_scored_flight f = flight_of(lanes, (uint32_t)__builtin_ctz(moved));

		for (uint32_t k = 0; k < grids->n; k++)
			if (grids->grid[k].score == SL_SCORE_TRACK)
				add_track(grids, &grids->grid[k], &f, sum);
			else if (grids->grid[k].score == SL_SCORE_CROSSING)
				add_crossing(grids, &grids->grid[k], &f, sum);
	}
}

void SL_AT_LEVEL(sl_loop_bins)(
	const struct sl_grid_axis_rule *a, const float *edge, const float *value, uint32_t *bin)
{
	for (int l = 0; l < SL_LEVEL_LANES; l++)
		bin[l] = sl_grid_bin_of_float(a, edge, value[l]);
}
