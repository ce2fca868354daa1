/*
 * disk.h - what files.c, read.c and dirs.c share: system calls with faults, errors in words.
 *
 * A system call is written as   sl_fault_injected("file_fsync") || fsync(fd) != 0   so that SL_FAULT
 * reaches it; errno says why in either case.
 */
#ifndef SL_PRIMITIVES_FILES_DISK_H
#define SL_PRIMITIVES_FILES_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/fault.h"
#include "primitives/base/status.h"

SL_C_BEGIN

/* Must this call fail on purpose? Then errno is set. */
static inline bool sl_fault_injected(const char *call)
{
	int error = sl_fault(call);

	if (error != 0)
		errno = error;
	return error != 0;
}

/* SL_DISK: "cannot <verb> <dir>/<name>: <errno in words> (why); what to try". name may be NULL. */
enum sl_status sl_disk_failed(int error, const char *verb, const char *dir, const char *name);

/* Puts '?' for each control character, so that a message stays one line. */
void sl_make_printable(char *text);

/* SL_USAGE when name cannot be that of one entry below a directory. */
enum sl_status sl_check_name(const char *name);

/* open(2) below the directory at, begun again when a signal interrupts it. */
int sl_open(int at, const char *name, int flags);

/* The whole of bytes, in pieces, through short writes and signals. 0 or an errno. */
int sl_write_all(int fd, const char *call, const void *bytes, size_t size);

/* Makes the entries of a directory durable. 0 or an errno. */
int sl_sync_directory(int fd);

/* Closes fd whatever happens. 0 or an errno: error if there was one, else that of close(2). */
int sl_close(int fd, int error);

/* Gives the size of a regular file; closes any other and refuses it. name may be NULL. */
enum sl_status sl_check_regular(int fd, const char *dir, const char *name, uint64_t *size);

SL_C_END

#endif
