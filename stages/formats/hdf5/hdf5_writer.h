/*
 * hdf5_writer.h - makes HDF5 files in other processes.
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
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_WRITER_H
#define SL_STAGES_FORMATS_HDF5_HDF5_WRITER_H

#include "stages/formats/hdf5/hdf5.h"

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
