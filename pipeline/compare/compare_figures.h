/* compare_figures.h - rates derived from the times of a case. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_FIGURES_H
#define SL_PIPELINE_COMPARE_COMPARE_FIGURES_H

#include "pipeline/compare/comparison.h"

/* GB/s of bytes in the median of those times; NaN when there are none. */
double sl_gb_per_second(uint64_t bytes, const struct sl_spread *t);

/* Stage s of a row, in parts of a copy's speed where it runs; NaN likewise. */
double sl_share_of_copy(const struct sl_comparison *c, const struct sl_comparison_case *row, int s);

/* Particles a second of a row's whole or written; NaN likewise. */
double sl_particles_per_second(const struct sl_comparison *c, const struct sl_spread *t);

#endif
