/*
 * png.h - a picture in shades of grey, 8 bits a pixel, as a PNG file in memory (libpng).
 *
 * The bytes follow from the pixels and the versions of libpng and zlib: no time is in the file.
 */
#ifndef SL_STAGES_FORMATS_IMAGES_PNG_H
#define SL_STAGES_FORMATS_IMAGES_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/base/status.h"

/* The most bytes that the file of a picture has, and the scratch that making it takes. */
size_t sl_png_bytes(uint32_t width, uint32_t height);
size_t sl_png_scratch(uint32_t width);

/*
 * Makes the file of height rows of width pixels, from the top, in size bytes of room, and sets
 * *used. Allocates from scratch alone.
 */
enum sl_status sl_png_make(struct sl_arena scratch, uint32_t width, uint32_t height,
	const uint8_t *grey, void *file, size_t size, size_t *used);

#endif
