/*
 * status.h - what every call returns, and the story behind a failure.
 *
 * The code is for programs, the story for people. The function that fails begins
 * the story; each caller on the way up may put in front what it was doing:
 *
 *	batch 17, stage sort: scratch holds 4096 bytes, 8192 are needed (...)
 *
 * A message has the grammar: problem, why it is one, what to try. The story is kept per
 * thread, in fixed room; a longer one is cut at its end. Library code never prints.
 */
#ifndef SL_PRIMITIVES_BASE_STATUS_H
#define SL_PRIMITIVES_BASE_STATUS_H

#include "hd.h"

SL_C_BEGIN

enum sl_status {
#define SL_STATUS(name, code, meaning) SL_##name = code,
#include "status.def"
#undef SL_STATUS
};

enum { SL_MESSAGE_BYTES = 2048 };

/* Begins a story and returns s, so that it reads: return sl_fail(SL_USAGE, "...", ...). */
SL_API enum sl_status sl_fail(enum sl_status s, const char *format, ...) SL_PRINTF(2, 3);

/* Puts "what: " in front of the story; returns s. Does nothing when s is SL_OK. */
SL_API enum sl_status sl_add_context(enum sl_status s, const char *format, ...) SL_PRINTF(2, 3);

/* The story of this thread's last failure; valid until its next one. Never NULL. */
SL_API const char *sl_last_error(void);

/* Takes over a story from another thread (a worker's failure told by its owner). */
void sl_set_last_error(const char *message);

/* "USAGE", and what it means; for an unknown code "UNKNOWN". */
SL_API const char *sl_status_name(enum sl_status s);
SL_API const char *sl_status_meaning(enum sl_status s);

SL_C_END

/* Passes a failure up. */
#define SL_TRY(call)                              \
	do {                                      \
		enum sl_status sl_tried = (call); \
		if (sl_tried != SL_OK)            \
			return sl_tried;          \
	} while (0)

#endif
