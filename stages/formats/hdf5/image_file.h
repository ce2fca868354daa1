/*
 * image_file.h - the image that particles make, as numbers in an HDF5 file in memory.
 *
 *	/                  software, softwareVersion, sluiceSeed, particles, scale, sumUnit
 *	/sluiceConfig      the effective configuration, as text
 *	/radiance          or what else the model's pixels tell: float64, height x width
 *	/sum               weight that came to each pixel, in sumUnit = 2^-32: uint64
 *	/rays              where particles go to the pixels in turn: how many each has had, uint64
 *
 * Behind all that HDF5 knows of stands a seal (crc_trailer.h).
 */
#ifndef SL_STAGES_FORMATS_HDF5_IMAGE_FILE_H
#define SL_STAGES_FORMATS_HDF5_IMAGE_FILE_H

#include "stages/formats/common/format.h"
#include "stages/models/model.h"

#define SL_IMAGE_SUFFIX ".image.h5"

/* Numbers of all pixels, row by row. */
struct sl_image_values {
	const struct sl_image *image;
	uint64_t particles; /* of the run */
	const double *value;
	const uint64_t *sum;
	const uint64_t *rays; /* NULL: they do not go in turn */
};

size_t sl_image_bytes(const struct sl_image *p, const struct sl_file_facts *run);

/* Makes the file in size bytes of room, at least sl_image_bytes(), and sets *used. */
enum sl_status sl_image_make(const struct sl_file_facts *run, const struct sl_image_values *v,
	void *file, size_t size, size_t *used);

/* What is in such a file. Numbers are read where they stand, which need not be aligned. */
struct sl_image_found {
	char what[32]; /* "radiance" */
	uint64_t width, height;
	uint64_t particles;
	const void *value;
	const void *sum;
	const void *rays; /* NULL: there are none */
};

/*
 * Reads a file that is in memory, of so many bytes, seal included. Any other than this program's,
 * and any damage, is SL_BAD_INPUT. One thread at a time.
 */
enum sl_status sl_image_read(const void *file, size_t bytes, struct sl_image_found *found);

#endif
