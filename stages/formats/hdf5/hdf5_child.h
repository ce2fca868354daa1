/*
 * hdf5_child.h - reads an HDF5 file in a child process with limits.
 *
 * HDF5's parser is not safe on crafted files: it follows sizes and addresses out of bounds, and a
 * checksum is no protection, because anybody can compute it. Therefore HDF5 parses a file only in a
 * child process that cannot open files, start programs or connect to anything, and that has limits
 * on memory and time. The child returns where the data are; the caller checks each number and
 * decodes the data itself. A child that needs too much time had a damaged file. After any other
 * failure a second child reads the file, because HDF5 also crashes, or finds damage, when one of
 * its allocations fails, and because another process may have ended the child; what the second
 * child says holds.
 *
 * Children ignore all signals but those of crashes: signals to the process group are for the
 * caller. A child that was stopped (SIGSTOP) is continued at once; a stop of the process group
 * (Ctrl-Z) stops the caller, and the child waits for it with its result.
 *
 * Limits of a child: SL_H5_CHILD_MEMORY bytes more than the caller has, SL_H5_CHILD_SECONDS of CPU
 * time, and (Linux seccomp) only the system calls that allocate memory. Without seccomp, or on a
 * processor other than x86-64 and AArch64, the other limits hold. A build with a
 * sanitizer only limits the time, because the sanitizer needs much memory and other system calls.
 */
#ifndef SL_STAGES_FORMATS_HDF5_HDF5_CHILD_H
#define SL_STAGES_FORMATS_HDF5_HDF5_CHILD_H

#include <stddef.h>

#include "primitives/base/status.h"

/* In bytes and seconds: far more than HDF5 needs for the metadata of any file of this program. */
enum { SL_H5_CHILD_MEMORY = 256 << 20, SL_H5_CHILD_SECONDS = 60 };

/*
 * Reads a file in memory, without its checksum line, and writes what it finds to found, a block of
 * size bytes that is all 0 and SL_ALIGN-aligned. It runs in the child; nothing else it writes is
 * seen by the caller.
 */
typedef enum sl_status sl_h5_reader(const void *file, size_t bytes, void *found, size_t size);

/*
 * Runs read in a child process and waits for it, at most twice. If it succeeds, *found is its block
 * of size bytes, to be freed by sl_h5_child_free(); a crafted file may have put any bytes there.
 * Returns the status and the message of read; SL_BAD_INPUT if the child crashed or exceeded a
 * limit; SL_HOST_MEMORY if there is no memory for a child.
 */
enum sl_status sl_h5_in_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found);

/* The same without limits, for a function that calls HDF5 on data of this program. */
enum sl_status sl_h5_in_free_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found);

void sl_h5_child_free(void *found, size_t size);

/* In a child: lets signals of crashes end it and ignores all others. */
void sl_h5_set_signals(void);

/*
 * In a child: closes the files from 3 on, except one that is at least 3. They would stay open, and
 * the directory of a run locked, until the child has ended.
 */
void sl_h5_close_files(int except);

#endif
