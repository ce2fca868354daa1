/*
 * formats.h - the table of file formats, made from formats.def.
 *
 * Purpose of the folder: a batch of survivors becomes a file in memory, and a file becomes columns.
 *
 *	common/    the interface of a format (format.h) and parts that several formats share
 *	hdf5/      HDF5 files in memory; a child process in which HDF5 parses files
 *	openpmd/   openPMD in HDF5, and the XDMF side file
 *	images/    the image of a run, in HDF5 and PNG
 *	tables/    csv, csv.gz and npz
 *	mcpl/      MCPL particle lists, plain and in gzip
 *
 * Input: a table of columns (stages/particle/table.h), or what a device packed. Output: byte ranges
 * of a file; no function here opens a file on a disk.
 */
#ifndef SL_STAGES_FORMATS_FORMATS_H
#define SL_STAGES_FORMATS_FORMATS_H

#include "stages/formats/common/format.h"

SL_C_BEGIN

/* One object per line of formats.def: sl_format_openpmd and so on. */
#define SL_FORMAT(name) extern const struct sl_format sl_format_##name;
#include "stages/formats/formats.def"
#undef SL_FORMAT

/* The value none of output.format: a run without files of survivors. It has no suffix. */
extern const struct sl_format sl_format_none;

/* All formats of files in the order of formats.def, terminated by NULL. */
extern const struct sl_format *const sl_formats[];

/* The format of that name, none included, or NULL. */
const struct sl_format *sl_format_find(const char *name);

/* The format whose suffix ends that file name, or NULL. */
const struct sl_format *sl_format_of(const char *file);

/*
 * Prepares the libraries that formats use. It must be the first call of a program that writes or
 * reads files, before it starts threads: only then can HDF5's cleanup at exit be disabled, which
 * crashes after some failures.
 */
enum sl_status sl_formats_start(void);

SL_C_END

#endif
