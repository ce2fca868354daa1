/*
 * density.h - the volumes of the cells of a tally, and scores per volume.
 *
 * The volume of a cell is the product of the sizes of its bins. The size of a bin of r is the area
 * of a ring, pi (r2^2 - r1^2), and that of rho, the distance from the origin, the volume of a
 * shell, 4/3 pi (rho2^3 - rho1^3), unless the grid has another axis of positions in the same plane
 * or space, or the configuration defines the column in another way. The size of any other bin is
 * its width, in the unit of the column. So [r, z] and [x, y, z] have cells in cm^3, and axes that
 * are left out are integrated over.
 */
#ifndef SL_PIPELINE_REPORT_TALLIES_DENSITY_H
#define SL_PIPELINE_REPORT_TALLIES_DENSITY_H

#include "pipeline/resolve/choices/choices.h"

enum { SL_DENSITY_UNIT_BYTES = 128 };

/*
 * Sets the volumes of all cells, the last axis fastest; NaN where bins have no volume (r below 0).
 */
void sl_cell_volumes(const struct sl_choices *c, const struct sl_grid_field *f, double *volume);

/* Divides a value of each cell by its volume. */
void sl_cell_densities(const struct sl_choices *c, const struct sl_grid_field *f, double *value);

/* The unit of a density: "1/cm^3", for a fluence "1/cm^2", "1/(cm^3 ns)"; "1" if it has none. */
void sl_density_unit(const struct sl_choices *c, const struct sl_grid_field *f,
	char unit[SL_DENSITY_UNIT_BYTES]);

#endif
