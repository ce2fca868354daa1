/*
 * guarded.h - memory of any memory space between two canaries, so that a write outside it is
 * detected.
 */
#ifndef SL_TESTS_CASES_GUARDED_H
#define SL_TESTS_CASES_GUARDED_H

#include "primitives/primitives.h"

struct sl_guarded {
	enum sl_space space;
	char *block; /* canary, the bytes, canary */
	void *at;    /* the bytes */
	size_t bytes;
};

/*
 * Allocates bytes of memory at an SL_ALIGN address, and queues a fill that sets the canaries. The
 * other calls accept a g whose fields are all zero.
 */
enum sl_status sl_guarded_get(enum sl_space space, size_t bytes, struct sl_guarded *g);

/* The same, but the memory begins off bytes after a multiple of SL_ALIGN. */
enum sl_status sl_guarded_get_offset(
	enum sl_space space, size_t bytes, size_t off, struct sl_guarded *g);
void sl_guarded_give(struct sl_guarded *g);

/* Returns SL_CHECK_FAILED, with name in the message, if a byte of a canary has changed. */
enum sl_status sl_guarded_check(const struct sl_guarded *g, const char *name);

#endif
