/*
 * transfer_form.h - in what form survivors come home from a device, and what a format asks of it.
 *
 * Survivors are columns. A device can make records of them, for a format that is a list of records,
 * and compress either, in streams of DEFLATE: then only those come home (pack.h), and threads have
 * the less to do.
 */
#ifndef SL_STAGES_FORMATS_COMMON_TRANSFER_FORM_H
#define SL_STAGES_FORMATS_COMMON_TRANSFER_FORM_H

#include "primitives/base/size.h"
#include "primitives/primitives.h"

enum sl_transfer_form {
	SL_AS_COLUMNS, /* as they are */
	SL_AS_RECORDS, /* a record a row, one behind another (formats/mcpl_record.h) */
	SL_AS_STREAMS  /* columns, each by itself, or all records, compressed */
};

/* What files of a format are made of, as far as a device can make it. */
struct sl_device_packing {
	bool records;       /* of records; else of columns */
	size_t chunk_bytes; /* in streams of so many bytes at most, before they are compressed; 0:
	                       in none */
	enum sl_wrapper wrapper; /* of the streams */
	bool constants;          /* columns of one value are made in full, and compressed, too */
	bool planes; /* their items are shuffled, as HDF5 does it, and the last chunk of a
	                column is filled up */
};

/* In the form, is nothing left that threads compress? */
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
