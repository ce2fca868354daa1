/*
 * files.h - writes files below an open directory: commit as a whole, append, remove.
 *
 * A name is a single component below a struct sl_dir; nothing is written elsewhere. A file is
 * committed as a whole: write NAME.part, fsync, rename without replacing, fsync the directory. A
 * failed fsync is never repeated: the kernel may have dropped the pages, and the second call would
 * succeed although data is lost.
 *
 * In a lazy directory (struct sl_dir) nothing is flushed. The steps and names are the same, so a
 * killed process leaves complete files, but a failure of the machine can damage any of them.
 *
 * A failed system call is SL_DISK; the message has the path, the text of errno, the reason and
 * advice. A name that no file can have is SL_USAGE; something that is not a regular file is
 * SL_BAD_INPUT.
 *
 * Calls for SL_FAULT: file_open file_write file_fsync file_close file_rename file_link
 * file_dirsync file_append file_datasync file_stat file_remove.
 */
#ifndef SL_PRIMITIVES_FILES_FILES_H
#define SL_PRIMITIVES_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dirs.h"

SL_C_BEGIN

/*
 * Sets *exists to whether d has an entry of that name, of any kind. SL_DISK if the file system does
 * not answer: only ENOENT means that there is none.
 */
enum sl_status sl_file_exists(const struct sl_dir *d, const char *name, bool *exists);

/*
 * Device and inode number of the file that name refers to, through symbolic links, as struct sl_map
 * has them (map.h). *exists is false if there is no such file. SL_DISK if the file system does not
 * answer.
 */
enum sl_status sl_file_identity(
	const struct sl_dir *d, const char *name, bool *exists, uint64_t *device, uint64_t *number);

/*
 * Commits size bytes as name. Without replace, an existing name is SL_OUTPUT_IN_USE. After a
 * failure NAME.part is removed and the previous file is unchanged, with one exception: if replace
 * is set and only the fsync of the directory fails, the new file has taken the name.
 */
enum sl_status sl_file_commit(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size, bool replace);

/*
 * The same in pieces: begin, any number of add, end. After a failure the .part file is removed and
 * w is closed; it needs no further call.
 */
struct sl_file_writer {
	const struct sl_dir *dir; /* must stay valid until the end */
	int fd;                   /* -1: not open */
	int lock;                 /* without a locked directory: holds flock(2) until the end; -1 */
	char part[264];           /* name, ".part", NUL */
};

/*
 * Creates NAME.part. If d is locked by this process, or for it, a .part file that exists was left
 * by a killed run and is replaced. Otherwise it is replaced only if a killed writer of this program
 * left it, and SL_OUTPUT_IN_USE if it is in use or a user's file.
 */
enum sl_status sl_file_begin(const struct sl_dir *d, const char *name, struct sl_file_writer *w);
enum sl_status sl_file_add(struct sl_file_writer *w, const void *bytes, size_t size);
enum sl_status sl_file_end(struct sl_file_writer *w, bool replace);

/*
 * Instead of add: writes at an offset. Several threads or processes may do so. After a failure the
 * file stays open, and the caller drops it.
 */
enum sl_status sl_file_put(
	const struct sl_file_writer *w, uint64_t at, const void *bytes, size_t size);

/* Instead of the end: closes and removes the .part file. Does nothing after a failure. */
void sl_file_drop(struct sl_file_writer *w);

/*
 * The end in two steps, which may run on different threads: sl_file_sync() makes the .part file
 * durable and closes it, sl_file_name_part() gives it its name. sl_file_remove_part() replaces the
 * second step for a file that is not wanted; it does nothing after a failure.
 */
enum sl_status sl_file_sync(struct sl_file_writer *w);
enum sl_status sl_file_name_part(struct sl_file_writer *w, bool replace);
void sl_file_remove_part(struct sl_file_writer *w);

/* Makes *w the writer of a NAME.part that another process of this run has made durable. */
void sl_file_adopt(const struct sl_dir *d, const char *name, struct sl_file_writer *w);

/* Removes name; SL_OK if there is no such file. */
enum sl_status sl_file_remove(const struct sl_dir *d, const char *name);

/*
 * Appends bytes (whole lines) to name, which is created if it does not exist, and calls fdatasync.
 * After a failure the file is truncated to its old length, if the file system allows that.
 */
enum sl_status sl_file_append(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size);

SL_C_END

#endif
