/*
 * dirs.h - directories: create, open, lock, list and remove.
 *
 * struct sl_dir holds a directory open. Files are named relative to it (files.h, read.h), so a
 * rename or a symbolic link elsewhere in the path cannot redirect a write.
 *
 * A failed system call is SL_DISK; the message has the path, the text of errno, the reason and
 * advice. Calls for SL_FAULT: dir_make dir_remove dir_sync dir_read dir_space file_open
 * file_dirsync.
 */
#ifndef SL_PRIMITIVES_FILES_DIRS_H
#define SL_PRIMITIVES_FILES_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

SL_C_BEGIN

enum { SL_PATH_BYTES = 4096 };

struct sl_dir {
	int fd;           /* -1: not open */
	int lock;         /* descriptor of the file LOCK while this process holds the lock; -1 */
	bool interrupted; /* the last process that held the lock ended without closing the directory */
	bool locked_for_us; /* another process of the same run holds the lock; set by the caller */
	uint32_t place;     /* CRC-32 of its path when it was locked; 0: not known */
	bool lazy; /* writes in it flush nothing to the disk; set by the caller (sl_dir_sync()) */
	char path[SL_PATH_BYTES];
};

/*
 * Splits a path: returns the name after the last '/', and copies what precedes it to folder, "."
 * if there is no '/'. The result points into path.
 */
const char *sl_path_split(const char *path, char folder[SL_PATH_BYTES]);

/* Does a name end in a suffix, and is it longer? */
bool sl_path_ends_in(const char *path, const char *suffix);

/*
 * Opens the directory path. With make, first creates it and its parents. Close with sl_dir_close.
 */
enum sl_status sl_dir_open(const char *path, bool make, struct sl_dir *d);

/*
 * Creates a directory with a new name, NAME-XXXXXX, in parent, and opens it. NULL: in $TMPDIR or
 * /tmp.
 */
enum sl_status sl_dir_make_temporary(const char *parent, const char *name, struct sl_dir *d);

/* Whether this user may create files in d. */
bool sl_dir_is_writable(const struct sl_dir *d);

/* Sets *exists to whether path is a directory. SL_DISK if the file system does not answer. */
enum sl_status sl_dir_exists(const char *path, bool *exists);

/* Closes d and releases its lock; does nothing to one that is closed. */
void sl_dir_close(struct sl_dir *d);

/* Removes the empty directory path. */
enum sl_status sl_dir_remove(const char *path);

/*
 * Makes all that was written in d durable, with one call for the whole file system (syncfs(2)). It
 * is for a lazy directory: without the call, a failure of the machine can lose or truncate any of
 * its files.
 */
enum sl_status sl_dir_sync(const struct sl_dir *d);

/* Free bytes for this user on the file system of d. */
enum sl_status sl_dir_free_bytes(const struct sl_dir *d, uint64_t *bytes);

/*
 * Calls each(ctx, name) for every entry except . and .., sorted by name. Stops at the first call
 * that does not return SL_OK, and returns its status.
 */
enum sl_status sl_dir_each(
	const struct sl_dir *d, enum sl_status (*each)(void *ctx, const char *name), void *ctx);

SL_C_END

#endif
