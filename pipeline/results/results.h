/* results.h - what is known after batches are done */
#ifndef SL_PIPELINE_RESULTS_RESULTS_H
#define SL_PIPELINE_RESULTS_RESULTS_H

#include <stdbool.h>

#include "primitives/base/arena.h"
#include "primitives/base/status.h"
#include "primitives/files/files.h"
#include "stages/batch/batch.h"
#include "stages/batch/recipe.h"
#include "stages/formats/common/format.h"

/* --- manifest_line ---------------------------------------------------------------------------- */

/*
 * One line of manifest.jsonl: the record of a committed batch.
 */

enum { SL_FILE_NAME_BYTES = 256, SL_MANIFEST_LINE_BYTES = 8192 };

/* A file of a batch. */
struct sl_committed_file {
	char name[SL_FILE_NAME_BYTES]; /* "" if the run has none */
	uint64_t bytes;
	uint32_t crc;
};
enum { SL_BATCH_FILES = 3 };

struct sl_manifest_line {
	uint64_t batch, first_id, generated, survivors;
	struct sl_tally tally;
	sl_column_set columns; /* set of columns in the file, or that are digested */
	struct sl_column_label
		label[SL_NAMED_COLUMNS_MAX]; /* names of those; units are not stored */
	uint64_t digest[SL_COLUMN_COUNT];    /* of each of these columns */
	/* Survivors, sort keys and counters, in the order in which they are written and named. */
	union {
		struct {
			struct sl_committed_file file, order, bins;
		};
		struct sl_committed_file files[SL_BATCH_FILES];
	};
};

/* Bytes of the files of the batch. */
static inline uint64_t sl_manifest_line_bytes(const struct sl_manifest_line *line)
{
	return line->file.bytes + line->order.bytes + line->bins.bytes;
}

struct sl_json;

/* Writes the member "digests", of the columns that the file contains. */
void sl_manifest_digests(struct sl_json *j, const struct sl_manifest_line *line);

/* Prints the line with its newline; returns the length. SL_MANIFEST_LINE_BYTES always suffice. */
size_t sl_manifest_print(const struct sl_manifest_line *line, char text[SL_MANIFEST_LINE_BYTES]);

/* Reads a line of bytes without its newline. SL_BAD_INPUT when the line is not valid. */
enum sl_status sl_manifest_parse(const char *text, size_t bytes, struct sl_manifest_line *line);

/* --- manifest --------------------------------------------------------------------------------- */

/*
 * Reads and writes manifest.jsonl: one line per committed batch, in batch order.
 *
 * A batch is done when its line is valid (its CRC matches) and its files have the sizes and
 * checksums of the line; the existence of a file is not enough. All numbers are integers, so sums
 * over lines do not depend on the order. Nothing in the manifest depends on time or machine: a
 * resumed run ends with the same bytes as an uninterrupted one.
 *
 * The folder results/ contains what is known after batches are done: manifest, statistics, sums of
 * histograms and images, and files of survivors read back. It takes no plan.
 */

struct sl_manifest {
	struct sl_manifest_line *line; /* n lines by ascending batch number; each batch once */
	size_t n;
	size_t damaged; /* lines dropped: incomplete, with a wrong CRC, or repeated */
	bool in_order;  /* the file consists of exactly these lines in this order */
};

/*
 * Reads manifest.jsonl in d; a missing file gives an empty manifest. The caller frees m, also after
 * a failure.
 */
enum sl_status sl_manifest_read(const struct sl_dir *d, struct sl_manifest *m);
void sl_manifest_free(struct sl_manifest *m);

/* Appends one line to the file and flushes it to the disk. */
enum sl_status sl_manifest_append(const struct sl_dir *d, const struct sl_manifest_line *line);

/* Replaces the file by the lines of m atomically. */
enum sl_status sl_manifest_write(const struct sl_dir *d, const struct sl_manifest *m);

/* --- statistics ------------------------------------------------------------------------------- */

