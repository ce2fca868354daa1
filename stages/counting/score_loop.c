/*
 * score_loop.c - adds the collisions of a step to the scores, on the host.
 *
 * All lanes are computed, also those without a collision: the compiler makes vectors of the loops. Only
 * the additions to the counters are done one by one.
 */
#include "stages/counting/score_loop.h"

#include "stages/batch/recipe.h"
#include "stages/selection/slab_score.h"

enum { LANES = SL_LEVEL_LANES };

/* The values of the lanes on an axis. */
static const float *values_of(const struct sl_grid_axis_rule *a, const struct sl_stepped *lanes)
{
	switch (a->even.column) {
	case SL_COLUMN_x:
		return lanes->x;
	case SL_COLUMN_y:
		return lanes->y;
	case SL_COLUMN_z:
		return lanes->z;
	case SL_COLUMN_r:
		return lanes->r;
	default:
		return lanes->time;
	}
}

/* The bins of the lanes on an axis: as sl_bin_of_float() for bins of equal width. */
static void find_bins(const struct sl_grid_axis_rule *a, const float *edge,
	const struct sl_stepped *lanes, uint32_t bin[LANES])
{
	const float *value = values_of(a, lanes);
	const float lo = a->even.lo, hi = a->even.hi, scale = a->even.scale;
	const int32_t bins = (int32_t)a->even.bins;

	if (a->spacing != SL_SPACING_EVEN) {
		for (int l = 0; l < LANES; l++)
			bin[l] = sl_grid_bin_of_float(a, edge, value[l]);
		return;
	}
	for (int l = 0; l < LANES; l++) {
		float v = value[l] >= lo && value[l] <= hi ? value[l] : lo;
		int32_t k = (int32_t)((v - lo) * scale);

		k = k < bins ? k + 1 : bins;
		k = value[l] > hi ? bins + 1 : k;
		bin[l] = (uint32_t)(value[l] >= lo ? k : 0);
	}
}

/* The counters of the lanes within the row of a grid, as sl_grid_cell(). */
static void find_cells(const struct sl_grid_rule *g, const float *edge,
	const struct sl_stepped *lanes, uint32_t at[LANES])
{
	/* loaded before the loops, which would not become vectors with a load in a branch */
	const uint32_t above = g->cells + 1;
	uint32_t bin[LANES], cell[LANES] = {0}, outside[LANES];

	for (int l = 0; l < LANES; l++)
		outside[l] = UINT32_MAX;
	for (uint32_t k = 0; k < g->n_axes; k++) {
		const uint32_t bins = g->axis[k].even.bins;

		find_bins(&g->axis[k], edge, lanes, bin);
		for (int l = 0; l < LANES; l++) {
			uint32_t beyond = bin[l] > bins ? above : UINT32_MAX;

			beyond = bin[l] == 0 ? 0 : beyond;
			outside[l] = outside[l] == UINT32_MAX ? beyond : outside[l];
			cell[l] = cell[l] * bins + bin[l] - 1;
		}
	}
	for (int l = 0; l < LANES; l++) {
		uint32_t inside = (uint32_t) - (int32_t)(outside[l] == UINT32_MAX);

		at[l] = (inside & (cell[l] + 1)) | (~inside & outside[l]);
	}
}

/* What the collisions of the lanes score; the layer of each as sl_slab_layer_of() finds it. */
static void find_scores(const struct sl_slab *slab, const struct sl_stepped *lanes,
	float deposit[LANES], float fluence[LANES])
{
	float path[LANES], keep[LANES];

	for (int l = 0; l < LANES; l++) {
		path[l] = slab->layer[0].mean_free_path;
		keep[l] = slab->layer[0].keep;
	}
	for (uint32_t k = 1; k < slab->layers; k++) {
		const float top = slab->layer[k - 1].bottom, own_keep = slab->layer[k].keep;
		const float own_path = slab->layer[k].mean_free_path;

		for (int l = 0; l < LANES; l++) {
			path[l] = lanes->z[l] > top ? own_path : path[l];
			keep[l] = lanes->z[l] > top ? own_keep : keep[l];
		}
	}
	for (int l = 0; l < LANES; l++) {
		const struct sl_slab_layer layer = {.mean_free_path = path[l], .keep = keep[l]};

		sl_slab_collision(
			slab, &layer, lanes->weight[l], lanes->fate[l], &deposit[l], &fluence[l]);
	}
}

/*
 * Adds the scores of the lanes in hits to the counters of a grid. Most collisions of an analogue history
 * deposit nothing, so a separate loop adds to the sums.
 */
SL_HD_PART void add(uint32_t hits, const uint32_t at[LANES], const float score[LANES],
	const struct sl_grid_rule *g, uint32_t n_counters, uint64_t *count)
{
	const float scale = g->score_scale;
	float units[LANES];
	uint32_t positive = 0;

	for (int l = 0; l < LANES; l++) {
		units[l] = sl_weight_units(score[l] * scale); /* as sl_fixed_weight() */
		positive |= (uint32_t)(score[l] > 0.0f) << l;
	}
	for (uint32_t left = hits; left; left &= left - 1)
		count[at[__builtin_ctz(left)]]++;
	for (uint32_t left = hits & positive; left; left &= left - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(left);

		count[n_counters + at[l]] += (uint64_t)(int64_t)units[l];
	}
}

void SL_AT_LEVEL(sl_loop_score)(const struct sl_recipe *recipe, uint32_t hits,
	const struct sl_stepped *lanes, uint64_t *bins)
{
	const struct sl_grid_set *grids = &recipe->grids;
	uint64_t *count = bins + sl_histogram_words(&recipe->bins);
	float deposit[LANES], fluence[LANES];
	uint32_t at[LANES];

	find_scores(
		(const struct sl_slab *)(const void *)recipe->rules.bytes, lanes, deposit, fluence);
	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		const float *score = g->score == SL_SCORE_DEPOSIT ? deposit : fluence;

		if (!sl_scores_collisions(g))
			continue;
		find_cells(g, grids->edge, lanes, at);
		add(hits, at, score, g, grids->n_counters, count + g->base);
	}
}
