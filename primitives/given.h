/* given.h - the memory that a call is given: is it there, aligned, and apart from all other? */
#ifndef SL_PRIMITIVES_GIVEN_H
#define SL_PRIMITIVES_GIVEN_H

#include "primitives.h"

/* One block of memory that a call reads or writes. */
struct sl_given {
	const char *name; /* of the job's field */
	const void *at;
	uint64_t n;
	size_t item_bytes;
	size_t align;    /* of the items */
	bool read_only;  /* others may read it too */
	uint32_t column; /* whose it is, from 1; 0: none */
};

/*
 * Pointers to the n blocks are given and aligned, and no two share memory, with each other or with
 * scratch: else SL_USAGE, with the names of both.
 */
enum sl_status sl_check_given(
	const struct sl_backend *b, const struct sl_given *m, int n, const struct sl_exec *x);

/* What is left of scratch is enough for that shape: else SL_USAGE, with what is needed. */
enum sl_status sl_check_scratch(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_shape *shape);

#endif
