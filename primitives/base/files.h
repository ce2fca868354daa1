/*
 * files.h - the one layer through which all else reaches the file system.
 *
 * Names are single components below a directory that is held open: nothing can be written outside
 * it. A file is committed whole: NAME.part, write, fsync, rename without replacing, fsync of the
 * directory. A failed fsync is never repeated (the kernel may have dropped the pages: a second
 * one would succeed over lost data). A failed system call is SL_DISK with the path, the errno in
 * words and what to try; a name that cannot be one is SL_USAGE; what should be a regular file and
 * is not is SL_BAD_INPUT.
 *
 * Calls for SL_FAULT: file_open file_write file_fsync file_close file_rename file_link file_dirsync
 * file_append file_datasync file_stat file_read file_remove dir_make dir_remove dir_lock dir_sign
 * dir_read dir_space.
 */
#ifndef SL_PRIMITIVES_BASE_FILES_H
#define SL_PRIMITIVES_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

SL_C_BEGIN

enum { SL_PATH_BYTES = 4096 };

struct sl_dir {
	int fd;
	int lock; /* descriptor of LOCK while held; -1 */
	char path[SL_PATH_BYTES];
};

/* The name at the end of a path; the folder before it, "." where there is none, in folder. */
const char *sl_path_split(const char *path, char folder[SL_PATH_BYTES]);

/* Opens the directory path; with make, creates it and its parents first. */
enum sl_status sl_dir_open(const char *path, bool make, struct sl_dir *d);
void sl_dir_close(struct sl_dir *d);

/* Removes the directory path, which must be empty. */
enum sl_status sl_dir_remove(const char *path);

/*
 * Takes the directory for this process (flock on the file LOCK, which then names process, host and
 * time). SL_OUTPUT_IN_USE when another has it, naming it. A lock left by a dead process does not
 * hold. sl_dir_close empties LOCK and leaves it there: removing it could take it from a process
 * that has just opened it.
 */
enum sl_status sl_dir_lock(struct sl_dir *d);

/* Bytes free for this user on the file system of d. */
enum sl_status sl_dir_free_bytes(const struct sl_dir *d, uint64_t *bytes);

/* Calls each(of, name) for every entry but . and .., in sorted order; stops at the first that is
 * not SL_OK. */
enum sl_status sl_dir_each(
	const struct sl_dir *d, enum sl_status (*each)(void *of, const char *name), void *of);

/* Is there an entry of that name? */
bool sl_file_exists(const struct sl_dir *d, const char *name);

/* Which file it is, or leads to, as sl_map_file() has it (map.h); false when there is none. */
bool sl_file_which(const struct sl_dir *d, const char *name, uint64_t *device, uint64_t *number);

/*
 * Commits size bytes as name. Without replace, SL_OUTPUT_IN_USE when the name is taken. After any
 * failure the .part is gone and what was there before is as it was; with one exception: when
 * replacing, and only the fsync of the directory fails, the new bytes stand, whole.
 */
enum sl_status sl_file_commit(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size, bool replace);

/*
 * The same of bytes that come piece by piece: begin, add any number of times, end. Where ours, the
 * directory is locked, and a .part that is there is of a run that was killed; else it may be in use
 * and is refused. After any failure the .part is gone, and w needs no more calls; a file that is
 * not to be ended is dropped, which does nothing to one that has failed.
 */
struct sl_writing {
	const struct sl_dir *dir;
	int fd;         /* -1: not being written */
	char part[264]; /* a name, .part, 0 */
};
enum sl_status sl_file_begin(
	const struct sl_dir *d, const char *name, bool ours, struct sl_writing *w);
enum sl_status sl_file_add(struct sl_writing *w, const void *bytes, size_t size);
enum sl_status sl_file_end(struct sl_writing *w, bool replace);
void sl_file_drop(struct sl_writing *w);

/*
 * The end in two steps: the bytes become durable under .part, by any thread, and get their name
 * later, in an order of their own. What is not to get it is removed, which does nothing to what has
 * failed.
 */
enum sl_status sl_file_sync(struct sl_writing *w);
enum sl_status sl_file_name_part(struct sl_writing *w, bool replace);
void sl_file_remove_part(struct sl_writing *w);

/* Removes name; a name that is not there is SL_OK. */
enum sl_status sl_file_remove(const struct sl_dir *d, const char *name);

/*
 * Appends bytes (whole lines) to name, made if need be, and fdatasyncs. After a failure the file
 * has its old length again, where the file system allows it.
 */
enum sl_status sl_file_append(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size);

/* Reads a whole regular file; *bytes is NUL-terminated beyond *size and the caller's to
 * sl_memory_give (SL_HOST). */
enum sl_status sl_file_read(const struct sl_dir *d, const char *name, char **bytes, size_t *size);

/* The same for any path, outside a directory held (a configuration file); refused beyond most
 * bytes. */
enum sl_status sl_path_read(const char *path, size_t most, char **bytes, size_t *size);

/* Size and CRC-32 (as gzip's) of a regular file, read in pieces. */
enum sl_status sl_file_check(
	const struct sl_dir *d, const char *name, uint64_t *size, uint32_t *crc);

/* CRC-32 of bytes in memory; of what had crc, 0 if nothing, and these bytes behind it. */
uint32_t sl_crc32(const void *bytes, size_t size);
uint32_t sl_crc32_on(uint32_t crc, const void *bytes, size_t size);

/* That of bytes that have crc, and size others behind them that have behind. */
uint32_t sl_crc32_join(uint32_t crc, uint32_t behind, size_t size);

SL_C_END

#endif
