/*
 * tallies_file.h - the tallies of a run as a file (NAME.tallies, HDF5) and in run.json.
 *
 * Input: the sums over all batches of the workspace, filled by sl_tally_sums_read().
 *
 *	/z                  one group per tally without brackets, with the name of its column (z_2: the
 *	                    second such one); attributes column, unit, unitSI, particles
 *	/z/edges            bins + 1 values, in the unit
 *	/(r,z)              one per tally with brackets, with the names of its axes (deposit(r,z): a
 *	                    score); attributes axes, particles
 *	/(r,z)/edges_r      bins + 1 values of an axis; attributes column, unit, unitSI, spacing
 *	/.../volume         one value per cell (density.h)
 *	/.../absorbed       one group per fate; attributes under, over
 *	/.../absorbed/count, weight, weight_squared, mean, standard_error, density
 *	                    one value per cell, with a dimension for each axis; the attribute unit
 *	                    of density, which is mean/volume; weight_squared: with brackets only
 *	/deposit(r,z)/all   the row of a score, without weight_squared; attributes weight_under, weight_over
 *	/sluiceMerged       the text merged of struct sl_file_facts, if runs were merged
 *
 * mean and standard_error are those of run.json, per particle of the run. run.json has the rows of
 * up to SL_GRID_LISTED_MAX cells, the last axis fastest.
 */
#ifndef SL_PIPELINE_REPORT_TALLIES_TALLIES_FILE_H
#define SL_PIPELINE_REPORT_TALLIES_TALLIES_FILE_H

#include "pipeline/run/run.h"
#include "pipeline/text/json.h"

enum { SL_TALLY_NAME_BYTES = 128 };

/* Name of the dataset with the seeds and counts of merged runs. */
#define SL_TALLIES_MERGED "sluiceMerged"

/* Writes the members "grids" and "histograms" of run.json, once there are batches. */
void sl_tallies_json(struct sl_json *j, const struct sl_workspace *w);

/*
 * Makes the HDF5 file in memory; after success the caller frees *image by sl_memory_give(SL_HOST).
 */
enum sl_status sl_tallies_file(
	const struct sl_workspace *w, const char *name, void **image, size_t *bytes);

/* The name of a tally: "z", "(r,z)", "(r,z)_2". Returns name. */
const char *sl_tally_name(
	const struct sl_choices *choices, uint32_t number, char name[SL_TALLY_NAME_BYTES]);

#endif
