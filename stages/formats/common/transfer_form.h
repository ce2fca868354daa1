/*
 * transfer_form.h - the form in which survivors are copied from a device, and what a format needs.
 *
 * Survivors are columns. A device can make records of them, for a format that is a list of
 * records, and can compress columns or records to DEFLATE streams (stages/device/pack.h). Then only
 * the records or streams are copied to the host, and the host threads have less to compress.
 */
#ifndef SL_STAGES_FORMATS_COMMON_TRANSFER_FORM_H
#define SL_STAGES_FORMATS_COMMON_TRANSFER_FORM_H

#include "primitives/base/size.h"
#include "primitives/primitives.h"

enum sl_transfer_form {
	SL_AS_COLUMNS, /* columns, uncompressed */
	SL_AS_RECORDS, /* one record per row, uncompressed */
	SL_AS_STREAMS  /* DEFLATE streams of single columns, or of all records */
};

/* What a device can pack for a format. All 0: nothing. */
struct sl_device_packing {
	bool records;            /* files consist of records; else of columns */
	size_t chunk_bytes;      /* maximum size of a stream before compression; 0: no streams */
	enum sl_wrapper wrapper; /* of the streams */
	bool constants;          /* constant columns are expanded to all rows and compressed too */
	bool planes;             /* bytes of items are shuffled as HDF5's filter does, and the last
	                            chunk of a column is padded with zeros */
};

/* Whether host threads have nothing left to compress. */
static inline bool sl_is_device_packed(
	const struct sl_device_packing *p, enum sl_transfer_form form)
{
	return form == SL_AS_STREAMS || (form == SL_AS_RECORDS && p->chunk_bytes == 0);
}

/* Rows per chunk of an array of n > 0 rows of item_bytes each: all n, or as many as fit. */
static inline uint32_t sl_chunk_items(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	size_t most = chunk_bytes / item_bytes;

	return n < most ? n : (uint32_t)most;
}

/* Chunks of an array of n rows; 0 if it is empty. */
static inline size_t sl_chunks(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	return n ? (size_t)sl_ceil_div(n, sl_chunk_items(n, item_bytes, chunk_bytes)) : 0;
}

#endif