/*
 * Exact sums over batches, standard errors of means, and the rule that ends a run.
 *
 * The mean of a quantity per particle and its standard error follow from two sums over all N
 * particles, S of the quantity and Q of its square:
 *
 *	mean  = S / N
 *	error = sqrt((Q / N - mean^2) / N)
 *
 * For counts Q = S, and this is the binomial error. Both sums are integers, so neither depends on
 * the batches, and one batch is enough.
 *
 * A score has many terms per particle, of which no square is known. Its error is estimated from the
 * scatter of the batches: with k batches of n_i particles, and the mean x_i in batch i,
 *
 *	error over batches = sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N))
 *
 * For batches of one size this is the standard deviation divided by sqrt(k). Only the last batch of
 * a run is smaller; without the weights n_i, a last batch of few particles would dominate the
 * error. For fates, run.json has this error too: it would show batches that are not independent.
 *
 * Batches are added in batch order by the same code everywhere, so the result depends only on
 * configuration and seed, and a resumed run ends at the same batch.
 */

/* A sum of counters of batches. They have 64 bits, which a long run exceeds. */
__extension__ typedef __int128 sl_sum __attribute__((aligned(8)));

/* The batches that sums contain. */
struct sl_batches {
	uint64_t n, particles;
};

/* The standard error of a mean, from the mean of the squares; NaN if these were not summed. */
double sl_error_of_mean(double mean, double mean_square, uint64_t particles);

/* A sum in any unit, and its scatter over the batches; all zero: no batch. */
struct sl_precision {
	sl_sum sum;
	double scatter; /* sum n_i (x_i - mean)^2 */
};

/* Adds the sum of the next batch, which has so many particles, to that of the batches before it. */
void sl_precision_add(
	struct sl_precision *p, struct sl_batches before, uint64_t particles, sl_sum sum);

/* The error over batches, in the unit of the sum; NaN for fewer than two of them. */
double sl_precision_error(const struct sl_precision *p, struct sl_batches all);

/* The number of the particles of a fate, or their weight and its square, in 2^-32. */
struct sl_fate_sums {
	sl_sum sum, square;
};

/* Those of a batch. counts: of the number. */
struct sl_fate_sums sl_fate_sums_of(
	const struct sl_tally *t, enum sl_fate fate, uint64_t particles, bool counts);

/* The fraction of all particles, or of their weight, and its standard error. */
struct sl_fraction {
	double value, error;
};
struct sl_fraction sl_fraction_of(const struct sl_fate_sums *s, uint64_t particles, bool counts);

/* The relative error; NaN if the fraction is 0. */
double sl_relative_error(struct sl_fraction f);

/* The mean of a quantity of filters, each a batch, and sum (x_i - mean)^2; all zero: none. */
struct sl_filter_sum {
	double mean, scatter;
};

/* Adds the value of the next filter to that of the filters before it. */
void sl_filter_sum_add(struct sl_filter_sum *s, uint64_t before, double value);

/* The standard error of the mean over n filters; NaN for fewer than two. */
double sl_filter_sum_error(const struct sl_filter_sum *s, uint64_t n);

double sl_log_likelihood_of(const struct sl_tally *t);

/*
 * The run ends after the first batch where the relative error of the fate, or the standard error of
 * the mean log likelihood of filters, is below a bound.
 */
struct sl_stop_rule {
	enum sl_fate fate;
	bool likelihood;
	double below; /* the bound; 0: no rule, all batches are computed */
	uint64_t min_batches;
	bool counts; /* of particles instead of weights; set by the plan, also without a rule */
};

/* The rule as "rel_error(reflected) < 0.001" (sl_message_part()). */
const char *sl_stop_rule_text(const struct sl_stop_rule *rule);

/* The sums that decide; all zero: no batch. */
struct sl_stop_sums {
	struct sl_batches batches;
	struct sl_fate_sums of_fate;
	struct sl_filter_sum likelihood;
};

/* Adds the next batch. Returns whether the rule is met with it. */
bool sl_stop_rule_add(const struct sl_stop_rule *rule, struct sl_stop_sums *s,
	const struct sl_tally *t, uint64_t particles);

/* The state of the rule after the committed batches, up to the first that is missing. */
struct sl_stop_state {
	bool met;
	uint64_t batches; /* of the whole run: all, or those up to the batch that met the rule */
	double relative_error; /* at the batch that met the rule, else after the last batch; or the
	                          standard error of the log likelihood */
};

/* n_batches: the batches of the run if the rule is never met. */
struct sl_stop_state sl_stop_rule_state(
	const struct sl_stop_rule *rule, uint64_t n_batches, const struct sl_manifest *m);

