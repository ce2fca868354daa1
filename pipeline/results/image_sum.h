/*
 * image_sum.h - the image of a run: summed up batch by batch, written when the run is done.
 *
 * It is a sum over the survivors' columns pixel and weight, in integers of 2^-32, so that it
 * depends neither on the order of batches nor on where and how they were computed. The sink adds
 * each batch that it commits; those that a former session has committed are read back from their
 * files.
 */
#ifndef SL_PIPELINE_RESULTS_IMAGE_SUM_H
#define SL_PIPELINE_RESULTS_IMAGE_SUM_H

#include "pipeline/results/manifest.h"
#include "stages/formats/hdf5/image_file.h"

struct sl_plan;

struct sl_image_sum {
	struct sl_image image; /* no pixels: the run makes no image */
	double white;          /* the value that is white; NaN: the largest there is */
	uint64_t *sum;         /* of weight, a pixel each, in 2^-32 */
	uint8_t *added;        /* a batch each: is it in sum? */
	uint64_t particles;    /* of the run, once it is done */
	double *value;         /* a pixel each, likewise */
	uint64_t *rays;        /* likewise; all of one pixel */
	uint8_t *grey;         /* likewise */
	void *file;            /* room for each of the files */
	size_t file_bytes;
	struct sl_arena scratch; /* of libpng */
	void *block;             /* that all of this is in */
};

/* Lays out what the image of a plan takes: nothing where it makes none. */
void sl_image_sum_lay_out(struct sl_arena *a, const struct sl_plan *plan, struct sl_image_sum *c);

/* Adds a batch, unless it is there already. One thread at a time. */
enum sl_status sl_image_sum_add(struct sl_image_sum *c, uint64_t batch, const struct sl_table *t);

/*
 * Makes values and greys of the sums, once all batches are added. SL_CHECK_FAILED when these do not
 * add up to what the manifest has counted.
 */
enum sl_status sl_image_sum_sum_up(struct sl_image_sum *c, const struct sl_manifest *m);

/* The value that is white, and NAME.png made in c->file, once they are summed up. */
double sl_image_sum_white(const struct sl_image_sum *c);
enum sl_status sl_image_sum_png(const struct sl_image_sum *c, size_t *bytes);

/*
 * Adds the batches of m that have not been added, from their files, and commits the image as
 * NAME.png and NAME.image.h5. Nothing where the plan makes none.
 */
enum sl_status sl_image_sum_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

/* The most bytes that both files have. */
size_t sl_image_sum_disk(const struct sl_plan *plan);

#endif
