/* common.c - parts of files: ranges of bytes, gzip members that store bytes, checksum lines. */
#include "stages/formats/common/common.h"

#include <stdio.h>
#include <string.h>

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

static uint8_t *put_block(uint8_t *to, const uint8_t *from, size_t bytes, bool last)
{
	to = sl_put_number(to, last, 1);
	to = sl_put_number(to, (uint32_t)bytes, 2);
	to = sl_put_number(to, ~(uint32_t)bytes, 2);
	memcpy(to, from, bytes);
	return to + bytes;
}

size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out)
{
	/* method deflate; no name, no time, operating system unknown */
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
	const uint8_t *from = (const uint8_t *)in;
	uint8_t *to = out + sizeof(header);
	size_t left = bytes;

	memcpy(out, header, sizeof(header));
	do {
		size_t n = left < UINT16_MAX ? left : UINT16_MAX;

		left -= n;
		to = put_block(to, from, n, left == 0);
		from += n;
	} while (left > 0);
	to = sl_put_number(to, sl_crc32(in, bytes), 4);
	to = sl_put_number(to, (uint32_t)bytes, 4);
	return (size_t)(to - out);
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
