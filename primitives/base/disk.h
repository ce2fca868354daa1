/*
 * disk.h - what files.c and dirs.c share: faults before system calls, and errors in words.
 *
 * A system call is written as   refused("file_fsync") || fsync(fd) != 0   so that SL_FAULT
 * reaches it; errno says why in either case.
 */
#ifndef SL_BASE_DISK_H
#define SL_BASE_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "fault.h"
#include "status.h"

SL_C_BEGIN

/* Must this call fail on purpose? Then errno is set. */
static inline bool refused(const char *call)
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

/* open(2) below the directory at, begun again when a signal interrupts it. */
int sl_open(int at, const char *name, int flags);

/* The whole of bytes, in pieces, through short writes and signals. 0 or an errno. */
int sl_write_all(int fd, const char *call, const void *bytes, size_t size);

/* Makes the entries of a directory durable. 0 or an errno. */
int sl_sync_directory(int fd);

SL_C_END

#endif
