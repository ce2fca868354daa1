/*
 * npz.h - what packing and reading of an npz file share.
 *
 *	id.npy  x.npy  ...     a member for each column, of all rows, deflated: np.load(f)["x"]
 *	about.npy              what the file is, as JSON in one item of bytes:
 *	                       json.loads(np.load(f)["about"].item())
 *
 * It is a zip archive (zip.h) of arrays of numpy's format 1.0. (numpy, lib/format.py.)
 */
#ifndef SL_STAGES_FORMATS_TABLES_NPZ_H
#define SL_STAGES_FORMATS_TABLES_NPZ_H

#include "stages/formats/common/format.h"
#include "stages/formats/common/zip.h"

/* Before the items of an array: magic, version, length and a line of text, padded. */
enum { SL_NPY_BYTES = 128 };

/* The header of n items of a type; of one item of so many bytes. */
void sl_npy_header(char header[SL_NPY_BYTES], enum sl_column_type type, uint32_t n);
void sl_npy_header_of_text(char header[SL_NPY_BYTES], size_t bytes);

/* The name of a column's member, "x.npy"; returns its length. */
size_t sl_npz_name(char name[SL_ZIP_NAME_MAX], enum sl_column column);

#define SL_NPZ_ABOUT "about.npy"

/* The items of a column, packed. */
struct sl_npz_piece {
	enum sl_column column;
	uint32_t method, crc; /* of the items as they were */
	const uint8_t *at;    /* a stream of DEFLATE, or the items */
	size_t bytes;
};

struct sl_npz_pieces {
	uint32_t n;
	struct sl_npz_piece piece[SL_COLUMN_COUNT];
};

/* What a stream is longer by when the header of the array stands in it, beside the header. */
enum { SL_NPZ_BLOCK_BYTES = 5 };

void sl_npz_lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p);
size_t sl_npz_scratch(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_npz_pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p);
enum sl_status sl_npz_take(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed,
	struct sl_packed *p);

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
