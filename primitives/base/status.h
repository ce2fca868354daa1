/*
 * status.h - the status that calls return, and the message of the last failure.
 *
 * The status is for programs, the message for people. The function that fails sets the message
 * (sl_fail); each caller on the way up may put its context in front (sl_add_context):
 *
 *	batch 17, stage sort: scratch has 4096 bytes left, 8192 are needed; ...
 *
 * A message says what is wrong, why, and what to do. It belongs to the thread, in a buffer of fixed
 * size; a longer message is truncated at its end. Control characters are in it as \xNN
 * (printable.h). The library never prints and never exits.
 */
#ifndef SL_PRIMITIVES_BASE_STATUS_H
#define SL_PRIMITIVES_BASE_STATUS_H

#include "hd.h"

SL_C_BEGIN

/* SL_OK, SL_USAGE, ...: the list is status.def. The value is the exit code of the program. */
enum sl_status {
#define SL_STATUS(name, code, meaning) SL_##name = code,
#include "status.def"
#undef SL_STATUS
};

/* Size of the message buffer of a thread. */
enum { SL_MESSAGE_BYTES = 2048 };

/* Sets the message, printf style, and returns s: return sl_fail(SL_USAGE, "...", ...). */
SL_API enum sl_status sl_fail(enum sl_status s, const char *format, ...) SL_PRINTF(2, 3);

/* Puts "context: " in front of the message and returns s. Does nothing if s is SL_OK. */
SL_API enum sl_status sl_add_context(enum sl_status s, const char *format, ...) SL_PRINTF(2, 3);

/* The message of the last failure of this thread, valid until the next one. Never NULL. */
SL_API const char *sl_last_error(void);

/* Sets the message of this thread: for the failure of another thread, whose message is copied. */
void sl_set_last_error(const char *message);

/* "USAGE", and its meaning in words. "UNKNOWN" and "unknown status" for a value not in the list. */
SL_API const char *sl_status_name(enum sl_status s);
SL_API const char *sl_status_meaning(enum sl_status s);

SL_C_END

/* Returns from the calling function if the call fails. */
#define SL_TRY(call)                              \
	do {                                      \
		enum sl_status sl_tried = (call); \
		if (sl_tried != SL_OK)            \
			return sl_tried;          \
	} while (0)

#endif
