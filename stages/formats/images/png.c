/* png.c - see images.h. */
#include "stages/formats/images/images.h"

#include <png.h>

/* DEFLATE adds less than 1/8 to any data, and a PNG chunk of 8 KiB adds 12 bytes. */
size_t sl_png_bytes(uint32_t width, uint32_t height)
{
	size_t raw = sl_size_mul((size_t)width + 1, height);

	return sl_size_add(raw, sl_size_add(raw / 4, 4096));
}

/* zlib's state takes 268 KiB, libpng's a few KiB, and the filters keep at most six rows. */
size_t sl_png_memory(uint32_t width)
{
	return ((size_t)512 << 10) + 8 * ((size_t)width + 256);
}

enum sl_status sl_png_make(
	uint32_t width, uint32_t height, const uint8_t *grey, void *file, size_t size, size_t *used)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = width,
		.height = height,
		.format = PNG_FORMAT_GRAY};
	png_alloc_size_t bytes = size;
	bool made = png_image_write_to_memory(&image, file, &bytes, 0, grey, 0, NULL) != 0;

	*used = bytes;
	return made ? SL_OK
	            : sl_fail(SL_HOST_MEMORY,
			      "host memory: libpng cannot make the image (%s); close other programs",
			      image.message[0] ? image.message : "the file is too long");
}
