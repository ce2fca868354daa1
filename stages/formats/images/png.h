/*
 * png.h - encodes an image in shades of grey, 8 bits per pixel, as a PNG file in memory (libpng).
 *
 * The bytes depend only on the pixels and on the versions of libpng and zlib: the file contains no
 * time.
 */
#ifndef SL_STAGES_FORMATS_IMAGES_PNG_H
#define SL_STAGES_FORMATS_IMAGES_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/base/status.h"

/* Upper limits of the size of the file and of the scratch that encoding needs, in bytes. */
size_t sl_png_bytes(uint32_t width, uint32_t height);
size_t sl_png_scratch(uint32_t width);

/*
 * Encodes height rows of width pixels, from the top, to a file of at most size bytes, and sets *used
 * to its size. libpng and zlib allocate from scratch only.
 */
enum sl_status sl_png_make(struct sl_arena scratch, uint32_t width, uint32_t height,
	const uint8_t *grey, void *file, size_t size, size_t *used);

#endif
