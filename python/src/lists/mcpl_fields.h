/* mcpl_fields.h - the records of a range of particles, from arrays. */
#ifndef SL_PYTHON_LISTS_MCPL_FIELDS_H
#define SL_PYTHON_LISTS_MCPL_FIELDS_H

#include "python/src/lists/mcpl_write.h"
#include "stages/formats/mcpl/mcpl_layout.h"

/* Checks types, sizes and numbers for all particles of the list, and sets *h for n particles. */
enum sl_status sl_py_mcpl_header(const struct sl_py_mcpl *l, struct sl_mcpl_header *h);

/*
 * Stores the records of the particles from .. from + n - 1. SL_USAGE if a number is out of range.
 */
enum sl_status sl_py_mcpl_records(const struct sl_py_mcpl *l, const struct sl_mcpl_header *h,
	size_t from, size_t n, unsigned char *to);

#endif
