/*
 * hdf5.h - HDF5 in a few words, each of which checks what HDF5 answers.
 *
 * All words share a struct sl_h5. After the first failure they do nothing more (but close what is
 * open), so a file is written as a plain list of words and asked once at its end whether it
 * succeeded.
 *
 * Files live in memory of the caller, and neither writing nor reading one makes a copy of it: a
 * file is made by a driver of our own (hdf5_driver.c), around chunks that stay where they are; to
 * read one, HDF5's core driver is given our block as if it were its own (file image callbacks).
 */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_H
#define SL_STAGES_FORMATS_HDF5_HDF5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "primitives/base/status.h"

struct sl_h5 {
	bool failed;
	bool no_memory; /* because HDF5 got no memory */
	char why[512];  /* HDF5's own account of it, from the innermost call outwards */
	uint8_t *image; /* of the file */
	size_t size;    /* room in it */
	bool full;      /* HDF5 asked for more */
	/* Of a file that is made. */
	const uint8_t *data; /* all chunks, which stand in the file behind its head */
	size_t data_bytes;
	size_t head;          /* bytes of the image before them */
	uint64_t end;         /* where the next object goes */
	const uint8_t *chunk; /* that is handed over now, among the data */
};

/* HDF5 serves one thread at a time: for all calls from begin to finish. */
void sl_h5_lock(void);
void sl_h5_unlock(void);

/* Begins: nothing failed, image to be used. HDF5 prints nothing on this thread from here on. */
void sl_h5_begin(struct sl_h5 *h, void *image, size_t size);

/* Notes a failure of HDF5 when answer is negative. False when this or anything before failed. */
bool sl_h5_ok(struct sl_h5 *h, int64_t answer);

/* The same for an answer that is an id; gives it back. */
hid_t sl_h5_id(struct sl_h5 *h, hid_t id);

/*
 * Makes an empty file around the data, if there are any: the image has its first h->head bytes and
 * what follows the data; h stays where it is until the file is closed. Or opens for reading the
 * file that is in the image.
 */
hid_t sl_h5_create_file(struct sl_h5 *h);
hid_t sl_h5_open_file(struct sl_h5 *h);

/* Makes a property list of access to files our driver's, for sl_h5_create_file(). */
void sl_h5_drive(struct sl_h5 *h, hid_t access);

/*
 * Flushes a file made so, that it is whole, and closes it. Returns its size, data and all: where
 * the next object would go.
 */
size_t sl_h5_finish_file(struct sl_h5 *h, hid_t file);

/* Closes an object of any kind; a negative id is none. */
void sl_h5_close(struct sl_h5 *h, hid_t id);

/* A new group. */
hid_t sl_h5_group(struct sl_h5 *h, hid_t at, const char *name);

/*
 * A new dataset of n items; with chunk, in chunks of that many, deflated, and shuffled before if
 * shuffle.
 */
hid_t sl_h5_dataset(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n,
	uint64_t chunk, bool shuffle);

/*
 * Hands over the chunk of a dataset that begins with item first, which is among the data. Filters
 * are HDF5's mask of those that were skipped.
 */
void sl_h5_chunk(struct sl_h5 *h, hid_t dataset, uint32_t skipped, uint64_t first,
	const uint8_t *chunk, size_t bytes);

/* A dataset of n items, small and at once with its values. */
hid_t sl_h5_values(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values);

/* A dataset of rows of so many values, at once with them. */
hid_t sl_h5_grid(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t rows,
	uint64_t columns, const void *values);

/* Attributes: scalars, a list of n values, and text as a string of fixed length. */
void sl_h5_put_u32(struct sl_h5 *h, hid_t at, const char *name, uint32_t value);
void sl_h5_put_u64(struct sl_h5 *h, hid_t at, const char *name, uint64_t value);
void sl_h5_put_f64(struct sl_h5 *h, hid_t at, const char *name, double value);
void sl_h5_put_text(struct sl_h5 *h, hid_t at, const char *name, const char *text);
void sl_h5_put(struct sl_h5 *h, hid_t at, const char *name, hid_t type, const void *value);
void sl_h5_put_list(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values);

/* A scalar dataset that holds text, of any length, as a string of fixed length. */
void sl_h5_text(struct sl_h5 *h, hid_t at, const char *name, const char *text);

/*
 * Reading (hdf5_inspect.c). What is not there, or is there in another type or shape, is no failure: the
 * answer is a negative id or false.
 */

/* The member of a group by its name; the only member of a group, if that is a group itself. */
hid_t sl_h5_member(struct sl_h5 *h, hid_t at, const char *name);
hid_t sl_h5_only_group(struct sl_h5 *h, hid_t at);

/* The name of the i-th member of a group, in the order of names; one that does not fit is cut. */
bool sl_h5_name(struct sl_h5 *h, hid_t at, uint64_t i, char *name, size_t size);

/* The value of an attribute that is one value of that type. */
bool sl_h5_get(struct sl_h5 *h, hid_t at, const char *name, hid_t type, void *value);

/* The number of items of a dataset of that type and one dimension. */
bool sl_h5_rows(struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *n);

/* The rows and columns of what sl_h5_grid makes of that type; its values begin at byte *at. */
bool sl_h5_is_grid(struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *rows, uint64_t *columns,
	uint64_t *at);

/* Is it what sl_h5_dataset makes of the same arguments? */
bool sl_h5_is_chunked(struct sl_h5 *h, hid_t dataset, uint64_t chunk, bool shuffle);

#endif
