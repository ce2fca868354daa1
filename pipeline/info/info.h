/* info.h - prints the contents of a file or run directory (sluice info). */
#ifndef SL_PIPELINE_INFO_INFO_H
#define SL_PIPELINE_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/text/text.h"
#include "primitives/base/status.h"

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

/*
 * Least, largest, and weighted mean, rms and sum of the values of a column; sums by
 * particle type.
 */

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

/* Types with a separate row; particles of further types are counted together. */
enum { SL_TYPES_MOST = 64 };

struct sl_type_row {
	int32_t pdg;
	uint64_t particles;
	double weight, energy; /* sums of the weights, and of weight * energy in keV */
};

/* Starts as {0}. */
struct sl_type_table {
	uint32_t n;
	struct sl_type_row row[SL_TYPES_MOST], other;
};

void sl_type_table_add(struct sl_type_table *t, int32_t pdg, double weight, double energy);

/* Writes the array "types", the most frequent first. It sorts the rows. */
void sl_type_table_json(struct sl_type_table *t, struct sl_json *j);

#endif
