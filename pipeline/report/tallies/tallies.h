/* tallies.h - results of a run: fractions, checks, densities, tallies */
#ifndef SL_PIPELINE_REPORT_TALLIES_TALLIES_H
#define SL_PIPELINE_REPORT_TALLIES_TALLIES_H

#include "pipeline/plan/plan.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "pipeline/text/text.h"

/* --- run_results ------------------------------------------------------------------------------ */

/*
 * Results of a run: fate tallies, their errors, and checks against expected values.
 *
 * Fractions refer to all particles. With implicit capture particles differ in weight; the results
 * are then fractions of weight. The standard error of a fraction is binomial, or follows from the
 * squares of the weights (sl_fraction_of()); run.json, the summary, checks and stop rules use the
 * same one. Another error, estimated from the scatter of the batches, would show batches that are not
 * independent. Weights of lists have any size: their fractions count particles, and sums of weights
 * are reported in addition.
 *
 * The caller owns the manifest and the plan; nothing is allocated.
 */

/* The particles with one fate, over all committed batches. */
struct sl_fate_result {
	uint64_t count;
	double fraction;            /* count / particles */
	struct sl_fate_sums weight; /* of lists: in steps of weight, and their squares */
	struct sl_fraction
		result; /* of the weight if particles differ in it; else, and of lists, of the count */
	struct sl_precision precision; /* of the same, over batches; in 2^-32 for weights */
};

/* The sums over all committed batches. */
struct sl_results {
	struct sl_batches all;
	uint64_t survivors;
	bool counts;    /* results are fractions of the count */
	uint64_t bytes; /* of the files of survivors and of histograms */
	uint64_t steps, collisions;
	struct sl_fate_result fate[SL_FATE_COUNT];
};

/*
 * Sums the lines of the manifest. counts: results are fractions of the count; the results that a
 * run states are as its stop_rule.counts says. Fractions are set only if the manifest has at least
 * one batch.
 */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r);

/* The sum of weights of the particles with one of the fates, in the unit of the model. */
double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates);

/* The share that a fate of a list has of the sum of all weights, and its standard error. */
struct sl_fraction sl_share_of_weight(
	const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate);

/*
 * Writes the array "warnings": a text about the particles that ended by transport.max_steps, count
 * of those of the committed batches. Their histories are truncated, so fates and tallies lack their
 * ends. It is empty if there are none.
 */
void sl_truncated_json(struct sl_json *j, uint64_t count, uint64_t particles, uint64_t max_steps);

/*
 * The deviation from a published value in standard errors; it is met if |deviation| <= check.sigma.
 * For counts, and where no particle has the fate, this is sqrt(p (1 - p) / N), p the expected
 * value.
 */
double sl_check_deviation(
	const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate);

/* SL_CHECK_FAILED if a check of the configuration is not met; the message names the first. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r);

/* --- density ---------------------------------------------------------------------------------- */

/*
 * The volumes of the cells of a tally, and scores per volume.
 *
 * The volume of a cell is the product of the sizes of its bins. The size of a bin of r is the area
 * of a ring, pi (r2^2 - r1^2), and that of rho, the distance from the origin, the volume of a
 * shell, 4/3 pi (rho2^3 - rho1^3), unless the grid has another axis of positions in the same plane
 * or space, or the configuration defines the column in another way. The size of any other bin is
 * its width, in the unit of the column. So [r, z] and [x, y, z] have cells in cm^3, and axes that
 * are left out are integrated over.
 */

/*
 * Sets the volumes of all cells, the last axis fastest; NaN where bins have no volume (r below 0).
 */
void sl_cell_volumes(const struct sl_choices *c, const struct sl_grid_field *f, double *volume);

/* Divides a value of each cell by its volume. */
void sl_cell_densities(const struct sl_choices *c, const struct sl_grid_field *f, double *value);

/* The unit of a density: "1/cm^3", for a fluence "1/cm^2", "1/(cm^3 ns)"; "1" if it has none. */
const char *sl_density_unit(const struct sl_choices *c, const struct sl_grid_field *f);

/* --- tallies_file ----------------------------------------------------------------------------- */

/*
 * The tallies of a run as a file (NAME.tallies, HDF5) and in run.json.
 *
 * Input: the sums over all batches of the workspace, filled by sl_tally_sums_read().
 *
 *	/z                  one group per tally without brackets, with the name of its column (z_2: the
 *	                    second such one); attributes column, unit, unitSI, particles
 *	/z/edges            bins + 1 values, in the unit
 *	/(r,z)              one per tally with brackets, with the names of its axes (deposit(r,z): a
 *	                    score); attributes axes, particles
 *	/(r,z)/edges_r      bins + 1 values of an axis; attributes column, unit, unitSI, spacing
 *	/.../volume         one value per cell (sl_cell_volumes())
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

/* Name of the dataset with the seeds and counts of merged runs. */
#define SL_TALLIES_MERGED "sluiceMerged"

/* Writes the members "grids" and "histograms" of run.json, once there are batches. */
void sl_tallies_json(struct sl_json *j, const struct sl_workspace *w);

/*
 * Makes the HDF5 file in memory; the caller frees *image by sl_memory_give(SL_HOST). It is NULL after
 * a failure.
 */
enum sl_status sl_tallies_file(
	const struct sl_workspace *w, const char *name, void **image, size_t *bytes);

/* The name of a tally (sl_message_part()): "z", "(r,z)", "(r,z)_2". */
const char *sl_tally_name(const struct sl_choices *choices, uint32_t number);

#endif
