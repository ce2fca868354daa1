/*
 * grid_file.h - the grids of a run in NAME.tallies (histogram_file.h) and in run.json.
 *
 *	/(r,z)              one group per grid, with the names of its axes ((r,z)_2: the second such grid;
 *	                    deposit(r,z): a score);
 *	                    attributes axes, particles
 *	/(r,z)/edges_r      bins + 1 values of an axis; attributes column, unit, unitSI, spacing
 *	/(r,z)/volume       one value per cell (density.h)
 *	/(r,z)/absorbed     one group per fate; attributes under, over
 *	/(r,z)/absorbed/count, weight, weight_squared, mean, standard_error, density
 *	                    one value per cell, with a dimension for each axis; the attribute unit
 *	                    of density, which is mean/volume
 *
 *	/deposit(r,z)/all   the row of a score, without weight_squared; attributes weight_under, weight_over
 *
 * run.json has the rows of up to SL_GRID_LISTED_MAX cells, the last axis fastest.
 */
#ifndef SL_PIPELINE_REPORT_TALLIES_GRID_FILE_H
#define SL_PIPELINE_REPORT_TALLIES_GRID_FILE_H

#include "pipeline/run/run.h"
#include "pipeline/text/json.h"
#include "stages/formats/hdf5/hdf5.h"

enum { SL_GRID_NAME_BYTES = 128 };

/* The bytes that the grids add to the file at most. */
size_t sl_grid_file_bytes(const struct sl_plan *plan);

/* Writes the groups of the grids. */
void sl_grid_file_put(struct sl_h5 *h, hid_t file, const struct sl_workspace *w);

/* Writes the member "grids" of run.json, once there are batches. */
void sl_grid_sums_json(struct sl_json *j, const struct sl_workspace *w);

/* The name of a grid: "(r,z)". Returns name. */
const char *sl_grid_name(
	const struct sl_choices *choices, uint32_t number, char name[SL_GRID_NAME_BYTES]);

#endif
