/*
 * npz.h - what packing and reading of an npz file share.
 *
 *	id.npy  x.npy  ...     a member for each column, of all rows, deflated: np.load(f)["x"]
 *	about.npy              what the file is, as JSON in one item of bytes:
 *	                       json.loads(np.load(f)["about"].item())
 *
 * It is a zip archive (zip.h) of arrays of numpy's format 1.0. (numpy, lib/format.py.)
 */
#ifndef SL_NPZ_H
#define SL_NPZ_H

#include "stages/formats/format.h"
#include "stages/formats/zip.h"

/* Before the items of an array: magic, version, length and a line of text, padded. */
enum { SL_NPY_BYTES = 128 };

/* The header of n items of a type; of one item of so many bytes. */
void sl_npy_header(char header[SL_NPY_BYTES], enum sl_column_type type, uint32_t n);
void sl_npy_header_of_text(char header[SL_NPY_BYTES], size_t bytes);

/* The name of a column's member, "x.npy"; returns its length. */
size_t sl_npz_name(char name[SL_ZIP_NAME_MOST], enum sl_column column);

#define SL_NPZ_ABOUT "about.npy"

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
