/*
 * lock.h - locks a directory, and finds who holds its lock.
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
#ifndef SL_PRIMITIVES_FILES_LOCK_H
#define SL_PRIMITIVES_FILES_LOCK_H

#include "dirs.h"

SL_C_BEGIN

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

SL_C_END

#endif
