/* pieces.c - see common.h. */
#include "stages/formats/common/common.h"

#include <string.h>

#include "primitives/files/files.h"

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
