/* common.c - parts of files: ranges of bytes, gzip members that store bytes, checksum lines. */
#include "stages/formats/common/common.h"

#include <stdio.h>

#include "primitives/deflate/deflate.h"
#include "primitives/files/files.h"

/* --- pieces ----------------------------------------------------------------------------------- */

void sl_pieces_add_known(struct sl_pieces *f, const void *at, size_t bytes, uint32_t crc)
{
	struct sl_piece *last = f->n > 0 ? &f->piece[f->n - 1] : NULL;

	if (last && (const char *)last->at + last->bytes == at)
		last->bytes += bytes;
	else
		f->piece[f->n++] = (struct sl_piece){at, bytes};
	f->bytes += bytes;
	f->crc = sl_crc32_combine(f->crc, crc, bytes);
}

void sl_pieces_add(struct sl_pieces *f, const void *at, size_t bytes)
{
	sl_pieces_add_known(f, at, bytes, sl_crc32(at, bytes));
}

void sl_pieces_join(const struct sl_pieces *f, void *to)
{
	char *at = (char *)to;

	for (uint32_t i = 0; i < f->n; i++) {
		memcpy(at, f->piece[i].at, f->piece[i].bytes);
		at += f->piece[i].bytes;
	}
}

/* --- gzip_stored ------------------------------------------------------------------------------ */

size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out)
{
	struct sl_exec no_scratch = {.space = SL_HOST};
	size_t used;
	const struct sl_deflate_job job = {.in = in,
		.in_bytes = bytes,
		.out = out,
		.out_size = sl_gzip_stored_bytes(bytes),
		.out_bytes = &used,
		.wrapper = SL_GZIP};

	(void)sl_deflate_store_one(&no_scratch, &job); /* the room is exact, so it succeeds */
	return used;
}

/* --- crc_trailer ------------------------------------------------------------------------------ */

void sl_crc_trailer_print(uint32_t crc, char *line)
{
	char text[SL_CRC_TRAILER_BYTES + 1];

	snprintf(text, sizeof(text), "sluice-crc32 %08x\n", (unsigned)crc);
	memcpy(line, text, SL_CRC_TRAILER_BYTES);
}

void sl_crc_trailer_add(void *file, size_t bytes)
{
	sl_crc_trailer_print(sl_crc32(file, bytes), (char *)file + bytes);
}

bool sl_crc_trailer_is_valid(const void *file, size_t bytes)
{
	char line[SL_CRC_TRAILER_BYTES];

	if (bytes < SL_CRC_TRAILER_BYTES)
		return false;
	bytes -= SL_CRC_TRAILER_BYTES;
	sl_crc_trailer_print(sl_crc32(file, bytes), line);
	return memcmp((const char *)file + bytes, line, SL_CRC_TRAILER_BYTES) == 0;
}
