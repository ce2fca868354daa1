/* files.h - directories and files: open, lock, read, map, write, commit */
#ifndef SL_PRIMITIVES_FILES_FILES_H
#define SL_PRIMITIVES_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"
#include "primitives/base/status.h"

SL_C_BEGIN

/* --- scopes ----------------------------------------------------------------------------------- */

/*
 * A variable that is closed where its scope is left, also by SL_TRY. The function gets its address,
 * so the variable begins with a value that it can close:
 *
 *	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
 */
#define SL_CLOSED_BY(function) __attribute__((cleanup(function)))

/* Sets a pointer to n items of host memory of so many bytes each; p is the address of the pointer. */
enum sl_status sl_host_get(size_t n, size_t bytes, void *p);

/* The same, filled with 0. */
enum sl_status sl_host_get_zeroed(size_t n, size_t bytes, void *p);

/*
 * Makes room for one more item after the n of an array of *capacity items; p is the address of the
 * pointer to it. A full array doubles.
 */
enum sl_status sl_host_grow(void *p, size_t n, size_t *capacity, size_t bytes);

/* Gives back the host memory that a pointer refers to; p is the address of the pointer. */
void sl_host_give(void *p);

/* --- dirs ------------------------------------------------------------------------------------- */

/*
 * Directories: create, open, lock, list and remove.
 *
 * struct sl_dir holds a directory open. Files are named relative to it, so a rename or a symbolic
 * link elsewhere in the path cannot redirect a write.
 *
 * A failed system call is SL_DISK; the message has the path, the text of errno, the reason and
 * advice. Calls for SL_FAULT: dir_make dir_remove dir_sync dir_read dir_space file_open
 * file_dirsync.
 */

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

/* --- lock ------------------------------------------------------------------------------------- */

/*
 * Locks a directory, and finds who holds its lock.
 *
 * The lock is flock(2) on the file LOCK. The kernel releases it when the process ends, however it
 * ends, so there are no stale locks. The text in the file only serves the message to other
 * processes; after an orderly close the file is empty.
 *
 * The holder is found without touching the lock: trying it would answer too, but a run that starts
 * in that moment would be refused. So the text in LOCK is read, and whether its process still holds
 * the lock is looked up in /proc/locks.
 *
 * Calls for SL_FAULT: dir_lock dir_sign file_open file_stat file_read file_close.
 */

/* The file that sl_dir_lock() locks. */
#define SL_LOCK_NAME "LOCK"

/*
 * Locks the directory for this process: flock(2) on the file LOCK, which then contains process,
 * host and time. SL_OUTPUT_IN_USE if another process holds the lock, and the message names it; or
 * if LOCK contains anything else, because then it is a user's file, which is not changed. The
 * kernel releases the lock of a process that ends. sl_dir_close() empties LOCK but keeps it:
 * removing it could remove the lock of a process that has just opened the file.
 */
enum sl_status sl_dir_lock(struct sl_dir *d);

/*
 * SL_OUTPUT_IN_USE if another program has taken the directory from the process that holds its lock:
 * has renamed or removed it, or its file LOCK, so that a second process can lock it.
 */
enum sl_status sl_dir_check(const struct sl_dir *d);

/*
 * Locks the directory for reading, until it is closed, if it has a file LOCK: no process can lock
 * it for itself, and others can also read. SL_OUTPUT_IN_USE if a process holds its lock.
 */
enum sl_status sl_dir_lock_shared(struct sl_dir *d);

enum sl_lock_state {
	SL_LOCK_FREE,     /* no process holds it; the last one closed the directory */
	SL_LOCK_HELD,     /* a process of this machine holds it */
	SL_LOCK_LEFT,     /* the process ended without closing the directory: killed, or a crash */
	SL_LOCK_ELSEWHERE /* LOCK names another machine, so its process cannot be looked up here */
};

/* The longest name of a host in LOCK. */
enum { SL_HOST_CHARS = 127 };

struct sl_lock_holder {
	enum sl_lock_state state;
	/*
	 * What LOCK says, unless state is SL_LOCK_FREE; "" and 0 if the holder has not signed yet.
	 */
	uint64_t pid;
	char host[SL_HOST_CHARS + 1];
	char since[32]; /* "2026-01-02T03:04:05Z" */
};

/* Reads the line that a holder writes to LOCK; false if text is no such line. */
bool sl_lock_parse(const char *text, struct sl_lock_holder *holder);

/*
 * Sets *holder. locks is the list of the kernel's file locks, "/proc/locks"; if it cannot be read,
 * a process of that number counts as the holder. SL_DISK if LOCK exists and cannot be read.
 */
enum sl_status sl_dir_lock_holder(
	const struct sl_dir *d, const char *locks, struct sl_lock_holder *holder);

/* --- read ------------------------------------------------------------------------------------- */

/*
 * Reads whole regular files, or checksums them in pieces.
 *
 * A stream, which has no size, is read up to its end. A failed system call is SL_DISK; something
 * that is not a regular file is SL_BAD_INPUT. Calls for SL_FAULT: file_open file_stat file_read
 * file_close.
 */

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

/* Size and CRC-32 of the file name below d, read in pieces. */
enum sl_status sl_file_check(
	const struct sl_dir *d, const char *name, uint64_t *size, uint32_t *crc);

/* --- files ------------------------------------------------------------------------------------ */

/*
 * Writes files below an open directory: commit as a whole, append, remove.
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

/*
 * Sets *exists to whether d has an entry of that name, of any kind. SL_DISK if the file system does
 * not answer: only ENOENT means that there is none.
 */
enum sl_status sl_file_exists(const struct sl_dir *d, const char *name, bool *exists);

