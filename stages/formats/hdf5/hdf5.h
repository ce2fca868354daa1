/* hdf5.h - HDF5 files in memory: made, read, and by the driver of this program */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_H
#define SL_STAGES_FORMATS_HDF5_HDF5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

/* --- hdf5_file -------------------------------------------------------------------------------- */

/*
 * HDF5 files in memory: creation, groups, datasets, attributes, with checked results.
 *
 * All functions share a struct sl_h5. After the first failure the functions do nothing but close
 * what is open, so a file is written as a plain list of calls, and the caller checks h->failed once
 * at the end.
 *
 * A file is in memory of the caller, and neither writing nor reading copies it: a driver of this
 * program gives it to HDF5, and creates a file around chunks that stay where they are.
 *
 * These functions are called in child processes only (sl_h5_in_child()), because HDF5
 * crashes on damaged files and when some allocations fail. Purpose of the folder: see README.md.
 */

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
	bool reads;     /* the file was opened for reading */

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
 * Whether SL_H5_NEEDS bytes can be allocated. Some versions of HDF5 crash when an allocation fails,
 * so callers test this before they call HDF5, and report a lack of memory themselves.
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
 * Creates an empty file around h->data, if there are any: the image contains the first h->head
 * bytes of the file and what follows the data. *h must not move until the file is closed.
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
 * Creates a contiguous dataset of rank dimensions, size[0] x size[1] x ... items, and writes its
 * values; those along the last dimension are neighbours.
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

/* --- hdf5_driver ------------------------------------------------------------------------------ */

/* An HDF5 file driver for files in memory, made around data that are not copied, or read. */

/* Bytes of a file before the data: the superblock, of version 0 unless H5Pset_libver_bounds() is called. */
enum { SL_H5_HEAD_BYTES = 96 };

/* Selects the driver in a file access property list; the file is in the image of *h. */
void sl_h5_set_driver(struct sl_h5 *h, hid_t access);

/*
 * Adds the chunk of a dataset that begins with item number first. The bytes must be part of
 * h->data; they become part of the file without a copy. skipped is HDF5's filter mask: bit i is set
 * if filter i was not applied to this chunk.
 */
void sl_h5_chunk(struct sl_h5 *h, hid_t dataset, uint32_t skipped, uint64_t first,
	const uint8_t *chunk, size_t bytes);

/* --- hdf5_inspect ----------------------------------------------------------------------------- */

/*
 * Queries about the contents of an HDF5 file in memory.
 *
 * Only this file calls H5Aread() and H5Dread(): each read checks the type and the number of values
 * in the file before HDF5 writes them to memory of the caller.
 *
 * An object that does not exist, or that has another type or shape, is no failure: the result is a
 * negative id or false. Failures of HDF5 itself are recorded in *h, as in hdf5.h.
 */

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

/*
 * Reads a member of a group that is a dataset of one dimension, of that type, with *n <= most
 * items.
 */
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

/*
 * Opens a file in memory, calls read with its root group, which is negative if that failed, and
 * closes it. The status is that of the failure of HDF5 if there was one, otherwise that of read.
 */
typedef enum sl_status sl_h5_root_reader(struct sl_h5 *h, hid_t root, void *context);
enum sl_status sl_h5_read_root(
	const void *file, size_t bytes, sl_h5_root_reader *read, void *context);

/* --- hdf5_writer ------------------------------------------------------------------------------ */

/*
 * Makes HDF5 files in other processes.
 *
 * HDF5 crashes or ends the process when some of its allocations fail. Therefore a process that runs
 * batches never calls it: files are made in child processes, and a crash there is an error like any
 * other. After a failure the file is made once more, in another process, because what HDF5 does
 * after a failed allocation is wrong too.
 *
 * Files of batches are made by a few writer processes, which are forked when the program starts and
 * its memory is small. HDF5 takes a millisecond per file and has no threads, so small batches need
 * several of them. A writer process gets the facts of a file through a socket and returns the
 * image; the compressed chunks stay with the caller. A file of the whole run is made in a fork of
 * the caller, because it needs much of the caller's memory, and a fork at the end of a run costs
 * little.
 */

/*
 * Makes a file with h, which is ready for sl_h5_create_file(). It runs in another process, which
 * has the memory that facts contains, but not what it points to in the caller. Returns the result
 * of sl_h5_finish_file().
 */
typedef size_t sl_h5_maker(struct sl_h5 *h, const void *facts);

/* A part of the facts of a file. */
struct sl_h5_part {
	const void *at;
	size_t bytes;
};

enum { SL_H5_WRITERS_MAX = 16 };

/*
 * Starts writer processes, so that there are n, at least two and at most SL_H5_WRITERS_MAX; fewer
 * if the system allows no more, but one. To be called before other threads exist.
 */
enum sl_status sl_h5_writers_start(uint32_t n);

/*
 * Lets a writer process make a file in h->image around h->data. The facts are the n parts one after
 * another; the first one determines their alignment. Sets h and *bytes, the size of the file with
 * its data. Waits for the file; each writer process makes one at a time. SL_HOST_MEMORY if HDF5
 * lacks memory or crashes; SL_INTERNAL if the image is too small or HDF5 refuses the file.
 */
enum sl_status sl_h5_writer_make(
	sl_h5_maker *make, const struct sl_h5_part *part, size_t n, struct sl_h5 *h, size_t *bytes);

/*
 * Makes a file in h->image in a fork of this process, so that facts may contain pointers. As above.
 */
enum sl_status sl_h5_fork_make(
	sl_h5_maker *make, const void *facts, struct sl_h5 *h, size_t *bytes);

#endif
