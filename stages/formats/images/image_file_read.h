/* image_file_read.h - the image of a run, read from an HDF5 file in memory (image_file.h). */
#ifndef SL_STAGES_FORMATS_IMAGES_IMAGE_FILE_READ_H
#define SL_STAGES_FORMATS_IMAGES_IMAGE_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

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

#endif
