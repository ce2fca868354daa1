/*
 * read.h - reads whole regular files, or checksums them in pieces.
 *
 * A stream, which has no size, is read up to its end. A failed system call is SL_DISK; something
 * that is not a regular file is SL_BAD_INPUT. Calls for SL_FAULT: file_open file_stat file_read
 * file_close.
 */
#ifndef SL_PRIMITIVES_FILES_READ_H
#define SL_PRIMITIVES_FILES_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dirs.h"

SL_C_BEGIN

/*
 * Reads the file name below d. *bytes has *size bytes and a NUL after them; the caller frees it
 * with sl_memory_give(SL_HOST, *bytes). After a failure *bytes is NULL.
 */
enum sl_status sl_file_read(const struct sl_dir *d, const char *name, char **bytes, size_t *size);

/* The same for any path. SL_BAD_INPUT if the file has more than most bytes. */
enum sl_status sl_path_read(const char *path, size_t most, char **bytes, size_t *size);

/* The same for an open stream, such as a pipe, up to its end; name stands for it in messages. */
enum sl_status sl_stream_read(int fd, const char *name, size_t most, char **bytes, size_t *size);

/*
 * Whether errno says that a path names nothing that this user may open. Other errors, such as EIO,
 * leave open whether there is a file.
 */
bool sl_errno_is_missing(int error);

/* Whether access(2) of path with mode (R_OK, F_OK) fails with such an errno. */
bool sl_path_is_missing(const char *path, int mode);

/*
 * Sets *seconds to the time of the last change of the file name below d, since 1970; *exists is
 * false if there is no such file.
 */
enum sl_status sl_file_time(
	const struct sl_dir *d, const char *name, bool *exists, double *seconds);

/* Size and CRC-32 of the file name below d, read in pieces. */
enum sl_status sl_file_check(
	const struct sl_dir *d, const char *name, uint64_t *size, uint32_t *crc);

SL_C_END

#endif
