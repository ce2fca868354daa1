/*
 * disk.h - system calls with injected faults, and messages for their errors: for the files of this
 * folder.
 *
 * A system call is written as
 *
 *	sl_fault_injected("file_fsync") || fsync(fd) != 0
 *
 * so that SL_FAULT reaches it. errno has the reason in both cases.
 */
#ifndef SL_PRIMITIVES_FILES_DISK_H
#define SL_PRIMITIVES_FILES_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "primitives/base/fault.h"
#include "primitives/base/status.h"

SL_C_BEGIN

/* Whether SL_FAULT makes this call fail. Sets errno if so. */
static inline bool sl_fault_injected(const char *call)
{
	int error = sl_fault(call);

	if (error != 0)
		errno = error;
	return error != 0;
}

/*
 * Returns SL_DISK, or SL_HOST_MEMORY for ENOMEM, with the message "cannot <verb> <dir>/<name>:
 * <text of errno> (reason); advice". name may be NULL.
 */
enum sl_status sl_disk_failed(int error, const char *verb, const char *dir, const char *name);

/* SL_USAGE if name is not a valid single component of a path. */
enum sl_status sl_check_name(const char *name);

/*
 * openat(2) below the directory `at`, repeated if a signal interrupts it. -1 and errno on failure.
 */
int sl_open(int at, const char *name, int flags);

/* The same; a file that O_CREAT makes gets this mode, less the umask. */
int sl_open_mode(int at, const char *name, int flags, mode_t mode);

/*
 * Writes all bytes, in pieces, despite short writes and signals: at an offset, or NULL: after the
 * last ones. Returns 0 or an errno.
 */
int sl_write_all(int fd, const char *call, uint64_t *offset, const void *bytes, size_t size);

/* fsync of a directory: makes its entries durable. Returns 0 or an errno. */
int sl_sync_directory(int fd);

/* Closes fd in any case. Returns error if it is not 0, else 0 or the errno of close(2). */
int sl_close(int fd, int error);

/*
 * Sets *size of a regular file. Anything else is closed and refused (SL_BAD_INPUT). name may be
 * NULL.
 */
enum sl_status sl_check_regular(int fd, const char *dir, const char *name, uint64_t *size);

SL_C_END

#endif