/* --- run_files -------------------------------------------------------------------------------- */

/* Reads a file of survivors completely into memory. */

struct sl_survivors {
	const struct sl_format *format;
	size_t file_bytes;
	struct sl_table table; /* without digests */
	void *block;           /* the memory of the table */
};

/*
 * Reads a file; its suffix determines the format. only: some columns, as sl_table.only names them;
 * NULL: all. Free s after success.
 */
enum sl_status sl_survivors_read(
	const struct sl_dir *dir, const char *name, const char *only, struct sl_survivors *s);
enum sl_status sl_survivors_read_columns(
	const char *path, const char *only, struct sl_survivors *s);

/* The same for a file in memory; known is that of struct sl_table. */
enum sl_status sl_survivors_of(const struct sl_format *format, const void *file, size_t bytes,
	uint32_t known, struct sl_survivors *s);
void sl_survivors_free(struct sl_survivors *s);

/*
 * Sets *n to the rows of a file of a run, of which only the structure is read: not the packed
 * values, which would take ten times as long as a checksum of the file. Fails if the file cannot be
 * read.
 */
enum sl_status sl_survivors_count(const struct sl_dir *dir, const char *name, uint64_t *n);

struct sl_run_files; /* stages/inputs/inputs.h */

/*
 * For the model list: lists the survivor files of the committed batches of the run in a directory
 * (sl_run_lister). SL_USAGE if it has none.
 */
enum sl_status sl_run_files_list(const char *folder, struct sl_run_files *files);

/* The state of the run in a directory, as its run.json has it ("done"); "" if it has none. */
enum { SL_RUN_STATE_BYTES = 16 };
enum sl_status sl_run_files_state(const char *folder, char state[SL_RUN_STATE_BYTES]);

/* --- tallies ---------------------------------------------------------------------------------- */

/*
 * Reads the tallies of the batches of a run and adds them up.
 *
 * Each batch has a file NAME_000000.bins with its counters: 64-bit little-endian words in the
 * layout of struct sl_grid_set (stages/selection/grid_rule.h). The file is committed before the
 * line of the manifest, which contains its size and checksum. A resumed run therefore adds up the
 * same files in the same order as an uninterrupted one.
 *
 * All are added as integers, so the sums do not depend on the batches. Means per particle and their
 * standard errors come from the sums above, weighted if particles have weights.
 */

#define SL_COUNTERS_SUFFIX ".bins"

/* Sums over all batches; the memory belongs to the plan. */
struct sl_tally_sums {
	uint64_t *count;                /* per counter, as precision and square */
	struct sl_precision *precision; /* of counts, weights or scores */
	sl_sum *square;                 /* of weights; NULL: particles have no weights */
	struct sl_batches *batches;     /* NULL: the run has no tallies */
	double *row;                  /* scratch for a row of counters, or the steps of a filter */
	struct sl_filter_sum *filter; /* of a filter: the values of each step */
};

/* What is known of each counter. The error of a score is that over batches. */
enum sl_tally_quantity {
	SL_TALLY_WEIGHT,
	SL_TALLY_SQUARE,
	SL_TALLY_MEAN,
	SL_TALLY_ERROR,
	SL_TALLY_ERROR_OVER_BATCHES
};

/* Cuts the arrays of h from the arena, or measures them; sets NULL when there are no tallies. */
void sl_tally_sums_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_tally_sums *h);

/*
 * Reads the counters of a batch into memory that the caller frees by sl_memory_give(SL_HOST).
 * SL_CHECK_FAILED when size or checksum differ from the line, or the counters do not add up to the
 * fates, steps and collisions of the line.
 */
enum sl_status sl_tallies_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum);

/* Adds the counters of a batch of so many particles to h, which is all 0 before the first batch. */
void sl_tally_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_tally_sums *h);

/*
 * Sets h to the sums over the batches of all lines of m, in their order; add: adds them to h, which
 * has the sums of other batches.
 */
enum sl_status sl_tally_sums_add(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h);
enum sl_status sl_tally_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h);

/* The counts of a row: below, cells, above. */
const uint64_t *sl_tally_counts(
	const struct sl_recipe *r, const struct sl_tally_sums *h, uint32_t number, int fate);

