/*
 * hdf5_file.h - HDF5 files in memory: creation, groups, datasets, attributes, with checked results.
 *
 * All functions share a struct sl_h5. After the first failure the functions do nothing but close
 * what is open, so a file is written as a plain list of calls, and the caller checks h->failed once
 * at the end.
 *
 * A file is in memory of the caller, and neither writing nor reading copies it. A file is created by
 * a driver of this program (hdf5_driver.h) around chunks that stay where they are. To read a file,
 * HDF5's core driver gets the caller's block by its file image callbacks.
 *
 * These functions are called in child processes only (hdf5_child.h, hdf5_writer.h), because HDF5
 * crashes on damaged files and when some allocations fail. Purpose of the folder: see README.md.
 */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_FILE_H
#define SL_STAGES_FORMATS_HDF5_HDF5_FILE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "primitives/base/status.h"

/* Defined if the program is built with a sanitizer of memory accesses. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SL_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SL_SANITIZED 1
#endif

struct sl_h5 {
	bool failed;
	bool no_memory; /* the failure is that HDF5 could not allocate */
	char why[512];  /* HDF5's error stack, from the innermost call outwards */
	uint8_t *image; /* the file; when created, without the data */
	size_t size;    /* bytes allocated for the image */
	bool full;      /* HDF5 needed more than size bytes */

	/* Only of a file that is created; see hdf5_driver.c for the layout. */
	const uint8_t *data; /* all chunks; they follow the head in the file */
	size_t data_bytes;
	size_t head;          /* bytes of the image before the data */
	uint64_t end;         /* address of the next object */
	const uint8_t *chunk; /* the chunk in data that is being added; else NULL */
};

/* Bytes that HDF5 needs at most for its initialisation, or to read a file of this program. */
enum { SL_H5_NEEDS = 32 << 20 };

/*
 * Whether SL_H5_NEEDS bytes can be allocated. Some versions of HDF5 crash when an allocation fails, so
 * callers test this before they call HDF5, and report a lack of memory themselves.
 */
bool sl_h5_has_memory(void);

/*
 * Initialises HDF5 and disables its cleanup at exit, which crashes after some failures. It must be
 * the first use of HDF5 in the program, before other threads exist.
 */
enum sl_status sl_h5_start(void);

/* Initialises *h for an image of size bytes. Turns off HDF5's error output for this thread. */
void sl_h5_begin(struct sl_h5 *h, void *image, size_t size);

/* Records a failure if HDF5's result is negative. False after this or any earlier failure. */
bool sl_h5_ok(struct sl_h5 *h, int64_t answer);

/* The same for a result that is an id, which it returns. */
hid_t sl_h5_id(struct sl_h5 *h, hid_t id);

/*
 * Creates an empty file around h->data, if there are any: the image contains the first h->head bytes
 * of the file and what follows the data. *h must not move until the file is closed.
 */
hid_t sl_h5_create_file(struct sl_h5 *h);

/* Opens the file in the image for reading. */
hid_t sl_h5_open_file(struct sl_h5 *h);

/* Flushes and closes a created file. Returns its size with the data; 0 after a failure. */
size_t sl_h5_finish_file(struct sl_h5 *h, hid_t file);

/* Closes an object of any kind. A negative id is ignored. */
void sl_h5_close(struct sl_h5 *h, hid_t id);

/* Creates a group. */
hid_t sl_h5_group(struct sl_h5 *h, hid_t at, const char *name);

/*
 * Creates a dataset of n items. chunk > 0: in chunks of that many items, deflated, and shuffled
 * before that if shuffle is set. chunk = 0: contiguous.
 */
hid_t sl_h5_dataset(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n,
	uint64_t chunk, bool shuffle);

/* Creates a contiguous dataset of n items and writes its values. */
hid_t sl_h5_values(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values);

/*
 * Creates a contiguous dataset of rank dimensions, size[0] x size[1] x ... items, and writes its values;
 * those along the last dimension are neighbours.
 */
hid_t sl_h5_grid(struct sl_h5 *h, hid_t at, const char *name, hid_t type, int rank,
	const uint64_t size[], const void *values);

/* Attributes: scalars; text as a string of fixed length; a list of n values. */
void sl_h5_put_u32(struct sl_h5 *h, hid_t at, const char *name, uint32_t value);
void sl_h5_put_u64(struct sl_h5 *h, hid_t at, const char *name, uint64_t value);
void sl_h5_put_f64(struct sl_h5 *h, hid_t at, const char *name, double value);
void sl_h5_put_text(struct sl_h5 *h, hid_t at, const char *name, const char *text);
void sl_h5_put(struct sl_h5 *h, hid_t at, const char *name, hid_t type, const void *value);
void sl_h5_put_list(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values);

/* Creates a scalar dataset that holds a text of any length as a string of fixed length. */
void sl_h5_text(struct sl_h5 *h, hid_t at, const char *name, const char *text);

#endif
