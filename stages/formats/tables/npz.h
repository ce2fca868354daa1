/*
 * npz.h - the contents of an npz file: what packing, assembling and reading share.
 *
 *	id.npy  x.npy  ...     one member per column with all rows, deflated: np.load(f)["x"]
 *	about.npy              a JSON text that describes the file, as an array of one item:
 *	                       json.loads(np.load(f)["about"].item())
 *
 * The file is a zip archive (zip.h) of arrays in numpy's format 1.0 (numpy, lib/format.py).
 *
 * Purpose of the folder: formats that store a table as arrays or text, csv, csv.gz and npz. Input: the
 * columns of a batch, or streams that a device packed. Output: byte ranges of a file, or columns.
 */
#ifndef SL_STAGES_FORMATS_TABLES_NPZ_H
#define SL_STAGES_FORMATS_TABLES_NPZ_H

#include "stages/formats/common/format.h"
#include "stages/formats/tables/zip.h"

/* Header of an array before its items: magic, version, length and a line of text, padded. */
enum { SL_NPY_BYTES = 128 };

/* Prints the header of an array of n items of that type. */
void sl_npy_header(char header[SL_NPY_BYTES], enum sl_column_type type, uint32_t n);

/* Prints the header of an array that is one text of so many bytes. */
void sl_npy_header_of_text(char header[SL_NPY_BYTES], size_t bytes);

/* What follows the name of a column in that of its member: "x.npy". */
#define SL_NPZ_SUFFIX ".npy"

/* How the units begin in the text of about.npy; each column follows as "x": "cm". */
#define SL_NPZ_UNITS "\"units\": {"

#define SL_NPZ_ABOUT "about.npy"

#endif
