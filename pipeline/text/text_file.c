/* text_file.c - connects a stream of the C library to the writer of a file, by fopencookie(3). */
#include "pipeline/text/text.h"

#include "primitives/files/files.h"

/* Called when the buffer is full and at the end. A result of 0 is an error for fopencookie(3). */
static ssize_t write_bytes(void *file, const char *bytes, size_t n)
{
	struct sl_text_file *f = (struct sl_text_file *)file;

	f->crc = sl_crc32_update(f->crc, bytes, n);
	if (f->status == SL_OK)
		f->status = sl_file_add(&f->w, bytes, n);
	return f->status == SL_OK ? (ssize_t)n : 0;
}

enum sl_status sl_text_file_begin(
	struct sl_text_file *f, const struct sl_dir *dir, const char *name)
{
	f->status = SL_OK;
	f->crc = 0;
	SL_TRY(sl_file_begin(dir, name, &f->w));
	f->out = fopencookie(f, "w", (cookie_io_functions_t){.write = write_bytes});
	if (f->out) {
		setvbuf(f->out, f->buffer, _IOFBF, sizeof(f->buffer));
		return SL_OK;
	}
	sl_file_drop(&f->w);
	return sl_fail(SL_HOST_MEMORY,
		"%s: no memory for a stream that writes the file; close other programs", name);
}

uint32_t sl_text_file_crc(struct sl_text_file *f)
{
	fflush(f->out);
	return f->crc;
}

/* fclose() writes the rest of the buffer. A failed sl_file_add() has removed the .part file. */
enum sl_status sl_text_file_commit(struct sl_text_file *f)
{
	fclose(f->out);
	return f->status == SL_OK ? sl_file_end(&f->w, true) : f->status;
}
