/* images.h - files of images */
#ifndef SL_STAGES_FORMATS_IMAGES_IMAGES_H
#define SL_STAGES_FORMATS_IMAGES_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/base/status.h"
#include "stages/formats/common/format.h"
#include "stages/models/model.h"

/* --- image_file ------------------------------------------------------------------------------- */

/*
 * The image of a run as numbers, written as an HDF5 file in memory.
 *
 * 	/                  software, softwareVersion, sluiceSeed, particles, scale, sumUnit
 * 	/sluiceConfig      the effective configuration, as text
 * 	/radiance          float64, height x width; the model gives the name (struct sl_image.what)
 * 	/sum               uint64: weight that reached each pixel, in units of sumUnit = 2^-32
 * 	/rays              uint64: particles sent through each pixel; only of a model that assigns
 * 	                   particles to pixels in turn
 *
 * The file ends with a checksum line that HDF5 ignores (sl_crc_trailer_add()).
 *
 * Purpose of the folder: files of the image that a run's particles sum up to. Input: values of all
 * pixels. Output: an HDF5 file (numbers) and a PNG file (8 bits of grey) in memory.
 */

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

/* --- image_file_read -------------------------------------------------------------------------- */

/* The image of a run, read from an HDF5 file in memory (image_file.c). */

/* Contents of the file. The arrays point into the file and may be unaligned. */
struct sl_image_found {
	char what[32]; /* name of the values, "radiance" */
	uint64_t width, height;
	uint64_t particles;
	const void *value; /* float64, height x width */
	const void *sum;   /* uint64 */
	const void *rays;  /* uint64, or NULL: the file has none */
};

/*
 * Reads a file of so many bytes, checksum line included. *found is valid as long as the file is. A
 * file that this program did not write, and any damage, is SL_BAD_INPUT. One thread at a time.
 */
enum sl_status sl_image_read(const void *file, size_t bytes, struct sl_image_found *found);

/* --- png -------------------------------------------------------------------------------------- */

/*
 * Encodes an image in shades of grey, 8 bits per pixel, as a PNG file in memory (libpng).
 *
 * The bytes depend only on the pixels and on the versions of libpng and zlib: the file contains no
 * time.
 */

/* Upper limits of the size of the file, and of the memory that libpng allocates, in bytes. */
size_t sl_png_bytes(uint32_t width, uint32_t height);
size_t sl_png_memory(uint32_t width);

/*
 * Encodes height rows of width pixels, from the top, to a file of at most size bytes, and sets
 * *used to its size. SL_HOST_MEMORY if libpng has no memory.
 */
enum sl_status sl_png_make(uint32_t width, uint32_t height, const uint8_t *grey, void *file,
	size_t size, size_t *used);

#endif
