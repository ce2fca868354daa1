/*
 * hdf5_inspect.h - queries about the contents of an HDF5 file in memory.
 *
 * Only this file calls H5Aread() and H5Dread(): each read checks the type and the number of values in
 * the file before HDF5 writes them to memory of the caller.
 *
 * An object that does not exist, or that has another type or shape, is no failure: the result is a
 * negative id or false. Failures of HDF5 itself are recorded in *h, as in hdf5_file.h.
 */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_INSPECT_H
#define SL_STAGES_FORMATS_HDF5_HDF5_INSPECT_H

#include "stages/formats/hdf5/hdf5_file.h"

/* Opens the member of that name of a group. */
hid_t sl_h5_member(struct sl_h5 *h, hid_t at, const char *name);

/* Opens the only member of a group, if that member is a group. */
hid_t sl_h5_only_group(struct sl_h5 *h, hid_t at);

/* The name of the i-th member of a group, sorted by name. A name that does not fit is cut. */
bool sl_h5_name(struct sl_h5 *h, hid_t at, uint64_t i, char *name, size_t size);

/* Reads an attribute that is one value of that type. */
bool sl_h5_get(struct sl_h5 *h, hid_t at, const char *name, hid_t type, void *value);

/* Reads an attribute that is n integers of any size. */
bool sl_h5_get_integers(struct sl_h5 *h, hid_t at, const char *name, uint64_t n, int value[]);

/* Reads an attribute that is one text of less than size bytes, of fixed or of variable length. */
bool sl_h5_get_text(struct sl_h5 *h, hid_t at, const char *name, char *text, size_t size);

/* The number of items of a dataset of that type with one dimension. */
bool sl_h5_rows(struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *n);

/* Reads a member of a group that is a dataset of one dimension, of that type, with *n <= most items. */
bool sl_h5_get_values(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t most,
	void *values, uint64_t *n);

/*
 * For a dataset of that type that sl_h5_grid() made: its rows and columns, and the offset of its
 * values in the file, in bytes.
 */
bool sl_h5_is_grid(struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *rows, uint64_t *columns,
	uint64_t *at);

/* Whether sl_h5_dataset() with these arguments makes a dataset of the same chunks and filters. */
bool sl_h5_is_chunked(struct sl_h5 *h, hid_t dataset, uint64_t chunk, bool shuffle);

/* The status of a reader: that of the failure of HDF5 if there was one, otherwise status. */
enum sl_status sl_h5_read_status(const struct sl_h5 *h, enum sl_status status);

#endif
