/* density.c - see tallies.h. */
#include "pipeline/report/tallies/tallies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/resolve/choices/choices.h"
#include "stages/selection/grid.h"

static const double PI = 3.14159265358979323846;

/*
 * The dimensions of the space that a bin of axis k covers: 2 for a ring, 3 for a shell, otherwise
 * 1.
 */
static int dimensions(const struct sl_choices *c, const struct sl_grid_field *f, uint32_t k)
{
	enum sl_column column = f->axis[k].column;
	sl_column_set others = 0, plane = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y);

	for (uint32_t i = 0; i < f->n_axes; i++)
		others |= i != k ? SL_BIT(f->axis[i].column) : 0;
	if (SL_HAS(c->replaced, column))
		return 1;
	if (column == SL_COLUMN_r)
		return others & (plane | SL_BIT(SL_COLUMN_rho)) ? 1 : 2;
	if (column == SL_COLUMN_rho)
		return others & (plane | SL_BIT(SL_COLUMN_z) | SL_BIT(SL_COLUMN_r)) ? 1 : 3;
	return 1;
}

/* The size of a bin from lo to hi. No particle has a negative distance. */
static double bin_size(int dimensions, double lo, double hi)
{
	double from = lo > 0 ? lo : 0, to = hi > 0 ? hi : 0;

	if (dimensions == 1)
		return hi - lo;
	if (dimensions == 2)
		return PI * (to - from) * (to + from);
	return 4.0 / 3 * PI * (to - from) * (to * to + to * from + from * from);
}

/* Multiplies or divides the value of each cell by the size of its bin of axis k. */
static void apply_axis(const struct sl_choices *c, const struct sl_grid_field *f, uint32_t k,
	bool divides, double *value)
{
	const struct sl_grid_axis *a = &f->axis[k];
	const int shape = dimensions(c, f, k);
	size_t outer = 1, inner = 1;

	for (uint32_t i = 0; i < f->n_axes; i++)
		*(i < k ? &outer : &inner) *= i == k ? 1 : f->axis[i].bins;
	for (uint32_t b = 0; b < a->bins; b++) {
		double size = bin_size(shape, sl_grid_edge(a, c->grid_edge, b),
			sl_grid_edge(a, c->grid_edge, b + 1));

		size = size > 0 ? size : NAN;
		for (size_t o = 0; o < outer; o++)
			for (size_t i = 0, at = (o * a->bins + b) * inner; i < inner; i++)
				value[at + i] =
					divides ? value[at + i] / size : value[at + i] * size;
	}
}

void sl_cell_volumes(const struct sl_choices *c, const struct sl_grid_field *f, double *volume)
{
	for (uint64_t i = 0, n = sl_grid_cells(f); i < n; i++)
		volume[i] = 1;
	for (uint32_t k = 0; k < f->n_axes; k++)
		apply_axis(c, f, k, false, volume);
}

void sl_cell_densities(const struct sl_choices *c, const struct sl_grid_field *f, double *value)
{
	for (uint32_t k = 0; k < f->n_axes; k++)
		apply_axis(c, f, k, true, value);
}

/* The product of the powers of cm, ns, keV and rad that have this sign; "" if there is none. */
static const char *product(const int power[], int sign)
{
	static const int base[] = {SL_DIM_LENGTH, SL_DIM_TIME, SL_DIM_ENERGY, SL_DIM_ANGLE};
	const char *text = "";

	for (int i = 0; i < 4; i++) {
		const int p = power[base[i]] * sign;

		if (p > 0)
			text = sl_said("%s%s%s%s", text, *text ? " " : "",
				sl_dimensions[base[i]].unit, p > 1 ? sl_said("^%d", p) : "");
	}
	return text;
}

const char *sl_density_unit(const struct sl_choices *c, const struct sl_grid_field *f)
{
	int power[SL_DIMENSION_COUNT] = {0};
	const char *above, *below;

	for (uint32_t k = 0; k < f->n_axes; k++) {
		enum sl_unit u = sl_label_unit(c->named.label, f->axis[k].column);

		power[sl_units[u].dimension] -= dimensions(c, f, k);
	}
	power[SL_DIM_LENGTH] += f->score == SL_SCORE_FLUENCE || f->score == SL_SCORE_TRACK;
	power[SL_DIM_LENGTH] += power[SL_DIM_SPEED] - power[SL_DIM_PER_LENGTH];
	power[SL_DIM_TIME] -= power[SL_DIM_SPEED];
	above = product(power, 1);
	below = product(power, -1);
	return sl_said(strchr(below, ' ') ? "%s/(%s)"
		       : *below           ? "%s/%s"
					  : "%s",
		*above ? above : "1", below);
}
