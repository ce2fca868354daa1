/* npz_pack.h - compresses the columns of an npz file, or takes streams that a device compressed. */
#ifndef SL_STAGES_FORMATS_TABLES_NPZ_PACK_H
#define SL_STAGES_FORMATS_TABLES_NPZ_PACK_H

#include "stages/formats/common/format.h"

/* The packed items of one column. */
struct sl_npz_piece {
	enum sl_column column;
	uint32_t method;   /* SL_ZIP_DEFLATED or SL_ZIP_STORED */
	uint32_t crc;      /* of the items before compression */
	const uint8_t *at; /* a raw DEFLATE stream, or the items */
	size_t bytes;
};

/* What sl_packed.pieces points to. */
struct sl_npz_pieces {
	uint32_t n;
	struct sl_npz_piece piece[SL_COLUMN_COUNT];
};

/*
 * A deflated array starts with its header as a stored block, which adds these bytes to the stream
 * (RFC 1951, 3.2.4).
 */
enum { SL_NPZ_BLOCK_BYTES = 5 };

/* As the functions of struct sl_format. */
void sl_npz_lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p);
size_t sl_npz_scratch(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_npz_pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p);
enum sl_status sl_npz_take(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed,
	struct sl_packed *p);

extern const struct sl_format_join sl_npz_join; /* npz_join.c */

#endif
