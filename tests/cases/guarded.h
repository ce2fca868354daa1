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
 * Gets bytes of memory, SL_ALIGN-aligned, and sets the canaries. All zero is a valid g for the
 * other calls.
 */
enum sl_status sl_guarded_get(enum sl_space space, size_t bytes, struct sl_guarded *g);

/* The same, beginning off bytes behind a multiple of SL_ALIGN. */
enum sl_status sl_guarded_get_off(
	enum sl_space space, size_t bytes, size_t off, struct sl_guarded *g);
void sl_guarded_give(struct sl_guarded *g);

/* SL_CHECK_FAILED, with name in its story, when a byte next to g has changed. */
enum sl_status sl_guarded_check(const struct sl_guarded *g, const char *name);

#endif
