/*
 * hdf5_driver.h - an HDF5 file driver that makes a file in memory around data that are not copied.
 */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_DRIVER_H
#define SL_STAGES_FORMATS_HDF5_HDF5_DRIVER_H

#include "stages/formats/hdf5/hdf5_file.h"

/* Selects the driver in a file access property list; the file is made in the image of *h. */
void sl_h5_set_driver(struct sl_h5 *h, hid_t access);

/*
 * Adds the chunk of a dataset that begins with item number first. The bytes must be part of h->data;
 * they become part of the file without a copy. skipped is HDF5's filter mask: bit i is set if
 * filter i was not applied to this chunk.
 */
void sl_h5_chunk(struct sl_h5 *h, hid_t dataset, uint32_t skipped, uint64_t first,
	const uint8_t *chunk, size_t bytes);

#endif