/* A quantity of n counters of a row, from number first on: h->row, until the next call. */
const double *sl_tally_row(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, uint32_t first, uint32_t n, enum sl_tally_quantity which);

/* The same of the cells of a row. */
const double *sl_tally_cells(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, enum sl_tally_quantity which);

/* --- filter ----------------------------------------------------------------------------------- */

/* The log likelihoods of all filters of a run. */
struct sl_filter_likelihood {
	uint64_t filters;
	struct sl_filter_sum sum;
	double log_of_mean; /* the logarithm of the mean likelihood, which is unbiased */
};
struct sl_filter_likelihood sl_filter_likelihood_of(const struct sl_manifest *m);

/* The values of a step (sl_filter_read_step()). */
uint32_t sl_filter_quantities(const struct sl_recipe *r);

/*
 * The columns of the table of steps: each value, then its standard error over the filters. The name
 * of one (sl_message_part()): "mean_state_1", "mean_state_1_error", "quantile_0.05_state_1".
 */
const char *sl_filter_name(const struct sl_resampling *f, uint32_t column);

/* Adds the counters of a batch to h->filter; h->batches does not contain it yet. */
void sl_filter_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_tally_sums *h);

/* A column for all steps: h->row, until the next call. */
const double *sl_filter_steps(
	const struct sl_recipe *r, const struct sl_tally_sums *h, uint32_t column);

/* --- image_sum -------------------------------------------------------------------------------- */

/*
 * Sums the weight of survivors by pixel over all batches of a run.
 *
 * Input: the columns pixel and weight of each batch. Output: the values of the pixels, and the two
 * image files in memory. Sums are integers in units of 2^-32, so that they depend neither on the
 * order of the batches nor on the machine. The writer adds each batch that it commits; batches that
 * an earlier session committed are read back from their files.
 */

struct sl_image_sum {
	struct sl_image image; /* width 0: the run makes no image */
	double white;          /* value of a white pixel; NaN: the largest value of the image */
	uint64_t *sum;         /* per pixel: sum of weights, in units of 2^-32 */
	uint8_t *added;        /* per batch: 1 when sum contains the batch */
	uint64_t particles;    /* generated by the run; set by sl_image_sum_finish() */
	double *value;         /* per pixel; set by sl_image_sum_finish() */
	uint64_t *rays;        /* per pixel: rays started there; set by sl_image_sum_finish() */
	uint8_t *grey; /* per pixel, top row first: sRGB code; set by sl_image_sum_finish() */
	void *file;    /* buffer for one image file at a time */
	size_t file_bytes;
	void *block; /* the one allocation that contains all arrays above */
};

/*
 * Cuts the arrays of c from the arena, or measures them when the arena has no memory. c->image must
 * be set; without pixels nothing is cut.
 */
void sl_image_sum_lay_out(struct sl_arena *a, const struct sl_file_facts *facts, uint64_t n_batches,
	struct sl_image_sum *c);

/* Upper bound of the bytes of both image files; 0 without pixels. */
size_t sl_image_sum_disk(const struct sl_image *p, const struct sl_file_facts *facts);

/* Adds the survivors of a batch, unless the batch was added before. Not thread-safe. */
enum sl_status sl_image_sum_add(struct sl_image_sum *c, uint64_t batch, const struct sl_table *t);

/* Adds the batches of m that are not in the sum yet, from their files in dir. */
enum sl_status sl_image_sum_read_back(
	struct sl_image_sum *c, const struct sl_dir *dir, const struct sl_manifest *m);

/*
 * Computes values and greys from the sums; all batches of m must have been added. SL_CHECK_FAILED
 * when the pixels do not add up to the weight in the manifest.
 */
enum sl_status sl_image_sum_finish(struct sl_image_sum *c, const struct sl_manifest *m);

/* The value of a white pixel; requires sl_image_sum_finish() when c->white is NaN. */
double sl_image_sum_white(const struct sl_image_sum *c);

/* Make NAME.image.h5 and NAME.png in c->file, after sl_image_sum_finish(). *bytes: file size. */
enum sl_status sl_image_sum_numbers(
	const struct sl_image_sum *c, const struct sl_file_facts *facts, size_t *bytes);
enum sl_status sl_image_sum_png(const struct sl_image_sum *c, size_t *bytes);

#endif
