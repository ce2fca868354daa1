/* info.h - prints the contents of a file or run directory (sluice info). */
#ifndef SL_PIPELINE_INFO_INFO_H
#define SL_PIPELINE_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/text/text.h"
#include "primitives/base/status.h"
#include "stages/particle/table.h"

/* --- info ------------------------------------------------------------------------------------- */

/*
 * Prints the columns of a survivor file, the datasets of NAME.image.h5, the histograms of
 * NAME.tallies, the numbers of any MCPL file, or the fates and columns of a run directory; before
 * columns, the first head particles. SL_BAD_INPUT if the file is damaged.
 */
enum sl_status sl_info(const char *path, uint64_t head, bool json, FILE *out);

/* --- info_histograms -------------------------------------------------------------------------- */

/* What a file of histograms (NAME.tallies) contains. */

/*
 * Writes axis, bins and, per fate, the particles below, in and above the bins of each histogram.
 * SL_BAD_INPUT if the checksum or a part of the file is wrong.
 */
enum sl_status sl_info_histograms(const char *path, struct sl_json *j);

/* --- info_mcpl -------------------------------------------------------------------------------- */

/* What an MCPL file contains. */

/*
 * Writes the header, comments, sizes of blobs, the first head particles, statistics and a table by
 * particle type of any MCPL file, plain or in gzip, in the units of the configuration.
 * SL_BAD_INPUT if the file is damaged; what precedes the damage is then written.
 */
enum sl_status sl_info_mcpl(const char *path, uint64_t head, struct sl_json *j);

/*
 * The same for a list of another format (stages/formats/phase_space), for which
 * sl_phase_space_names_foreign() is true.
 */
enum sl_status sl_info_phase_space(const char *path, uint64_t head, struct sl_json *j);

/* --- sums ------------------------------------------------------------------------------------- */

/* Least, largest, and weighted mean, rms and sum of the values of a column. */

/* The values added so far. Starts as {0}; private to sums.c. */
struct sl_weighted_stats {
	uint64_t n;
	double least, most;
	double origin;              /* the first value: the sums are of differences from it */
	double weight, sum, square; /* of the weights; of weight * difference, and its square */
};

void sl_weighted_stats_add(struct sl_weighted_stats *s, double value, double weight);

/*
 * Writes least, mean, rms, largest and sum. A code, such as a particle type, has no mean and no
 * sum.
 */
void sl_weighted_stats_json(const struct sl_weighted_stats *s, bool code, struct sl_json *j);

/*
 * Particles that are read one by one. Their columns are weighted by the column weight; the weight
 * itself is not, and without it each particle counts once.
 */

/* Types with a separate row; particles of further types are counted together. */
enum { SL_TYPES_MOST = 64 };

struct sl_type_row {
	int32_t pdg;
	uint64_t particles;
	double weight, energy; /* sums of the weights, and of weight * energy in keV */
};

/* All zero at the start, but for head. */
struct sl_row_sums {
	uint64_t head; /* rows still to be written */
	struct sl_weighted_stats stats[SL_COLUMN_COUNT];
	uint32_t n_types;
	struct sl_type_row type[SL_TYPES_MOST], other;
};

/*
 * Adds a row with the columns of t, which needs no data; the first rows are written to the open
 * array "head". Without these columns, the weight is 1 and the energy 0 in value.
 */
void sl_row_sums_add(struct sl_row_sums *all, const struct sl_table *t,
	const double value[SL_COLUMN_COUNT], struct sl_json *j);

/*
 * Writes the array "columns" and, if the particles have codes, "types", the most frequent first.
 * stored: with the type of each column; digests: also with its digest, of one table.
 */
void sl_row_sums_json(struct sl_row_sums *all, const struct sl_table *t, bool stored, bool digests,
	struct sl_json *j);

#endif