/*
 * Device and inode number of the file that name refers to, through symbolic links, as struct sl_map
 * has them. *exists is false if there is no such file. SL_DISK if the file system does not answer.
 */
enum sl_status sl_file_identity(
	const struct sl_dir *d, const char *name, bool *exists, uint64_t *device, uint64_t *number);

/*
 * Sets *seconds to the time of the last change of the file name below d, since 1970; *exists is
 * false if there is no such file.
 */
enum sl_status sl_file_time(
	const struct sl_dir *d, const char *name, bool *exists, double *seconds);

/*
 * Commits size bytes as name. Without replace, an existing name is SL_OUTPUT_IN_USE. After a
 * failure NAME.part is removed and the previous file is unchanged, with one exception: if replace
 * is set and only the fsync of the directory fails, the new file has taken the name.
 */
enum sl_status sl_file_commit(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size, bool replace);

/* A mapped file; see below. */
struct sl_map {
	const void *at; /* NULL: not mapped, or an empty file */
	size_t bytes;
	uint64_t device, number; /* device and inode number of the file */
	int64_t written_ns;      /* time of its last modification */
};

/*
 * The same in pieces: begin, any number of add, end. After a failure the .part file is removed and
 * w is closed; it needs no further call.
 */
struct sl_file_writer {
	const struct sl_dir *dir; /* must stay valid until the end */
	int fd;                   /* -1: not open */
	int lock;                 /* without a locked directory: holds flock(2) until the end; -1 */
	struct sl_map map;        /* of sl_file_map() */
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
 * Instead of add: writes at an offset, or at SL_FILE_END, after what was added. Several threads or
 * processes may write at offsets. After a failure the file stays open, and the caller drops it.
 */
#define SL_FILE_END UINT64_MAX
enum sl_status sl_file_put(
	const struct sl_file_writer *w, uint64_t at, const void *bytes, size_t size);

/*
 * Instead of the end: closes and removes the .part file, mapped or not. Does nothing after a
 * failure, or if *w is 0.
 */
void sl_file_drop(struct sl_file_writer *w);

/*
 * The end in two steps, which may run on different threads: sl_file_sync() makes the .part file
 * durable and closes it, sl_file_name_part() gives it its name. sl_file_remove_part() replaces the
 * second step for a file that is not wanted; it does nothing after a failure.
 */
enum sl_status sl_file_sync(struct sl_file_writer *w);
enum sl_status sl_file_name_part(struct sl_file_writer *w, bool replace);
void sl_file_remove_part(struct sl_file_writer *w);

/*
 * Instead of the end, for a file that only this process reads: w->map is that of the .part file,
 * which has no name from then on. Nothing is flushed. sl_file_unmap() closes it, if it is open:
 * SL_DISK if the disk has refused bytes of it, which may have been read as others then.
 */
enum sl_status sl_file_map(struct sl_file_writer *w);
enum sl_status sl_file_unmap(struct sl_file_writer *w);

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

/* --- link ------------------------------------------------------------------------------------- */

/*
 * Gives a file a second name in another directory (a hard link): no byte is copied.
 *
 * Calls for SL_FAULT: file_link.
 */

/*
 * Links the regular file name of from to the same name in to, which must not exist
 * (SL_OUTPUT_IN_USE). *linked is false if that is not possible, as between two file systems: the
 * caller copies the bytes then. The new name is durable after a later fsync of the directory, such
 * as that of a commit in it.
 */
enum sl_status sl_file_link(
	const struct sl_dir *from, const char *name, const struct sl_dir *to, bool *linked);

/* --- map -------------------------------------------------------------------------------------- */

/*
 * Maps a regular file to memory, for reading. The kernel loads and drops its pages as
 * needed; they do not count as memory of the program.
 *
 * Calls for SL_FAULT: file_open file_stat file_map file_close.
 */

/*
 * Maps the file path for one sequential read. Release it with sl_unmap(). If the file was just
 * written, waits until the next tick of the kernel's clock, so that each later write gives it
 * another time.
 */
enum sl_status sl_map_file(const char *path, struct sl_map *m);

/* The same for the file name below d. */
enum sl_status sl_map_entry(const struct sl_dir *d, const char *name, struct sl_map *m);

void sl_unmap(struct sl_map *m);

/*
 * Whether the mapped file was written to since, so that its bytes may have changed. A file that was
 * removed or replaced by another one is unchanged for those that have mapped it. Not noticed: a
 * write whose program sets the old time again, or through a mapping, which sets the time only once
 * until it is flushed; on a network file system, one by another node within the time of its
 * attribute cache.
 */
bool sl_map_is_changed(const struct sl_map *m, const char *path);

/*
 * Mixes device, inode, size and time of modification into a stamp (the hash of Fowler, Noll and Vo,
 * by words). Equal stamps of the same paths, from 0 on, mean that the files are the same and
 * unchanged.
 */
uint64_t sl_map_stamp(const struct sl_map *m, uint64_t stamp);

/* --- crc32 ------------------------------------------------------------------------------------ */

/*
 * The CRC-32 that gzip, zip and PNG use (ISO 3309, polynomial 0x04c11db7 reflected).
 */

/* CRC-32 of size bytes. */
uint32_t sl_crc32(const void *bytes, size_t size);

/* Continues a checksum: crc is that of the bytes before (0 if there are none). */
uint32_t sl_crc32_update(uint32_t crc, const void *bytes, size_t size);

/*
 * CRC-32 of two blocks of bytes joined: crc is that of the first; next and size are of the second.
 */
uint32_t sl_crc32_combine(uint32_t crc, uint32_t next, size_t size);

SL_C_END

#endif
