/* png.c - see images.h. libpng reads, writes and allocates in memory of the caller only. */
#include "stages/formats/images/images.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

/* State of a file that is made; libpng passes it to the callbacks. */
struct png_file {
	struct sl_arena scratch;
	uint8_t *at;
	size_t size, used;
	uint32_t width, height;
	const uint8_t *grey;
	char why[160]; /* libpng's message after a failure */
};

/* DEFLATE adds less than 1/8 to any data, and a PNG chunk of 8 KiB adds 12 bytes. */
size_t sl_png_bytes(uint32_t width, uint32_t height)
{
	size_t raw = sl_size_mul((size_t)width + 1, height);

	return sl_size_add(raw, sl_size_add(raw / 4, 4096));
}

/* zlib's state takes 268 KiB, libpng's a few KiB, and the filters keep at most six rows. */
size_t sl_png_scratch(uint32_t width)
{
	return ((size_t)512 << 10) + 8 * ((size_t)width + 256);
}

static void put(png_structp png, png_bytep bytes, size_t n)
{
	struct png_file *p = (struct png_file *)png_get_io_ptr(png);

	if (n > p->size - p->used)
		png_error(png, "the file is longer than sl_png_bytes()");
	memcpy(p->at + p->used, bytes, n);
	p->used += n;
}

static void flush(png_structp png)
{
	(void)png;
}

static png_voidp get(png_structp png, png_alloc_size_t n)
{
	struct png_file *p = (struct png_file *)png_get_mem_ptr(png);

	return sl_cut(&p->scratch, n);
}

/* Nothing to free: the scratch ends with the call. */
static void give(png_structp png, png_voidp memory)
{
	(void)png;
	(void)memory;
}

static PNG_FUNCTION(void, fail, (png_structp png, png_const_charp why), PNG_NORETURN)
{
	struct png_file *p = (struct png_file *)png_get_error_ptr(png);

	snprintf(p->why, sizeof(p->why), "%s", why);
	png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp why)
{
	(void)png;
	(void)why;
}

static void write_image(png_structp png, png_infop info, const struct png_file *p)
{
	png_set_IHDR(png, info, p->width, p->height, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
		PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	png_write_info(png, info);
	for (uint32_t row = 0; row < p->height; row++)
		png_write_row(png, p->grey + (size_t)row * p->width);
	png_write_end(png, info);
}

/* False after an error: fail() jumps to setjmp(). */
static bool try_image(png_structp png, png_infop info, struct png_file *p)
{
	if (setjmp(png_jmpbuf(png)))
		return false;
	png_set_user_limits(png, UINT32_MAX / 2, UINT32_MAX / 2);
	png_set_write_fn(png, p, put, flush);
	write_image(png, info, p);
	return true;
}

enum sl_status sl_png_make(struct sl_arena scratch, uint32_t width, uint32_t height,
	const uint8_t *grey, void *file, size_t size, size_t *used)
{
	struct png_file p = {.scratch = scratch,
		.at = (uint8_t *)file,
		.size = size,
		.width = width,
		.height = height,
		.grey = grey};
	png_structp png =
		png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &p, fail, ignore, &p, get, give);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	bool made = info && try_image(png, info, &p);

	png_destroy_write_struct(&png, &info);
	*used = p.used;
	return made ? SL_OK
	            : sl_fail(SL_INTERNAL,
			      "internal error: libpng cannot make the image (%s); please report it",
			      p.why[0] ? p.why : "it cannot be initialised");
}
