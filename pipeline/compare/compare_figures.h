/*
 * compare_figures.h - rates derived from the times of a case.
 *
 * The text, JSON and CSV outputs use these functions, so that they report equal numbers. Each
 * returns NaN if there is no time to divide by, for example because the stage did not run.
 */
#ifndef SL_PIPELINE_COMPARE_COMPARE_FIGURES_H
#define SL_PIPELINE_COMPARE_COMPARE_FIGURES_H

#include "pipeline/compare/cases/comparison.h"

/* The minimum memory traffic of time t (a stage or the transfer) per median time, in GB/s (1e9 bytes). */
double sl_gb_per_second(const struct sl_comparison_case *entry, int t);

/*
 * GB/s of stage t as a fraction of the measured copy speed of the same memory. NaN for the transfer:
 * its limit is the link between device and host, which is not measured.
 */
double sl_share_of_copy(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t);

/* All particles of the comparison per median time, per second. t: a case's without_output or with_output. */
double sl_particles_per_second(const struct sl_comparison *c, const struct sl_spread *t);

/* The memory accesses of a case on the emulated device, divided by the particles of the run. */
double sl_accesses_per_particle(const struct sl_comparison *c,
	const struct sl_comparison_case *entry, enum sl_access_count which);

#endif
