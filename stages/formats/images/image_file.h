/*
 * image_file.h - the image of a run as numbers, written as an HDF5 file in memory.
 *
 *	/                  software, softwareVersion, sluiceSeed, particles, scale, sumUnit
 *	/sluiceConfig      the effective configuration, as text
 *	/radiance          float64, height x width; the model gives the name (struct sl_image.what)
 *	/sum               uint64: weight that reached each pixel, in units of sumUnit = 2^-32
 *	/rays              uint64: particles sent through each pixel; only of a model that assigns
 *	                   particles to pixels in turn
 *
 * The file ends with a checksum line that HDF5 ignores (crc_trailer.h).
 *
 * Purpose of the folder: files of the image that a run's particles sum up to. Input: values of all
 * pixels. Output: an HDF5 file (numbers) and a PNG file (8 bits of grey) in memory.
 */
#ifndef SL_STAGES_FORMATS_IMAGES_IMAGE_FILE_H
#define SL_STAGES_FORMATS_IMAGES_IMAGE_FILE_H

#include "stages/formats/common/format.h"
#include "stages/models/model.h"

#define SL_IMAGE_SUFFIX ".image.h5"

/* Values of all pixels, row by row from the top. */
struct sl_image_values {
	const struct sl_image *image;
	uint64_t particles; /* of the run */
	const double *value;
	const uint64_t *sum;
	const uint64_t *rays; /* NULL: particles are not assigned to pixels in turn */
};

/* Upper limit of the size of the file. */
size_t sl_image_bytes(const struct sl_image *p, const struct sl_file_facts *run);

/* Makes the file in size bytes, at least sl_image_bytes(), and sets *used to its size. */
enum sl_status sl_image_make(const struct sl_file_facts *run, const struct sl_image_values *v,
	void *file, size_t size, size_t *used);

#endif
