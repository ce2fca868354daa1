/*
 * lock_holder.h - who holds the lock of a directory, found without touching the lock.
 *
 * Trying the lock would answer too, but a run that starts in that moment would be refused. So the text in
 * LOCK is read, and whether its process still holds the lock is looked up in /proc/locks.
 *
 * Calls for SL_FAULT: file_open file_stat file_read file_close.
 */
#ifndef SL_PRIMITIVES_FILES_LOCK_HOLDER_H
#define SL_PRIMITIVES_FILES_LOCK_HOLDER_H

#include "dirs.h"

SL_C_BEGIN

/* The file that sl_dir_lock() locks. */
#define SL_LOCK_NAME "LOCK"

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
	/* What LOCK says, unless state is SL_LOCK_FREE; "" and 0 if the holder has not signed yet. */
	uint64_t pid;
	char host[SL_HOST_CHARS + 1];
	char since[32]; /* "2026-01-02T03:04:05Z" */
};

/* Reads the line that a holder writes to LOCK; false if text is no such line. */
bool sl_lock_parse(const char *text, struct sl_lock_holder *holder);

/*
 * Sets *holder. locks is the list of the kernel's file locks, "/proc/locks"; if it cannot be read, a
 * process of that number counts as the holder. SL_DISK if LOCK exists and cannot be read.
 */
enum sl_status sl_dir_lock_holder(
	const struct sl_dir *d, const char *locks, struct sl_lock_holder *holder);

SL_C_END

#endif
